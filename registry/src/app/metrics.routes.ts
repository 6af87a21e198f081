import { timingSafeEqual } from 'node:crypto'
import { AgentGymError, type JobKind, type WorkerUsage } from '@agentgym/contract'
import { type Context, Hono } from 'hono'
import { sql } from 'kysely'
import { Counter, Gauge, type Histogram, Registry } from 'prom-client'
import { hashSecret } from '../core/access/secret.ts'
import type { Database } from '../core/database/database.ts'
import { describe } from '../core/http/answer-error.ts'
import { isLocalRequest } from '../core/http/client-address.ts'
import type { Env } from '../core/http/env.ts'
import { declare } from '../core/http/route.ts'
import { exposition, groupRegistries, processRegistries } from '../core/observability/process-metrics.ts'
import type { QueueSummary } from '../core/queue/job-queue.ts'
import type { ServerConfig, Services } from '../core/services.ts'
import { readSpent } from '../modules/rentals/index.ts'
import { type Remembered, remembered } from './operating/remembered.ts'
import { durationBuckets, type EndedRuns, endedRuns, type FinalState } from './run-counts.ts'

/** Prometheus itself gives up after 10 s by default. */
const SCRAPE_MS = 8_000

/**
 * `GET /metrics` in Prometheus's text format: metrics of this process (requests, iterations, connections, Node), and of
 * runs, queue and workers from the database. If the database does not answer in time, the process's own part is still
 * returned. In a group, whichever process receives the scrape answers for all of them.
 */
export function metricsRoutes(services: Services): Hono<Env> {
  const { log, group } = services
  const figures = databaseValues(services)
  const own = processRegistries(services)
  return new Hono<Env>().get('/metrics', declare({ access: 'anyone', unlogged: 'on_success' }), async (c) => {
    requireReader(c, services.config)
    const [read, counted] = await Promise.all([
      withinTime(figures()).catch((error) => {
        log.warn('database metrics could not be read', { error: describe(error) })
        return undefined
      }),
      group === undefined ? own : group.figures().then(groupRegistries),
    ])
    const text = await exposition([...counted, databaseMetrics(read)])
    return c.body(text, 200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE })
  })
}

/**
 * Metrics reveal activity and users. Reading them requires the token from the settings, or a request from this machine
 * if the server is reachable only locally. Behind a transparent proxy, every client seems to be on this machine.
 */
function requireReader(c: Context<Env>, { metricsToken: token, local }: ServerConfig): void {
  const given = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
  if (given !== undefined && token !== undefined && same(given, token)) return
  if (given === undefined && local && isLocalRequest(c)) return
  throw new AgentGymError({
    code: 'unauthenticated',
    message: 'Reading metrics requires a token, unless the server is only reachable from this machine.',
    hint: 'Set AGENTGYM_METRICS_TOKEN on the server and send it as a bearer token.',
  })
}

function same(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(given)), Buffer.from(hashSecret(expected)))
}

