import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { publishPackage } from '@agentgym/client'
import { type ProgressEvent, workerProtocol, workerProtocolHeader } from '@agentgym/contract'
import { packScenario } from '@agentgym/testkit/packages'
import { signUpAt } from '@agentgym/testkit/people'
import { startPostgresql, stopPostgresql } from '@agentgym/testkit/postgresql-server'
import type { Figure } from './figure.ts'
import { agent, atFixedRate, percentile, request } from './http-load.ts'

const submissionsPerSecond = 100
const submissionSeconds = 10
const ingestSeconds = 10
const pointsARequest = 100
const watchers = 1_000
const watchedPoints = 20

type Options = { embedded: boolean; say: (line: string) => void }
type Service = { url: string; builder: Record<string, string>; worker: Record<string, string> }

/**
 * Training as a service over HTTP, without training: runs submitted at a fixed rate, progress taken in as fast as a worker
 * can send it, and many watchers of one run. The server is a process of its own, on PostgreSQL or embedded; it shares the
 * machine with this one and with PostgreSQL.
 */
export async function trainingServiceBenchmark({ embedded, say }: Options): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'agentgym-bench-training-'))
  const postgresql = join(folder, 'postgresql')
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    AGENTGYM_LOG_LEVEL: 'warn',
    AGENTGYM_MAX_OPEN_RUNS: '100000',
    AGENTGYM_MAX_STARTS_PER_MINUTE: '100000',
  }
  if (!embedded) environment.DATABASE_URL = await startPostgresql(postgresql)
  let server: ChildProcess | undefined
  try {
    server = fork(new URL('./registry-server.process.ts', import.meta.url), [join(folder, 'data')], {
      env: environment,
    })
    const [{ url }] = (await once(server, 'message')) as [{ url: string }]
    const service = await furnish(url)
    const engine = embedded ? 'PGlite' : 'PostgreSQL'
    say(`training service: ${submissionsPerSecond} submissions a second, ${engine} …`)
    const submitted = await submissions(service)
    say('training service: progress as fast as it is taken in …')
    const ingested = await ingestion(service)
    say(`training service: ${watchers.toLocaleString('en-US')} watchers of one run …`)
    const watched = await watching(service)
    return figures(engine, { submitted, ingested, watched })
  } finally {
    agent.destroy()
    if (server?.exitCode === null) {
      server.kill('SIGKILL')
      await once(server, 'exit')
    }
    if (!embedded) await stopPostgresql(postgresql)
    await rm(folder, { recursive: true, force: true })
  }
}

type Measured = { submitted: number[]; ingested: number; watched: number[] }

function figures(engine: string, { submitted, ingested, watched }: Measured): Figure[] {
  const suffix = engine.toLowerCase()
  const milliseconds = (id: string, what: string, value: number, bar: number | null): Figure => ({
    ...{ id: `${id}_${suffix}`, what: `${what}, ${engine}`, value, unit: 'ms', bar, lower: true },
  })
  const rate = `${submissionsPerSecond} runs submitted a second`
  const crowd = `${watchers.toLocaleString('en-US')} watchers of a run`
  return [
    milliseconds('submission_p50_ms', `${rate}, median`, percentile(submitted, 0.5), null),
    milliseconds('submission_p95_ms', `${rate}, 95th percentile`, percentile(submitted, 0.95), 50),
    {
      ...{ id: `ingested_points_per_second_${suffix}`, what: `progress of two runs taken in, ${engine}` },
      ...{ value: ingested, unit: 'points/s', bar: 2_000 },
    },
    milliseconds(
      'watchers_p95_ms',
      `${crowd}, from the worker's report to each, 95th percentile`,
      percentile(watched, 0.95),
      null,
    ),
  ]
}

/** An operator with a worker's token, and a builder with a scenario to train on. */
async function furnish(url: string): Promise<Service> {
  const operator = await signUpAt(url, 'operator', ['worker'])
  const builder = await signUpAt(url, 'acme')
  await publishPackage(builder.client, await packScenario('cart-pole', { name: '@acme/cart-pole' }))
  const headers = ({ token }: { token: string }) => ({
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  })
  const service = { url, builder: headers(builder), worker: headers(operator) }
  const job = await lease(service, 'check')
  const report = { ok: true, name: '@acme/cart-pole', version: '1.0.0', checks: [{ id: 'all', ok: true, message: '' }] }
  await post(service, `/v1/jobs/${job.id}/result`, service.worker, { lease: job.lease, report })
  return service
}

type Leased = { id: string; lease: string }

