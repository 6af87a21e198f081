// @module-tag full
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

type Event = { event: string; steps: number; evaluation?: { trajectory_hash: string } }

let folder: string
const agentgym = (...words: string[]) => runCli(words, { cwd: folder })
const short = ['--set', 'evaluation_episodes=10', '--set', 'evaluate_every=0']

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentgym-warm-start-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('train --from', { timeout: 120_000 }, () => {
  it('starts from a folder or a run of this machine, and records the parent', async () => {
    expect((await agentgym('train', 'cart-pole', '--steps', '4096', ...short)).status).toBe(0)
    const before = (
      await agentgym('eval', 'agents/cart-pole', '--json', '--seed', String(0x5e1ec7), '--episodes', '10')
    ).lines[0] as { trajectory_hash: string }
    const run = [
      'train',
      'cart-pole',
      '--steps',
      '4096',
      '--json',
      '--out',
      'child',
      '--from',
      'agents/cart-pole',
      ...short,
    ]
    const events = (await agentgym(...run)).lines as Event[]
    expect(events[0]).toMatchObject({ event: 'evaluation', steps: 0 })
    expect(events[0].evaluation?.trajectory_hash).toBe(before.trajectory_hash)
    const { parent } = JSON.parse(readFileSync(join(folder, 'child/agent.json'), 'utf8'))
    expect(parent).toMatchObject({ name: 'cart-pole-ppo', version: '0.1.0', license: 'UNLICENSED' })
    const info = await agentgym('info', 'child')
    expect(info.stdout).toMatch(/parent\s+cart-pole-ppo@0\.1\.0, license UNLICENSED/)

    const [{ local }] = (await agentgym('runs', 'list', '--json')).lines as { local: { id: string }[] }[]
    const again = await agentgym(
      'train',
      'cart-pole',
      '--steps',
      '256',
      '--from',
      local[0].id.slice(0, 8),
      '--out',
      'third',
      ...short,
    )
    expect(again.stdout).toContain('Starting from cart-pole-ppo@0.1.0 (license UNLICENSED)')
  })

  it('refuses an agent of other spaces, and options that contradict it', async () => {
    const other = await agentgym('train', 'mountain-car', '--steps', '256', '--from', 'agents/cart-pole')
    expect(other.status).toBe(2)
    expect(other.stderr.replaceAll(/\s+/g, ' ')).toContain('its observation "obs".size is 4, and the run\'s is 2')
    const resumed = await agentgym('train', 'cart-pole', '--resume', '--from', 'agents/cart-pole')
    expect(resumed.stderr).toContain('--resume and --from cannot be combined')
    const missing = await agentgym('train', 'cart-pole', '--from', 'agents/none')
    expect(missing.stderr).toContain('No agent "agents/none"')
  })
})
