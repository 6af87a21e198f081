import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeRunpod, startRunpod } from '@agentgym/testkit/clouds'
import { runCli } from '@agentgym/testkit/command-line'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { playRecordedRun, queuedRun, type RunServer, recordedRunId, startRunServer } from './run-server.ts'

let folder: string
let cloud: FakeRunpod
let server: RunServer

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agentgym-rented-'))
  cloud = await startRunpod()
  server = await startRunServer()
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await Promise.all([cloud.close(), server.close()])
})

const agentgym = (words: string[], environment: Record<string, string> = {}) =>
  runCli(words, {
    cwd: folder,
    environment: {
      ...{ HOME: folder, AGENTGYM_SERVER: server.url, AGENTGYM_TOKEN: 'agt_x' },
      ...{ RUNPOD_API_KEY: cloud.key, AGENTGYM_RUNPOD_URL: cloud.url },
      ...{ AGENTGYM_WORKER_TOKEN: 'agt_worker', AGENTGYM_WORKER_IMAGE: 'ghcr.io/acme/worker@sha256:1' },
      ...environment,
    },
  })

const train = (...words: string[]) => [
  'train',
  '@acme/cart-pole',
  '--gpu',
  'runpod',
  '--gpu-server',
  server.url,
  ...words,
]
const codeOf = ({ stdout, stderr }: { stdout: string; stderr: string }) => /"code":"(\w+)"/.exec(stdout + stderr)?.[1]
const events = (lines: unknown[]) => lines.map((line) => (line as { event?: string }).event)

/** As if RunPod had started the worker, and somebody had cancelled the run. */
function endRunWhenRented(): void {
  cloud.started = () => setImmediate(() => server.emit('cancelled', {}, { state: 'cancelled' }))
}