async function withinTime<Result>(reading: Promise<Result>): Promise<Result> {
  const { promise: expired, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${SCRAPE_MS} ms`)), SCRAPE_MS)
  try {
    return await Promise.race([reading, expired])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * The metrics from the database, for Prometheus; undefined if it did not answer. Every replica reports the same values,
 * so combine them with `max`, never with a sum.
 */
function databaseMetrics(figures: DatabaseValues | undefined): Registry {
  const registry = new Registry()
  const registers = [registry]
  const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge<Label>({ name, help, labelNames, registers })
  gauge('db_up', 'Whether the database answered this scrape, 1 or 0.').set(figures === undefined ? 0 : 1)
  if (figures === undefined) return registry

  gauge('training_jobs_active', 'Training runs in progress.').set(figures.runsActive)
  const counted: [FinalState, string][] = [
    ['completed', 'Completed runs.'],
    ['failed', 'Failed runs.'],
    ['cancelled', 'Canceled runs.'],
  ]
  for (const [state, help] of counted)
    new Counter({ name: `training_jobs_${state}_total`, help, registers }).inc(figures.ended[state].runs)
  registry.registerMetric(runDurations(figures))

  const length = gauge('queue_length', 'Jobs waiting for a worker, by kind.', 'kind')
  const leased = gauge('queue_leased', 'Jobs leased by a worker, by kind.', 'kind')
  const oldest = gauge('queue_oldest_seconds', 'How long the oldest waiting job has waited, by kind; 0: none.', 'kind')
  for (const [kind, jobs] of Object.entries(figures.queue)) {
    length.set({ kind }, jobs.waiting)
    leased.set({ kind }, jobs.leased)
    oldest.set({ kind }, jobs.oldestSeconds)
  }

  const { audit, backup } = figures
  const secondsOf = (at: string | undefined) => (at === undefined ? 0 : Date.parse(at) / 1_000)
  gauge('agentgym_audit_findings', 'Faults that the last audit found.').set(audit?.findings ?? 0)
  gauge('agentgym_audit_timestamp_seconds', 'When the last audit ended; 0: never.').set(secondsOf(audit?.at))
  gauge('agentgym_backup_timestamp_seconds', 'The moment whose state the last backup holds; 0: none.').set(
    secondsOf(backup?.at),
  )

  gauge('workers_connected', 'Workers seen in the last two minutes.').set(figures.workersConnected)
  gauge('rentals_open', 'Machines rented for the queue that have not ended.').set(figures.rentals.machines)
  gauge('rentals_cents_per_hour', 'What they cost an hour, in US cents.').set(figures.rentals.cents_per_hour)
  gauge(
    'rentals_cents_per_day',
    'What machines rented in the last 24 hours have cost or may still cost, in US cents.',
  ).set(figures.rentals.cents_per_day)
  gauge('workers_held_back', 'Workers that get no evaluations, because others contradict their results.').set(
    figures.workersHeldBack,
  )
  for (const share of ['cpu', 'gpu', 'gpu_memory', 'memory'] as const) {
    const what = share === 'gpu_memory' ? "GPUs' memory" : share
    const usage = gauge(`worker_${share}_usage`, `Share of a worker's ${what} in use, 0 to 1.`, 'worker')
    for (const [name, worker] of figures.usage) {
      const value = worker[share] ?? null
      if (value !== null) usage.set({ worker: name }, value)
    }
  }
  return registry
}

/**
 * A histogram with precomputed buckets, which the library's own does not support. The registry reads only a metric's
 * name, and what `get` returns.
 */
function runDurations({ ended }: DatabaseValues): Histogram {
  const name = 'training_job_duration_seconds'
  const values = Object.entries(ended).flatMap(([state, { durations }]) => [
    ...durationBuckets.map((le, index) => ({
      metricName: `${name}_bucket`,
      labels: { state, le },
      value: durations.atMost[index],
    })),
    { metricName: `${name}_bucket`, labels: { state, le: '+Inf' }, value: durations.runs },
    { metricName: `${name}_sum`, labels: { state }, value: durations.seconds },
    { metricName: `${name}_count`, labels: { state }, value: durations.runs },
  ])
  const help = 'Time from the first lease of a run to its end, by final state.'
  return { name, get: async () => ({ name, help, type: 'histogram', values }) } as unknown as Histogram
}

/** Database values at a scrape: the same in every replica and after every restart. */
type DatabaseValues = {
  runsActive: number
  ended: EndedRuns
  queue: Record<JobKind, QueueSummary>
  /** Undefined if there has been none. */
  audit: Remembered<'audit'> | undefined
  backup: Remembered<'backup'> | undefined
  /** Workers seen within two lease periods. */
  workersConnected: number
  workersHeldBack: number
  /** Machines rented for the queue. */
  rentals: Awaited<ReturnType<typeof readSpent>>
  /** The first 200 by name. Of workers with the same name, the busiest. */
  usage: Map<string, WorkerUsage>
}

