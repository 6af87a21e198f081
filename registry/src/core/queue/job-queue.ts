import assert from 'node:assert'
import { randomInt } from 'node:crypto'
import { type JobKind, jobKindSchema } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { fromKysely, PgBoss } from 'pg-boss'
import { z } from 'zod'
import type { Database } from '../database/database.ts'
import type { Schema } from '../database/schema.ts'
import type { Services } from '../services.ts'
import type { Attempt, LeasedAttempt } from './job-handler.ts'
import { leaseLost, leaseOf, readLease } from './lease.ts'

const schema = 'jobs'
/** How long a worker may be silent. */
export const leaseSeconds = 60
/** How often a job is begun that never comes to a result; training counts by itself, what it achieved between. */
export const maxAttempts = 3
const unlimited = 1_000_000
const minute = 60
const day = 24 * 60 * minute
/** A job waits for a worker as long as it has to. */
const tenYears = 3_650 * day

/** How long one attempt may take in all, heartbeats or not, in seconds; and how many there are. */
const limits: Record<JobKind, { seconds: number; attempts: number }> = {
  check: { seconds: 30 * minute, attempts: maxAttempts },
  evaluate: { seconds: 2 * 60 * minute, attempts: maxAttempts },
  train: { seconds: 365 * day, attempts: unlimited },
}
/** pg-boss itself takes no more. */
const longestOfPgBoss = day

const failedQueue = (kind: JobKind) => `${kind}-failed`

/**
 * The queue: pg-boss on our database, so that a job is there exactly if its subject is (`enqueue` takes the transaction that
 * writes it). An attempt is fenced: pg-boss counts each claim, and whatever a worker writes begins with `hold`, which locks
 * the job's row and compares the count.
 *
 * Statements that pg-boss has not are written here, against its table `jobs.job`: a lease whose age is needed, a job that
 * is given back without using up an attempt.
 */
export class JobQueue {
  readonly #boss: PgBoss
  readonly #database: Database
  readonly #secret: Uint8Array

  private constructor(boss: PgBoss, database: Database, secret: Uint8Array) {
    this.#boss = boss
    this.#database = database
    this.#secret = secret
  }

  static async open({ database, config, log }: Pick<Services, 'database' | 'config' | 'log'>): Promise<JobQueue> {
    const boss = new PgBoss({
      db: { executeSql: (text, values) => database.execute(text, values) },
      schema,
      backend: database.kind === 'pglite' ? 'pglite' : 'postgres',
      schedule: false,
      supervise: true,
      superviseIntervalSeconds: 15,
      monitorIntervalSeconds: 15,
      reindex: false,
      monitorVacuum: false,
    })
    boss.on('error', (error) => log.error('the job queue failed', { error: error.message }))
    // Replicas that start together on a new database all make the queue's schema, which PostgreSQL lets one of them do.
    await boss.start({ attempts: 5 })
    for (const kind of jobKindSchema.options) await createQueues(boss, database, kind)
    return new JobQueue(boss, database, config.secret)
  }

  /**
   * Gives a subject its job, in the transaction that writes the subject. Jobs of a higher priority are leased first.
   * `attempt` is what its first lease counts: for a subject that had a job before, more than any lease of that one.
   */
  async enqueue(
    query: Transaction<Schema>,
    kind: JobKind,
    id: string,
    { priority = 0, attempt = 0 }: { priority?: number; attempt?: number } = {},
  ): Promise<void> {
    const db = fromKysely(query)
    if (attempt > 0)
      await sql`delete from jobs.job where name = ${kind} and id = ${id} and state >= 'completed'`.execute(query)
    const sent = await this.#boss.send(kind, {}, { id, priority, db })
    assert(sent !== null, `${kind} ${id} has a job already`)
    if (attempt > 0)
      await sql`
        update jobs.job set retry_count = ${attempt}, retry_limit = retry_limit + ${attempt}
        where name = ${kind} and id = ${id}`.execute(query)
  }

