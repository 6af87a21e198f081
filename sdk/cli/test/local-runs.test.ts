// @module-tag full
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

type Listed = { local: { id: string; state: string; seed: number; agent: string }[]; runs: unknown[] }

let folder: string
const agentgym = (...words: string[]) => runCli(words, { cwd: folder })
const listed = async () => (await agentgym('runs', 'list', '--json')).lines[0] as Listed

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentgym-local-runs-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('runs on this machine', () => {
  it('are listed, shown, compared and removed, without a server', async () => {
    const trained = await agentgym('train', 'cart-pole', '--steps', '2048', '--seed', '4..5')
    expect(trained.stderr).toBe('')
    expect(trained.stdout).toMatch(/seeds 4, 5: mean return [\d.]+ \(sd [\d.]+\), 0 of 2 reached every target/)
    expect(readFileSync(join(folder, 'agents/cart-pole-seeds.svg'), 'utf8')).toContain('2 seeds')
    const { local, runs } = await listed()
    expect(runs).toEqual([])
    expect(local.map(({ seed, state }) => ({ seed, state }))).toEqual([
      { seed: 5, state: 'completed' },
      { seed: 4, state: 'completed' },
    ])
    for (const { agent, seed } of local) {
      expect(agent).toBe(join(folder, `agents/cart-pole-seed-${seed}`))
      expect(existsSync(join(agent, 'agent.json'))).toBe(true)
    }
    const [first, second] = local.map(({ id }) => id.slice(0, 8))
    const shown = await agentgym('runs', 'show', first)
    expect(shown.stdout).toMatch(/Run \w{8} · . completed on this machine/)
    expect(shown.stdout).toContain('Mean return of the last 100 episodes')
    const other = await agentgym('train', 'cart-pole', '--steps', '1024', '--set', 'gamma=0.9', '--out', 'other')
    expect(other.status).toBe(0)
    const third = (await listed()).local[0].id.slice(0, 8)
    const compared = await agentgym('runs', 'compare', first, second, third, '--svg', 'curves.svg')
    expect(compared.stdout).toMatch(/gamma\s+0.98\s+0.9/)
    expect(compared.stdout).toContain('seeds 5, 4')
    expect(readFileSync(join(folder, 'curves.svg'), 'utf8').match(/<polyline/g)).toHaveLength(2)
    const csv = (await agentgym('runs', 'export', first, '--out', '-')).stdout.trimEnd().split('\r\n')
    const jsonl = (await agentgym('runs', 'export', first, '--jsonl', '--out', '-')).stdout.trimEnd().split('\n')
    expect(csv[0]).toMatch(/^iteration,steps,/)
    expect(jsonl.map((line) => String(JSON.parse(line).steps))).toEqual(csv.slice(1).map((line) => line.split(',')[1]))
    expect((await agentgym('runs', 'export', first, '--tensorboard')).status).toBe(0)
    expect(readFileSync(join(folder, `run-${first}.tfevents`)).includes('brain.Event:2')).toBe(true)
    expect((await agentgym('runs', 'remove', first, third)).status).toBe(0)
    expect((await listed()).local.map(({ id }) => id.slice(0, 8))).toEqual([second])
    // The agent stays.
    expect(existsSync(join(folder, 'other/agent.json'))).toBe(true)
  })

  it('refuse invalid commands before writing anything', async () => {
    const taken = await agentgym('train', 'cart-pole', '--steps', '1024', '--seed', '3,4')
    expect(taken.status).toBe(2)
    expect(taken.stderr).toContain('agents/cart-pole-seed-4 already contains an agent')
    expect(existsSync(join(folder, 'agents/cart-pole-seed-3'))).toBe(false)
    const resumed = await agentgym('train', 'cart-pole', '--seed', '1..2', '--resume')
    expect(resumed.stderr).toContain('Several seeds and --resume cannot be combined')
    const alone = await agentgym('runs', 'compare', (await listed()).local[0].id)
    expect(alone.stderr).toContain('A comparison needs at least two runs')
    const unknown = await agentgym('runs', 'remove', 'ffffffff')
    expect(unknown.stderr).toContain('No run of this machine starts with "ffffffff"')
  })
})