/** Each worker name is a time series in Prometheus, so their number is limited. */
const MAX_WORKERS = 200
const WORKER_SECONDS = 120
/**
 * Limits the load of frequent scrapes: metrics are read at most once per second, which uses a twentieth of one
 * connection.
 */
const FRESH_MS = 1_000
const DUTY = 20

/** Returns the metrics, read again only if the last ones are old enough; concurrent callers share the answer. */
export function databaseValues(services: Pick<Services, 'database' | 'queue'>): () => Promise<DatabaseValues> {
  const ended = endedRuns(services.database)
  let current: Promise<DatabaseValues> | undefined
  let goodUntilMs = 0
  return () => {
    const startedMs = performance.now()
    if (current === undefined || startedMs >= goodUntilMs) {
      goodUntilMs = Number.POSITIVE_INFINITY
      current = readDatabaseValues(services, ended).finally(() => {
        const nowMs = performance.now()
        goodUntilMs = nowMs + Math.max(FRESH_MS, DUTY * (nowMs - startedMs))
      })
    }
    return current
  }
}

async function readDatabaseValues(
  services: Pick<Services, 'database' | 'queue'>,
  countEnded: () => Promise<EndedRuns>,
): Promise<DatabaseValues> {
  const { database } = services
  // Sequential: metrics use a single connection, even if others wait for one.
  const runsActive = await countActive(database)
  const ended = await countEnded()
  const queue = await services.queue.summary()
  const audit = await remembered(database.query, 'audit')
  const backup = await remembered(database.query, 'backup')
  const rentals = await readSpent(database.query)
  return { runsActive, ended, queue, audit, backup, rentals, ...(await readWorkers(database)) }
}

async function countActive({ query }: Database): Promise<number> {
  const { runs } = await query
    .selectFrom('training_runs')
    .select(({ fn }) => fn.countAll<number>().as('runs'))
    .where('state', '=', 'running')
    .executeTakeFirstOrThrow()
  return runs
}

async function readWorkers({
  query,
}: Database): Promise<Pick<DatabaseValues, 'workersConnected' | 'workersHeldBack' | 'usage'>> {
  const recently = sql<boolean>`seen_at > now() - ${sql.lit(WORKER_SECONDS)} * interval '1 second'`
  const { workers } = await query
    .selectFrom('workers')
    .select(({ fn }) => fn.countAll<number>().as('workers'))
    .where(recently)
    .executeTakeFirstOrThrow()
  const greatest = (share: keyof WorkerUsage) =>
    sql<number | null>`max((usage ->> ${sql.lit(share)})::float8)`.as(share)
  const rows = await query
    .selectFrom('workers')
    .select(['name', greatest('cpu'), greatest('memory'), greatest('gpu'), greatest('gpu_memory')])
    .where(recently)
    .groupBy('name')
    .orderBy('name')
    .limit(MAX_WORKERS)
    .execute()
  const usage = new Map<string, WorkerUsage>()
  for (const { name, ...shares } of rows) usage.set(shown(name), busier(usage.get(shown(name)), shares))
  const { held } = await query
    .selectFrom('worker_holds')
    .select(({ fn }) => fn.countAll<number>().as('held'))
    .where('released_at', 'is', null)
    .executeTakeFirstOrThrow()
  return { workersConnected: workers, workersHeldBack: held, usage }
}

/** A worker's name as a label. Names that violate the contract come from clients that bypass it. */
function shown(name: string): string {
  return name.replace(/[^\w .:@()-]/g, '?').slice(0, 80)
}

function busier(one: WorkerUsage | undefined, other: WorkerUsage): WorkerUsage {
  const greater = (a: number | null = null, b: number | null = null) => (a === null ? b : Math.max(a, b ?? a))
  return {
    cpu: greater(one?.cpu, other.cpu),
    memory: greater(one?.memory, other.memory),
    gpu: greater(one?.gpu, other.gpu),
    gpu_memory: greater(one?.gpu_memory, other.gpu_memory),
  }
}