async function lease(service: Service, kind: string): Promise<Leased> {
  const headers = { ...service.worker, [workerProtocolHeader]: workerProtocol }
  return JSON.parse(await post(service, '/v1/jobs/lease', headers, { kinds: [kind] }))
}

function post(
  service: Service,
  path: string,
  headers: Record<string, string>,
  body: unknown,
  status = 200,
): Promise<string> {
  return request(service.url + path, { method: 'POST', headers, body: JSON.stringify(body), status })
}

function submit(service: Service): Promise<string> {
  return post(service, '/v1/runs', service.builder, { scenario: '@acme/cart-pole', steps: 10_000_000 }, 201)
}

async function submissions(service: Service): Promise<number[]> {
  for (let index = 0; index < 100; index++) await submit(service)
  const requests = submissionsPerSecond * submissionSeconds
  return atFixedRate({ perSecond: submissionsPerSecond, requests }, () => submit(service))
}

/** Two workers, each with its next report ready when the last one is taken. Gives points a second over both. */
async function ingestion(service: Service): Promise<number> {
  const jobs = [await lease(service, 'train'), await lease(service, 'train')]
  const startedMs = performance.now()
  const endMs = startedMs + ingestSeconds * 1000
  const sent = await Promise.all(
    jobs.map(async (job) => {
      let points = 0
      while (performance.now() < endMs) {
        await report(service, job, points, pointsARequest, performance.now() - startedMs)
        points += pointsARequest
      }
      return points
    }),
  )
  return sent.reduce((sum, points) => sum + points, 0) / ((performance.now() - startedMs) / 1000)
}

async function report(service: Service, job: Leased, after: number, count: number, elapsedMs: number): Promise<void> {
  const points = Array.from({ length: count }, (_, index) => point(after + index + 1))
  const body = { lease: job.lease, points, metered_ms: Math.floor(elapsedMs) }
  await post(service, `/v1/jobs/${job.id}/progress`, service.worker, body)
}

function point(iteration: number): ProgressEvent {
  const steps = iteration * 256
  return {
    ...{
      event: 'progress',
      iteration,
      steps,
      steps_total: 10_000_000,
      steps_per_second: 70_000,
      seconds: steps / 70_000,
    },
    ...{ episodes: 2, episodes_total: 2 * iteration, return_mean: 200.5, length_mean: 200.5, metrics: { solved: 0.5 } },
    ...{ collect_seconds: 0.001, update_seconds: 0.002 },
    learner: {
      ...{ policy_loss: -0.001, value_loss: 0.5, entropy: 0.6, approximate_kl: 0.01, clip_fraction: 0.1 },
      ...{ explained_variance: 0.9, gradient_norm: 0.4, learning_rate: 0.001 },
      ...{ kl_to_reference: null, zero_variance_groups: null },
    },
  }
}

/** Milliseconds from when the worker sends a point until each watcher has it, for every point and watcher. */
async function watching(service: Service): Promise<number[]> {
  const job = await lease(service, 'train')
  const sentMs: number[] = []
  const times: number[] = []
  const { promise: all, resolve } = Promise.withResolvers<void>()
  const seen = (iteration: number) => {
    times.push(performance.now() - sentMs[iteration])
    if (times.length === watchers * watchedPoints) resolve()
  }
  const streams = await Promise.all(Array.from({ length: watchers }, () => watch(service, job.id, seen)))
  const startedMs = performance.now()
  for (let iteration = 1; iteration <= watchedPoints; iteration++) {
    sentMs[iteration] = performance.now()
    await report(service, job, iteration - 1, 1, performance.now() - startedMs)
    await delay(500)
  }
  await all
  for (const stream of streams) stream.destroy()
  return times
}

/** Opens one stream; calls `seen` with the iteration of each progress event, which must come in order, once each. */
function watch(service: Service, id: string, seen: (iteration: number) => void): Promise<{ destroy(): void }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ destroy(): void }>()
  let buffer = ''
  let last = 0
  const requested = get(
    `${service.url}/v1/runs/${id}/events`,
    { headers: service.builder, agent: false },
    (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a watcher was answered ${response.statusCode}`))
      response.setEncoding('utf8').on('data', (text: string) => {
        buffer += text
        const frames = buffer.split('\n\n')
        buffer = frames.pop() ?? ''
        for (const frame of frames) {
          const data = /^data: ?(.*)$/m.exec(frame)?.[1]
          const event = data === undefined ? undefined : JSON.parse(data)
          if (event?.type !== 'progress') continue
          if (event.data.iteration !== ++last)
            throw new Error(`iteration ${event.data.iteration} came where ${last} was due`)
          seen(last)
        }
      })
      resolve(requested)
    },
  )
  requested.on('error', reject)
  return promise
}
