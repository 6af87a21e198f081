import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resultEventSchema, runSchema, trainingEventSchema } from '@agentgym/contract'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type CliOptions, runCli } from './run-cli.ts'
import { queuedRun, type RunServer, recordedRunId, startRunServer, tellRecordedRun } from './run-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-runs-'))
let server: RunServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function serve(options: Parameters<typeof startRunServer>[0] = {}): Promise<RunServer> {
  server = await startRunServer(options)
  return server
}

function agentgym(words: string[], options: CliOptions = {}) {
  const environment = {
    AGENTGYM_SERVER: server?.url ?? '',
    AGENTGYM_TOKEN: 'agt_test',
    AGENTGYM_HOME: join(folder, 'home'),
  }
  return runCli(words, { cwd: folder, ...options, environment: { ...environment, ...options.environment } })
}

type RunLine = { event: string; change: string | null; state: string; ahead: number | null }
const runLinesOf = (lines: unknown[]) => (lines as RunLine[]).filter(({ event }) => event === 'run')

describe('watching a run', () => {
  it('prints the lines of training here, with those of the run between them, the result last', async () => {
    await tellRecordedRun(await serve())
    const { status, lines, stderr } = await agentgym(['runs', 'watch', recordedRunId, '--json'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(runLinesOf(lines).map(({ change }) => change)).toEqual([null, 'queued', 'running', 'completed'])
    for (const { event, change, ...run } of runLinesOf(lines)) runSchema.parse(run)
    const others = lines
      .filter((line) => (line as RunLine).event !== 'run')
      .map((line) => trainingEventSchema.parse(line))
    expect(others.filter(({ event }) => event === 'progress')).toHaveLength(97)
    expect(resultEventSchema.parse(lines.at(-1))).toMatchObject({
      ok: true,
      agent: `${server?.url}/v1/runs/${recordedRunId}/agent`,
    })
  })

  it('shows the place in the queue as it changes, and who picked it up', async () => {
    const running = await serve({ run: queuedRun({ ahead: 2 }) })
    let moved = false
    const { stdout, status } = await agentgym(['runs', 'watch', '4f0c'], {
      onLine: (line) => {
        if (line.includes('2 runs ahead')) running.change({ ahead: 1 })
        if (line.includes('1 run ahead') && !moved) {
          moved = true
          void tellRecordedRun(running)
        }
      },
    })
    expect(status).toBe(0)
    expect(stdout).toMatch(/Queued, 2 runs ahead.*Queued, 1 run ahead.*Picked up by gpu-1.*Every target reached/s)
    expect(stdout).toContain('agentgym runs download 4f0c1d2e')
  })

  it('goes on where it was when the connection breaks, with no line twice', async () => {
    const running = await serve()
    await tellRecordedRun(running, { share: 0.5 })
    let broken = false
    const { lines, status } = await agentgym(['runs', 'watch', '4f0c1d2e', '--json'], {
      onLine: (line) => {
        if (broken || JSON.parse(line).iteration !== 40) return
        broken = true
        running.hangUp()
        running.tell(
          'failed',
          { error: { code: 'scenario_threw', message: 'it threw' } },
          {
            state: 'failed',
            error: { code: 'scenario_threw', message: 'it threw', hint: 'Mend it.' },
          },
        )
      },
    })
    expect(status).toBe(1)
    const iterations = lines.map((line) => (line as { iteration?: number }).iteration).filter((iteration) => iteration)
    expect(iterations).toEqual(Array.from({ length: iterations.length }, (_, index) => index + 1))
    expect(lines.at(-1)).toMatchObject({
      event: 'error',
      error: { code: 'scenario_threw', message: 'it threw', hint: 'Mend it.', data: { run: recordedRunId } },
    })
  })

  it('Ctrl-C leaves, says how to find the run again, and ends with status 0', async () => {
    const running = await serve()
    await tellRecordedRun(running, { share: 0.2 })
    for (const json of [[], ['--json']]) {
      const { status, stdout, lines } = await agentgym(['runs', 'watch', '4f0c', ...json], {
        onLine: (line, kill) => {
          if (line.includes(json.length > 0 ? '"iteration":10,' : 'steps/s')) kill('SIGINT')
        },
      })
      expect(status).toBe(0)
      if (json.length > 0) expect(lines.at(-1)).toMatchObject({ event: 'run', change: 'detached', id: recordedRunId })
      else expect(stdout).toMatch(/4f0c1d2e goes on at the server.*agentgym runs watch 4f0c1d2e/s)
    }
    expect(running.requests.some(({ line }) => line.includes('cancel'))).toBe(false)
  })

  it('of a run out of budget ends with the way to go on', async () => {
    const running = await serve()
    await tellRecordedRun(running, { share: 0.2 })
    running.tell('budget_warning', { spent_minor: 188, budget_minor: 250 })
    running.tell(
      'budget_exceeded',
      { spent_minor: 250, budget_minor: 250 },
      {
        state: 'budget_exceeded',
        cost: { ...running.run.cost, spent_minor: 250 },
      },
    )
    const human = await agentgym(['runs', 'watch', '4f0c'])
    expect(human.status).toBe(1)
    expect(human.stdout).toContain('75% of the budget is spent: 1.88 EUR of 2.50 EUR')
    expect(human.stderr).toMatch(/used up its budget: 2\.50 EUR of 2\.50 EUR/)
    expect(human.stderr.replace(/\s+/g, ' ')).toContain('agentgym runs resume 4f0c1d2e --budget AMOUNT')
    const json = await agentgym(['runs', 'watch', '4f0c', '--json'])
    expect(json.lines.at(-1)).toMatchObject({ event: 'error', error: { code: 'budget_exceeded' } })
  })

  it('obeys nothing that a stranger’s scenario or worker says', async () => {
    const running = await serve()
    const evil = '\u001b[2J\u202eall is well\n✓ Every target reached'
    running.tell(
      'running',
      { attempt: 1, worker: evil, price_minor_per_hour: 0, from_iteration: 0 },
      { state: 'running' },
    )
    running.tell(
      'failed',
      { error: { code: 'scenario_threw', message: evil } },
      {
        state: 'failed',
        error: { code: 'scenario_threw', message: evil, hint: evil },
      },
    )
    const { stdout, stderr } = await agentgym(['runs', 'watch', '4f0c'])
    expect(stdout + stderr).not.toContain('\u001b')
    expect(stdout + stderr).not.toContain('\u202e')
    expect(stdout + stderr).not.toMatch(/^✓/m)
  })
})

describe('a run’s id', () => {
  const other = queuedRun({ id: '4f0cffff-5a6b-4c7d-8e9f-0a1b2c3d4e5f' })

  it('may be its beginning, where that is one run’s alone', async () => {
    await serve({ others: [other] })
    const one = await agentgym(['runs', 'show', '4F0C1', '--json'])
    expect(one.lines[0]).toMatchObject({ id: recordedRunId, events: [], curve: [] })
    const two = await agentgym(['runs', 'show', '4f0c', '--json'])
    expect(two).toMatchObject({
      status: 2,
      lines: [{ error: { code: 'usage_invalid', data: { runs: [recordedRunId, other.id] } } }],
    })
    const none = await agentgym(['runs', 'cancel', 'dead', '--json'])
    expect(none).toMatchObject({ status: 1, lines: [{ error: { code: 'run_not_found' } }] })
    for (const text of ['4f0', 'latest', '../status', '']) {
      const wrong = await agentgym(['runs', 'show', text, '--json'])
      expect(wrong).toMatchObject({ status: 2, lines: [{ error: { code: 'usage_invalid' } }] })
    }
    expect(server?.requests.some(({ line }) => line.includes('cancel'))).toBe(false)
  })
})

describe('train --remote', () => {
  it('asks for the run as it was typed, money to the last unit', async () => {
    const asked = await serve()
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
      '--private',
      '--note',
      'first',
      '--trajectories',
      '5',
    ]
    const { status, lines } = await agentgym(['train', '@acme/cart-pole@^1', '--remote', '--json', ...words, ...more])
    expect(status).toBe(0)
    expect(lines).toMatchObject([{ event: 'run', change: 'submitted', id: recordedRunId, state: 'queued' }])
    const [start] = asked.requests.filter(({ line }) => line === 'POST /v1/runs')
    expect(start.body).toEqual({
      scenario: '@acme/cart-pole@^1',
      algorithm: 'ppo',
      steps: 100_000,
      seed: 7,
      settings: { hidden: [32, 32], gamma: 0.98 },
      budget_minor: 6410,
      publish: { name: '@ann/pole', version: '1.0.0', visibility: 'private' },
      trajectories_every: 5,
      note: 'first',
    })
    expect(start.key).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('asks again under the same key where no answer came, so that the run starts once', async () => {
    const asked = await serve({ lostAnswers: 1 })
    const { status } = await agentgym(['train', '@acme/cart-pole', '--remote', '--json'])
    expect(status).toBe(0)
    const keys = asked.requests.filter(({ line }) => line === 'POST /v1/runs').map(({ key }) => key)
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
  })

  it('says for people how to follow it', async () => {
    await serve()
    const { stdout } = await agentgym(['train', '@acme/cart-pole', '--remote'])
    expect(stdout).toContain('→ Train on @acme/cart-pole@1.0.0 with ppo, seed 1, at most 2.50 EUR')
    expect(stdout).toContain('2 ahead in the queue')
    expect(stdout).toContain(recordedRunId)
    expect(stdout).toContain('agentgym runs watch 4f0c1d2e')
  })

  it.each([
    [['train', '.', '--remote'], 'agentgym scenario publish'],
    [['train', 'cart-pole', '--remote'], 'agentgym search'],
    [['train', 'cart-pole', '--budget', '2'], '--remote'],
    [['train', '@acme/cart-pole', '--remote', '--resume'], 'agentgym runs resume'],
    [['train', '@acme/cart-pole', '--remote', '--out', 'x'], '--watch'],
    [['runs', 'export', '4f0c', '--csv', '--tensorboard'], 'once for each'],
    [['runs', 'export', '4f0c', '--out', '-'], 'Leave one'],
  ])('%j is wrong use', async (words, hint) => {
    await serve()
    const { status, lines } = await agentgym([...words, '--json'])
    expect(status).toBe(2)
    expect(lines).toMatchObject([{ error: { code: 'usage_invalid', hint: expect.stringContaining(hint) } }])
    expect(server?.requests.some(({ line }) => line.startsWith('POST'))).toBe(false)
  })

  it.each(['-1', '0', '2,50', '2.505', '1e2'])('--budget %s is no amount', async (amount) => {
    await serve()
    const { status, lines } = await agentgym(['train', '@acme/cart-pole', '--remote', `--budget=${amount}`, '--json'])
    expect(status).toBe(2)
    expect(lines).toMatchObject([{ event: 'error', error: { code: 'config_invalid', data: { field: 'budget' } } }])
    expect(server?.requests.some(({ line }) => line.startsWith('POST'))).toBe(false)
  })

  it('refuses a folder that holds an agent before anything is asked for', async () => {
    await serve()
    writeAgentFolder('taken')
    const words = ['train', '@acme/cart-pole', '--remote', '--watch', '--out', 'taken', '--json']
    expect(await agentgym(words)).toMatchObject({
      status: 2,
      lines: [{ error: { hint: expect.stringContaining('--force') } }],
    })
    expect(server?.requests).toEqual([])
  })
})

describe('what a run leaves', () => {
  it('is written to a file, whole, or to stdout', async () => {
    await serve({ files: { 'metrics.csv': 'iteration,steps\n1,1024\n', trajectories: '' } })
    const csv = await agentgym(['runs', 'export', '4f0c', '--json'])
    expect(csv.lines).toMatchObject([{ ok: true, format: 'csv', path: join(folder, 'run-4f0c1d2e.csv'), bytes: 23 }])
    expect(readFileSync(join(folder, 'run-4f0c1d2e.csv'), 'utf8')).toBe('iteration,steps\n1,1024\n')
    expect((await agentgym(['runs', 'export', '4f0c', '--out', '-'])).stdout).toBe('iteration,steps\n1,1024\n')
    expect((await agentgym(['runs', 'export', '4f0c', '--trajectories'])).stdout).toContain('No trajectory was sampled')
    const nowhere = await agentgym(['runs', 'export', '4f0c', '--out', 'no/such/folder.csv', '--json'])
    expect(nowhere).toMatchObject({ status: 2, lines: [{ error: { code: 'file_not_found' } }] })
  })

  it('an agent that was changed on its way is not taken', async () => {
    const running = await serve({ agent: new TextEncoder().encode('another agent') })
    await tellRecordedRun(running, { agent: new TextEncoder().encode('the agent') })
    const { status, lines } = await agentgym(['runs', 'download', '4f0c', '--out', 'changed', '--json'])
    expect(status).toBe(1)
    expect(lines).toMatchObject([{ error: { code: 'integrity_mismatch' } }])
    expect(await agentgym(['eval', 'changed', '--json'])).toMatchObject({
      lines: [{ error: { code: 'file_not_found' } }],
    })
  })

  it('is no agent before the run is completed', async () => {
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
