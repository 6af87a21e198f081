// @module-tag full
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCli } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
let folder: string
const agentgym = (...words: string[]) => runCli(words, { cwd: folder })
const small = [
  '--steps',
  '6000',
  '--budget',
  '30000',
  '--confirm',
  '2',
  '--parallel',
  '2',
  '--set',
  'evaluation_episodes=10',
]
const lines = (study: string, file = 'results.jsonl') =>
  readFileSync(join(folder, study, file), 'utf8')
    .trim()
    .split('\n')
const results = (study: string) => lines(study).toSorted((a, b) => JSON.parse(a).job - JSON.parse(b).job)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentgym-tune-'))
  cpSync(join(root, 'plugins/cart-pole'), join(folder, 'cart-pole'), {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('tune', { timeout: 180_000 }, () => {
  it('searches, compares on new seeds, draws, and says how to go on', async () => {
    const tuned = await agentgym('tune', 'cart-pole', ...small)
    expect(tuned.stderr).toBe('')
    expect(tuned.stdout).toMatch(/Tuning @agentgym\/cart-pole@1\.0\.0 with ppo, 30,000 steps \(5 whole runs\)/)
    expect(tuned.stdout).toMatch(/Best of \d+ candidates after 6,000 steps/)
    expect(readFileSync(join(folder, 'tune/cart-pole/study.svg'), 'utf8')).toContain('<polyline')
    const again = await agentgym('tune', 'cart-pole', ...small)
    expect(again.status).toBe(2)
    expect(again.stderr).toContain('already contains a study')
    // A complete study is shown again without training anything.
    const shown = (await agentgym('tune', 'cart-pole', '--resume', '--json')).lines as { event: string }[]
    expect(shown.map(({ event }) => event)).toEqual(['tuned'])
  })

  it('ends with the same results after a kill as without one', async () => {
    const words = ['tune', 'cart-pole', '--out', 'killed', ...small]
    const child = spawn(join(root, 'agentgym'), words, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    await new Promise<void>((resolve) => {
      let finished = 0
      child.stdout.on('data', (text: Buffer) => {
        finished += String(text).split('at 2,000 steps').length - 1
        if (finished >= 3) resolve()
      })
      child.on('exit', () => resolve())
    })
    process.kill(-(child.pid as number), 'SIGKILL')
    await new Promise((resolve) => child.on('close', resolve))
    const before = lines('killed').length
    expect((await agentgym('tune', 'cart-pole', '--out', 'killed', '--resume')).status).toBe(0)
    expect(lines('killed').length).toBeGreaterThan(before)
    expect(results('killed')).toEqual(results('tune/cart-pole'))
  })

  it('writes nothing into a built-in scenario, and refuses what cannot be', async () => {
    const builtIn = await agentgym('tune', '@agentgym/cart-pole', '--write', '--out', 'other')
    expect(builtIn.stderr).toContain('--write needs a scenario folder')
    const missing = await agentgym('tune', 'cart-pole', '--resume', '--out', 'none')
    expect(missing.stderr).toContain('No study to resume in none')
    const metric = await agentgym('tune', 'cart-pole', '--metric', 'beauty', '--out', 'metric', ...small)
    expect(metric.stderr).toContain('The scenario reports no metric "beauty"')
  })
})
