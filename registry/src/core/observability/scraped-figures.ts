import type { JobKind, WorkerUsage } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Services } from '../services.ts'

/** Ends of a run that are for good: what has come to one of them is counted once, whatever happens later. */
export type FinalState = 'completed' | 'failed' | 'cancelled'

/** What the database knows at a scrape: the same for every replica, and after every restart. */
export type ScrapedFigures = {
  runsActive: number
  /** By their end: how many, and of those that had begun how long they took. */
  ended: Record<FinalState, { runs: number; durations: Durations }>
  queue: Record<JobKind, { waiting: number; leased: number }>
  /** Workers heard of within two leases. */
  workersConnected: number
  /** By name, the first 200 of them; where several have one name, the busiest. */
  usage: Map<string, WorkerUsage>
}

/** `atMost[i]` runs took `durationBuckets[i]` seconds at most. */
type Durations = { runs: number; seconds: number; atMost: number[] }

/** Seconds from a run's first lease to its end: from a few seconds to three days. */
export const durationBuckets = [10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 259_200]

/** A name a worker is a series in Prometheus: there are no more of them than this, whatever workers call themselves. */
const MAX_WORKERS = 200
const WORKER_SECONDS = 120
/** However often is asked: figures are read once a second, and take a twentieth of one connection at most. */
const FRESH_MS = 1_000
const DUTY = 20

/** Gives the figures, read anew only where the last ones are old enough; whoever asks meanwhile shares the answer. */
export function scrapedFigures(services: Pick<Services, 'database' | 'queue'>): () => Promise<ScrapedFigures> {
  let current: Promise<ScrapedFigures> | undefined
  let goodUntilMs = 0
  return () => {
    const startedMs = performance.now()
    if (current === undefined || startedMs >= goodUntilMs) {
      goodUntilMs = Number.POSITIVE_INFINITY
      current = readFigures(services).finally(() => {
        const nowMs = performance.now()
        goodUntilMs = nowMs + Math.max(FRESH_MS, DUTY * (nowMs - startedMs))
      })
    }
    return current
  }
}

async function readFigures(services: Pick<Services, 'database' | 'queue'>): Promise<ScrapedFigures> {
  const { database } = services
  // One after the other: figures take one connection, whoever else waits for one.
  const runs = await readRuns(database)
  const queue = await readQueue(services)
  return { ...runs, queue, ...(await readWorkers(database)) }
}

async function readRuns({ query }: Database): Promise<Pick<ScrapedFigures, 'runsActive' | 'ended'>> {
  const seconds = sql`extract(epoch from ended_at - started_at)`
  const atMost = sql.join(
    durationBuckets.map((bucket) => sql`count(*) filter (where ${seconds} <= ${sql.lit(bucket)})`),
  )
  const { rows } = await sql<{ state: string; runs: number } & { begun: number; seconds: number; at_most: number[] }>`
    select state, count(*) as runs, count(${seconds}) as begun, coalesce(sum(${seconds}), 0)::float8 as seconds,
      array[${atMost}] as at_most
    from training_runs where state in ('running', 'completed', 'failed', 'cancelled') group by state`.execute(query)
  const of = (state: string) => rows.find((row) => row.state === state)
  const ended = (state: FinalState) => {
    const row = of(state)
    const none = durationBuckets.map(() => 0)
    return {
      runs: row?.runs ?? 0,
      durations: { runs: row?.begun ?? 0, seconds: row?.seconds ?? 0, atMost: row?.at_most ?? none },
    }
  }
  return {
    runsActive: of('running')?.runs ?? 0,
    ended: { completed: ended('completed'), failed: ended('failed'), cancelled: ended('cancelled') },
  }
}

async function readQueue(services: Pick<Services, 'database' | 'queue'>): Promise<ScrapedFigures['queue']> {
  const counts = await services.queue.counts()
  const of = (kind: JobKind) => {
    const jobs = (state: string) =>
      counts.filter((row) => row.kind === kind && row.state === state).reduce((sum, row) => sum + row.jobs, 0)
    return { waiting: jobs('waiting'), leased: jobs('active') }
  }
  return { check: of('check'), evaluate: of('evaluate'), train: of('train') }
}

async function readWorkers({ query }: Database): Promise<Pick<ScrapedFigures, 'workersConnected' | 'usage'>> {
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
    .select(['name', greatest('cpu'), greatest('memory'), greatest('gpu')])
    .where(recently)
    .groupBy('name')
    .orderBy('name')
    .limit(MAX_WORKERS)
    .execute()
  const usage = new Map<string, WorkerUsage>()
  for (const { name, ...shares } of rows) usage.set(shown(name), busier(usage.get(shown(name)), shares))
  return { workersConnected: workers, usage }
}

/** A worker's name as a label; one that is not as the contract says is somebody's who went past it. */
function shown(name: string): string {
  return name.replace(/[^\w .:@()-]/g, '?').slice(0, 80)
}

function busier(one: WorkerUsage | undefined, other: WorkerUsage): WorkerUsage {
  const greater = (a: number | null | undefined, b: number | null) => (a == null ? b : Math.max(a, b ?? a))
  return {
    cpu: greater(one?.cpu, other.cpu),
    memory: greater(one?.memory, other.memory),
    gpu: greater(one?.gpu, other.gpu),
  }
}