describe('train --gpu runpod', () => {
  it('shows the price, starts the worker of that run, follows it and ends the worker', async () => {
    let args: string[] = []
    endRunWhenRented()
    const { started } = cloud
    cloud.started = (pod, given) => {
      args = given
      started?.(pod, given)
    }
    const { lines, status } = await agentgym([...train('--yes'), '--json'])
    expect(events(lines).slice(0, 3)).toEqual(['gpu', 'run', 'rented'])
    expect(lines[0]).toMatchObject({
      ...{ provider: 'runpod', gpu: 'RTX A4000', price_minor_per_hour: 17, max_seconds: 86_400, most_minor: 408 },
      estimate: null,
    })
    expect(events(lines)).toContain('rental_ended')
    expect(status).toBe(1)
    expect(cloud.made).toHaveLength(1)
    expect(cloud.rented()).toEqual([])
    expect(cloud.made[0].env).toMatchObject({
      ...{ AGENTGYM_SERVER: server.url, AGENTGYM_TOKEN: 'agt_worker', AGENTGYM_RENTED_FOR: server.url },
    })
    expect(args.join(' ')).toContain(`worker --run ${recordedRunId} --kinds train --slots 1`)
    expect(args).toContain('--end-pod')
    // The run comes before the pod.
    const submitted = server.requests.find(({ line }) => line === 'POST /v1/runs')
    // No worker without a GPU trains it meanwhile.
    expect(submitted?.body).toMatchObject({ gpu: {} })
  })

  it('prints what it chose, and the run once', async () => {
    endRunWhenRented()
    const { stdout } = await agentgym(train('--yes', '--gpu-budget', '1'))
    expect(stdout).toContain('GPU: RTX A4000 (16 GB) at runpod EU-RO-1, $0.17 an hour')
    expect(stdout).toContain('Ends with the run, after 5 h 53 min at the latest, for at most $1.00')
    expect(stdout.match(/Training on/g)).toHaveLength(1)
    expect(stdout).toContain('Ended the worker at runpod')
  })

  it('rents nothing without consent, or where something is missing', async () => {
    const refusals: [string[], string, Record<string, string>?][] = [
      [train('--json'), 'usage_invalid'],
      [train('--yes', '--json'), 'config_invalid', { AGENTGYM_WORKER_IMAGE: '' }],
      [train('--yes', '--json'), 'unauthenticated', { AGENTGYM_WORKER_TOKEN: '' }],
      [train('--yes', '--json'), 'compute_credentials_missing', { RUNPOD_API_KEY: '' }],
      [train('--yes', '--json', '--gpu-budget', '0.01'), 'config_invalid'],
      [train('--yes', '--json', '--gpu-budget', 'much'), 'config_invalid'],
      [train('--yes', '--json', '--gpu-memory', '500'), 'gpu_unavailable'],
      [['train', '@acme/cart-pole', '--gpu', 'runpod', '--yes', '--json'], 'config_invalid'],
      [['train', '@acme/cart-pole', '--gpu', 'cloud', '--json'], 'config_invalid'],
      [['train', '@acme/cart-pole', '--gpu-budget', '5', '--json'], 'usage_invalid'],
      [[...train('--json'), '--remote'], 'usage_invalid'],
      [[...train('--json'), '--seed', '1..3'], 'usage_invalid'],
    ]
    for (const [words, code, environment] of refusals)
      expect([words.join(' '), codeOf(await agentgym(words, environment))]).toEqual([words.join(' '), code])
    expect(cloud.made).toEqual([])
    expect(server.requests.filter(({ line }) => line === 'POST /v1/runs')).toEqual([])
  })

  it('limits the time by the budget, and estimates by earlier runs', async () => {
    await playRecordedRun(server)
    const done = await agentgym([...train('--yes', '--steps', '1e6', '--gpu-budget', '0.34'), '--json'])
    expect(done.lines[0]).toMatchObject({
      max_seconds: 7_200,
      most_minor: 34,
      estimate: { cost_minor: expect.any(Number) },
    })
    const until = Date.parse(cloud.made[0].env.AGENTGYM_ENDS_AT) - Date.now()
    expect(until).toBeLessThanOrEqual(7_200_000)
  })

  it('says how to go on when the worker cannot be started, and then starts it once', async () => {
    cloud.fault = ({ method }) => (method === 'POST' ? 402 : undefined)
    const { lines } = await agentgym([...train('--yes'), '--json'])
    expect(lines.at(-1)).toMatchObject({
      event: 'error',
      error: { code: 'compute_refused', hint: expect.stringContaining('agentgym gpus rent 4f0c1d2e') },
    })
    cloud.fault = undefined
    const rent = ['gpus', 'rent', recordedRunId, '--yes', '--gpu-server', server.url]
    expect((await agentgym([...rent, '--json'])).lines).toMatchObject([
      { event: 'gpu' },
      { event: 'rented', worker: 'pod000001' },
    ])
    expect((await agentgym(rent)).stdout).toContain('has a worker at runpod (pod000001)')
    expect(cloud.made).toHaveLength(1)
    server.change(queuedRun({ state: 'paused' }))
    expect(codeOf(await agentgym([...rent, '--json']))).toBe('usage_invalid')
  })
})

describe('gpus rent', () => {
  it('rents what the run needs', async () => {
    const rent = ['gpus', 'rent', recordedRunId, '--yes', '--json', '--gpu-server', server.url]
    server.change(queuedRun({ gpu: { count: 2, memory_bytes: 0 } }))
    expect(codeOf(await agentgym(rent))).toBe('gpu_unavailable')
    expect(cloud.made).toEqual([])
    server.change(queuedRun({ gpu: { count: 1, memory_bytes: 20e9 } }))
    expect((await agentgym(rent)).lines).toMatchObject([{ gpu: 'RTX 4090', memory_gb: 24 }, { event: 'rented' }])
  })
})

describe('train --gpu auto', () => {
  it('takes the cheapest offer that fits where this machine has no GPU, else a GPU of the server', async () => {
    endRunWhenRented()
    // Names that a GPU of this machine hardly has.
    const words = ['train', '@acme/cart-pole', '--gpu', 'auto', '--yes']
    const auto = [...words, '--gpu-server', server.url, '--json', '--gpu-name', 'RTX', '--gpu-memory', '20']
    const rented = await agentgym(auto)
    expect(rented.lines[0]).toMatchObject({ event: 'gpu', provider: 'runpod', gpu: 'RTX 4090' })
    const { stdout } = await agentgym([...words, '--gpu-name', 'H100'], { RUNPOD_API_KEY: '' })
    expect(stdout).toContain('GPU: a worker of the server')
    const none = await agentgym([...words, '--gpu-memory', '2000', '--json'], { RUNPOD_API_KEY: '' })
    expect(codeOf(none)).toBe('gpu_unavailable')
  })
})