  /** Which of these kinds have a job that waits: one round trip, whatever there is. */
  async waiting(kinds: JobKind[]): Promise<JobKind[]> {
    const { rows } = await sql<{ kind: JobKind }>`
      select kind from unnest(${sql.val(kinds)}::text[]) with ordinality as asked (kind, place)
      where exists (
        select from jobs.job where name = kind and state < 'active' and not blocked and start_after <= jobs.job_now()
      ) order by place`.execute(this.#database.query)
    return rows.map(({ kind }) => kind)
  }

  /** The job that is next, for whoever asks first. Nobody has it yet as far as its room knows: see `claim`. */
  async next(kind: JobKind, workerId: string | null): Promise<LeasedAttempt | undefined> {
    const [job] = await this.#boss.fetch(kind)
    if (job === undefined) return undefined
    const attempt = { kind, id: job.id, attempt: job.retryCount, workerId }
    return { ...attempt, lease: leaseOf(this.#secret, attempt) }
  }

  /**
   * Begins every write about a job: locks its row until the transaction ends and prolongs the lease. Resolves to the age
   * of the lease in milliseconds. Throws `lease_lost` where the attempt is not the one under way.
   */
  async hold(query: Transaction<Schema>, { kind, id, attempt }: Attempt): Promise<{ leasedMs: number }> {
    const { rows } = await sql<{ leased_ms: number }>`
      update jobs.job set heartbeat_on = jobs.job_now()
      where name = ${kind} and id = ${id} and state = 'active' and retry_count = ${attempt}
      returning (extract(epoch from clock_timestamp() - started_on) * 1000)::float8 as leased_ms`.execute(query)
    if (rows.length === 0) throw leaseLost()
    return { leasedMs: rows[0].leased_ms }
  }

  /** As `hold`, and notes who has it: `counts` tells. */
  async claim(query: Transaction<Schema>, attempt: Attempt): Promise<void> {
    await this.hold(query, attempt)
    const { kind, id, workerId } = attempt
    const holder = JSON.stringify({ worker: workerId })
    await sql`update jobs.job set output = ${holder}::jsonb where name = ${kind} and id = ${id}`.execute(query)
  }

  /** Ends a job in the transaction of its result. Throws `lease_lost` where the attempt is not the one under way. */
  async complete(query: Transaction<Schema>, attempt: Attempt): Promise<void> {
    const { kind, id, attempt: retryCount } = attempt
    const response = await this.#boss.complete(kind, { id, retryCount }, null, { db: fromKysely(query) })
    if (affected(response) === 0) throw leaseLost()
  }

  /** Gives a job back: it waits again, at once, and the attempt is not counted. Throws `lease_lost`. */
  async release(query: Transaction<Schema>, { kind, id, attempt }: Attempt): Promise<{ leasedMs: number }> {
    const { rows } = await sql<{ leased_ms: number }>`
      update jobs.job set state = 'retry', retry_limit = retry_limit + 1, heartbeat_on = null,
        start_after = jobs.job_now()
      where name = ${kind} and id = ${id} and state = 'active' and retry_count = ${attempt}
      returning (extract(epoch from clock_timestamp() - started_on) * 1000)::float8 as leased_ms`.execute(query)
    if (rows.length === 0) throw leaseLost()
    return { leasedMs: rows[0].leased_ms }
  }

  /** Locks a job's row, whoever has it. `waiting` and `active` jobs are under way; undefined where there is none. */
  async lock(
    query: Transaction<Schema>,
    kind: JobKind,
    id: string,
  ): Promise<'waiting' | 'active' | 'over' | undefined> {
    const find = () =>
      sql<{ state: string }>`
        select state::text from jobs.job where name = ${kind} and id = ${id} for update`.execute(query)
    // A job whose lease has run out is deleted and written anew in one statement: whoever waited for the first row has to
    // look again to see the second.
    const state = ((await find()).rows[0] ?? (await find()).rows[0])?.state
    if (state === undefined || state === 'active') return state
    return state === 'created' || state === 'retry' ? 'waiting' : 'over'
  }

  /** Ends a job that waits, or is anybody's: whoever has it finds its lease lost. */
  async end(query: Transaction<Schema>, kind: JobKind, id: string): Promise<void> {
    await this.#boss.complete(kind, id, null, { db: fromKysely(query), includeQueued: true })
  }

  /** The attempt that a lease is for. Throws `lease_lost` for one that was never given, or for another kind of job. */
  attemptOf(kind: JobKind, id: string, lease: string): Attempt {
    const attempt = this.anyAttemptOf(id, lease)
    if (attempt.kind !== kind) throw leaseLost()
    return attempt
  }

  anyAttemptOf(id: string, lease: string): Attempt {
    return readLease(this.#secret, id, lease)
  }

  /** Throws `lease_lost` unless that attempt is the one under way. For reading; what writes uses `hold`. */
  async requireActive({ kind, id, attempt }: Attempt): Promise<void> {
    const { rows } = await sql`
      select from jobs.job where name = ${kind} and id = ${id} and state = 'active' and retry_count = ${attempt}`.execute(
      this.#database.query,
    )
    if (rows.length === 0) throw leaseLost()
  }

  /** Jobs that wait and jobs that are leased, and how many each worker (by id) has. */
  async counts(): Promise<{ kind: JobKind; state: 'waiting' | 'active'; worker: string | null; jobs: number }[]> {
    const { rows } = await sql<{ kind: JobKind; state: 'waiting' | 'active'; worker: string | null; jobs: number }>`
      select name as kind, case when state = 'active' then 'active' else 'waiting' end as state,
        case when state = 'active' then output ->> 'worker' end as worker, count(*)::int as jobs
      from jobs.job where state <= 'active' and name in ('check', 'evaluate', 'train')
      group by 1, 2, 3`.execute(this.#database.query)
    return rows
  }

  /**
   * Gives a subject that is under way a job, where the queue has none that will come to a result: it was lost, say, when
   * the database was restored without it. Tells whether it had to. Unless the room knows which leases were given, the count
   * begins where none of the lost job's will have been.
   */
  async recover(kind: JobKind, id: string, attempt: number = randomInt(1_000, 1_000_000)): Promise<boolean> {
    return this.#database.transaction(async (query) => {
      await this.#database.lock(query, `job:${kind}:${id}`)
      const { rows } = await sql`
        select from jobs.job where state <= 'active'
          and ((name = ${kind} and id = ${id}) or (name = ${failedQueue(kind)} and source_id = ${id}))`.execute(query)
      if (rows.length > 0) return false
      await sql`delete from jobs.job where name = ${kind} and id = ${id}`.execute(query)
      await this.enqueue(query, kind, id, { attempt })
      return true
    })
  }

  /** Takes jobs from workers that have gone silent; pg-boss does it by itself every 15 s. */
  async expireLeases(kind?: JobKind): Promise<void> {
    for (const each of kind === undefined ? jobKindSchema.options : [kind]) await this.#boss.supervise(each)
  }

  /** Gives `settle` every subject whose attempts are used up; one is gone from the list once that has succeeded. */
  async settleExhausted(kind: JobKind, settle: (id: string) => Promise<void>): Promise<void> {
    for (;;) {
      const [job] = await this.#boss.fetch(failedQueue(kind), { includeMetadata: true })
      if (job === undefined) return
      if (job.sourceId !== null) await settle(job.sourceId)
      await this.#boss.complete(failedQueue(kind), job.id)
    }
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false })
  }
}

async function createQueues(boss: PgBoss, database: Database, kind: JobKind): Promise<void> {
  const { seconds, attempts } = limits[kind]
  await boss.createQueue(failedQueue(kind), { retentionSeconds: tenYears, retryLimit: unlimited })
  await boss.createQueue(kind, {
    retryLimit: attempts - 1,
    retryDelay: 0,
    expireInSeconds: Math.min(seconds, longestOfPgBoss),
    heartbeatSeconds: leaseSeconds,
    retentionSeconds: tenYears,
    deadLetter: failedQueue(kind),
  })
  if (seconds > longestOfPgBoss)
    await database.execute(`update ${schema}.queue set expire_seconds = $1 where name = $2`, [seconds, kind])
}

/** The queue of one database, opened by whoever needs it first. Never call it within a transaction. */
export function jobQueue(services: Pick<Services, 'database' | 'config' | 'log'>): Promise<JobQueue> {
  let queue = queues.get(services.database)
  if (queue === undefined) {
    queue = JobQueue.open(services)
    queues.set(services.database, queue)
    queue.catch(() => queues.delete(services.database))
  }
  return queue
}

/** To be called before the database closes. */
export async function closeJobQueue(database: Database): Promise<void> {
  const queue = queues.get(database)
  queues.delete(database)
  await (await queue)?.close()
}

const queues = new WeakMap<Database, Promise<JobQueue>>()

/** pg-boss answers with more than its types say. */
function affected(response: unknown): number {
  return z.object({ affected: z.number() }).parse(response).affected
}
