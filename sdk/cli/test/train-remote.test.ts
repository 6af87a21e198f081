import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { playRecordedRun, queuedRun, recordedRunId } from './run-server.ts'
import { serveRuns } from './serve-runs.ts'

const { folder, serve, agentgym } = serveRuns()

describe('train --remote', () => {
  it('requests the run as typed, with exact amounts', async () => {
    const request = await serve()
    const words = [
      '--algorithm',
      'ppo',
      '--steps',
      '1e5',
      '--seed',
      '7',
      '--set',
      'hidden=32,32',
      '--set',
      'gamma=0.98',
    ]
    const more = [
      '--budget',
      '64.10',
      '--publish',
      '@ann/pole@1.0.0',
      '--summary',
      'Balances the pole.',
      '--private',
      '--note',
      'first',
      '--trajectories',
      '5',
    ]
    const { status, lines } = await agentgym(['train', '@acme/cart-pole@^1', '--remote', '--json', ...words, ...more])
    expect(status).toBe(0)
    expect(lines).toMatchObject([{ event: 'run', change: 'submitted', id: recordedRunId, state: 'queued' }])
    const [start] = request.requests.filter(({ line }) => line === 'POST /v1/runs')
    expect(start.body).toEqual({
      scenario: '@acme/cart-pole@^1',
      algorithm: 'ppo',
      steps: 100_000,
      seed: 7,
      settings: { hidden: [32, 32], gamma: 0.98 },
      budget_minor: 6410,
      publish: { name: '@ann/pole', version: '1.0.0', visibility: 'private', summary: 'Balances the pole.' },
      trajectories_every: 5,
      note: 'first',
    })
    expect(start.key).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('retries with the same key, so that the run starts once', async () => {
    const request = await serve({ lostAnswers: 1 })
    const { status } = await agentgym(['train', '@acme/cart-pole', '--remote', '--json'])
    expect(status).toBe(0)
    const keys = request.requests.filter(({ line }) => line === 'POST /v1/runs').map(({ key }) => key)
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
  })

  it('prints how to follow it', async () => {
    await serve()
    const { stdout } = await agentgym(['train', '@acme/cart-pole', '--remote'])
    expect(stdout).toContain('→ Training on @acme/cart-pole@1.0.0 with ppo, seed 1, budget €2.50')
    expect(stdout).toContain('2 ahead in the queue')
    expect(stdout).toContain(recordedRunId)
    expect(stdout).toContain('agentgym runs watch 4f0c1d2e')
  })

  it('starts from a published agent, and says which one', async () => {
    const parent = { name: '@acme/pole', version: '1.2.0', model_hash: 'b'.repeat(64), license: 'MIT' }
    const server = await serve({ run: queuedRun({ parent }) })
    const words = ['train', '@acme/cart-pole', '--remote', '--from', '@acme/pole@^1']
    const { stdout } = await agentgym(words)
    expect(stdout).toContain('Starting from @acme/pole@1.2.0 (license MIT)')
    const [start] = server.requests.filter(({ line }) => line === 'POST /v1/runs')
    expect(start.body).toMatchObject({ scenario: '@acme/cart-pole', from: '@acme/pole@^1' })
    const { stdout: shown } = await agentgym(['runs', 'show', '4f0c'])
    expect(shown).toMatch(/started from\s+@acme\/pole@1\.2\.0 \(license MIT\)/)
  })

  it.each([
    [['train', '@acme/cart-pole', '--remote', '--from', '.'], 'agentgym agent publish'],
    [['train', '@acme/cart-pole', '--remote', '--from', '1a2b3c4d'], 'agentgym agent publish'],
    [['train', '.', '--remote'], 'agentgym scenario publish'],
    [['train', 'cart-pole', '--remote'], 'agentgym search'],
    [['train', 'cart-pole', '--budget', '2'], '--remote'],
    [['train', '@acme/cart-pole', '--remote', '--resume'], 'agentgym runs resume'],
    [['train', '@acme/cart-pole', '--remote', '--out', 'x'], '--watch'],
    [['runs', 'export', '4f0c', '--csv', '--tensorboard'], 'once for each'],
    [['runs', 'export', '4f0c', '--out', '-'], 'Remove one'],
  ])('%j is a usage error', async (words, hint) => {
    const server = await serve()
    const { status, lines } = await agentgym([...words, '--json'])
    expect(status).toBe(2)
    expect(lines).toMatchObject([{ error: { code: 'usage_invalid', hint: expect.stringContaining(hint) } }])
    expect(server.requests.some(({ line }) => line.startsWith('POST'))).toBe(false)
  })

  it.each(['-1', '0', '2,50', '2.505', '1e2'])('--budget %s is not an amount', async (amount) => {
    const server = await serve()
    const { status, lines } = await agentgym(['train', '@acme/cart-pole', '--remote', `--budget=${amount}`, '--json'])
    expect(status).toBe(2)
    expect(lines).toMatchObject([{ event: 'error', error: { code: 'config_invalid', data: { field: 'budget' } } }])
    expect(server.requests.some(({ line }) => line.startsWith('POST'))).toBe(false)
  })

  it('refuses a folder with an agent before any request', async () => {
    const server = await serve()
    writeAgentFolder('taken')
    const words = ['train', '@acme/cart-pole', '--remote', '--watch', '--out', 'taken', '--json']
    expect(await agentgym(words)).toMatchObject({
      status: 2,
      lines: [{ error: { hint: expect.stringContaining('--force') } }],
    })
    expect(server.requests).toEqual([])
  })
})

describe('data of a run', () => {
  it('is written completely to a file or to stdout', async () => {
    await serve({ files: { 'metrics.csv': 'iteration,steps\n1,1024\n', trajectories: '' } })
    const csv = await agentgym(['runs', 'export', '4f0c', '--json'])
    expect(csv.lines).toMatchObject([{ ok: true, format: 'csv', path: join(folder, 'run-4f0c1d2e.csv'), bytes: 23 }])
    expect(readFileSync(join(folder, 'run-4f0c1d2e.csv'), 'utf8')).toBe('iteration,steps\n1,1024\n')
    expect((await agentgym(['runs', 'export', '4f0c', '--out', '-'])).stdout).toBe('iteration,steps\n1,1024\n')
    expect((await agentgym(['runs', 'export', '4f0c', '--trajectories'])).stdout).toContain(
      'No trajectories: the run was started without',
    )
    const nowhere = await agentgym(['runs', 'export', '4f0c', '--out', 'no/such/folder.csv', '--json'])
    expect(nowhere).toMatchObject({ status: 2, lines: [{ error: { code: 'file_not_found' } }] })
  })

  it('an altered agent is refused', async () => {
    const running = await serve({ agent: new TextEncoder().encode('another agent') })
    await playRecordedRun(running, { agent: new TextEncoder().encode('the agent') })
    const { status, lines } = await agentgym(['runs', 'download', '4f0c', '--out', 'changed', '--json'])
    expect(status).toBe(1)
    expect(lines).toMatchObject([{ error: { code: 'integrity_mismatch' } }])
    expect(await agentgym(['eval', 'changed', '--json'])).toMatchObject({
      lines: [{ error: { code: 'file_not_found' } }],
    })
  })

  it('has no agent before the run is completed', async () => {
    await serve()
    const { status, lines } = await agentgym(['runs', 'download', '4f0c', '--json'])
    expect(status).toBe(1)
    expect(lines).toMatchObject([{ error: { code: 'run_has_no_agent', data: { state: 'queued' } } }])
  })
})

function writeAgentFolder(name: string): void {
  mkdirSync(join(folder, name))
  writeFileSync(join(folder, name, 'agent.json'), '{}')
}
