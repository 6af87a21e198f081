import { createHmac, timingSafeEqual } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { fromKysely, PgBoss } from 'pg-boss'
import { z } from 'zod'
import type { Database } from '../database/database.ts'
import type { Schema } from '../database/schema.ts'
import type { Services } from '../server/services.ts'

/** An attempt at a check. Job and version share their id, so that a version has one job at most. */
export type CheckAttempt = { versionId: string; attempt: number }

const schema = 'jobs'
const checkQueue = 'check'
/** Where jobs go whose attempts are used up. */
const failedQueue = 'check-failed'
/** How long a worker may be silent. */
const leaseSeconds = 60
/** How long one attempt may take in all, heartbeats or not. */
const attemptSeconds = 30 * 60
export const maxAttempts = 3
/** A check waits for a worker as long as it has to. */
const tenYears = 10 * 365 * 24 * 3600

/**
 * The queue of checks: pg-boss on our database, so that a job is there exactly if the version is (`enqueue` takes the
 * transaction of the publish). An attempt is fenced: pg-boss counts each claim, and the lease that a worker shows is a MAC
 * of job and count, so nothing else is stored and nobody makes one up.
 */
export class JobQueue {
  readonly #boss: PgBoss
  readonly #secret: Uint8Array

  private constructor(boss: PgBoss, secret: Uint8Array) {
    this.#boss = boss
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
    await boss.createQueue(failedQueue, { retentionSeconds: tenYears, retryLimit: 1_000_000 })
    await boss.createQueue(checkQueue, {
      retryLimit: maxAttempts - 1,
      retryDelay: 0,
      expireInSeconds: attemptSeconds,
      heartbeatSeconds: leaseSeconds,
      retentionSeconds: tenYears,
      deadLetter: failedQueue,
    })
    return new JobQueue(boss, config.secret)
  }

  async enqueue(query: Transaction<Schema>, versionId: string): Promise<void> {
    await this.#boss.send(checkQueue, { version_id: versionId }, { id: versionId, db: fromKysely(query) })
  }

  /** The job that has waited longest, for whoever asks first. */
  async lease(): Promise<(CheckAttempt & { lease: string; expiresAt: Date }) | undefined> {
    const [job] = await this.#boss.fetch<{ version_id: string }>(checkQueue)
    if (job === undefined) return undefined
    const attempt = { versionId: job.id, attempt: job.retryCount }
    return { ...attempt, lease: this.#leaseOf(attempt), expiresAt: leaseEnd() }
  }

  /** Prolongs a lease. Throws `lease_lost`. */
  async heartbeat(attempt: CheckAttempt): Promise<Date> {
    const response = await this.#boss.touch(checkQueue, idOf(attempt))
    if (affected(response) === 0) throw leaseLost()
    return leaseEnd()
  }

  /** Ends a job in the transaction of its result. Throws `lease_lost` where the attempt is not the one under way. */
  async complete(query: Transaction<Schema>, attempt: CheckAttempt): Promise<void> {
    const response = await this.#boss.complete(checkQueue, idOf(attempt), null, { db: fromKysely(query) })
    if (affected(response) === 0) throw leaseLost()
  }

  /** The attempt that a lease is for. Throws `lease_lost` for one that was never given. */
  attemptOf(versionId: string, lease: string): CheckAttempt {
    const attempt = { versionId, attempt: Number(/^(\d{1,6})\./.exec(lease)?.[1] ?? Number.NaN) }
    const expected = Buffer.from(this.#leaseOf(attempt))
    const given = Buffer.from(lease)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw leaseLost()
    return attempt
  }

  /** Whether that attempt is the one under way. */
  async isActive({ versionId, attempt }: CheckAttempt): Promise<boolean> {
    const [job] = await this.#boss.findJobs(checkQueue, { id: versionId })
    return job?.state === 'active' && job.retryCount === attempt
  }

  /**
   * Gives a version that is being checked a job, where the queue has none that will come to a result: it was lost, say, when
   * the database was restored without it. Tells whether it had to.
   */
  async recover(versionId: string): Promise<boolean> {
    // In this order: a job goes from the one queue to the other in one statement.
    const jobs = await this.#boss.findJobs(checkQueue, { id: versionId })
    const exhausted = await this.#boss.findJobs(failedQueue, { data: { version_id: versionId } })
    if ([...jobs, ...exhausted].some(({ state }) => ['created', 'retry', 'active'].includes(state))) return false
    if (jobs.length > 0) await this.#boss.deleteJob(checkQueue, versionId)
    await this.#boss.send(checkQueue, { version_id: versionId }, { id: versionId })
    return true
  }

  /** Takes jobs from workers that have gone silent; pg-boss does it by itself every 15 s. */
  async expireLeases(): Promise<void> {
    await this.#boss.supervise(checkQueue)
  }

  /** Gives `settle` every version whose attempts are used up; one is gone from the list once that has succeeded. */
  async settleExhausted(settle: (versionId: string) => Promise<void>): Promise<void> {
    for (;;) {
      const [job] = await this.#boss.fetch<{ version_id: string }>(failedQueue)
      if (job === undefined) return
      await settle(job.data.version_id)
      await this.#boss.complete(failedQueue, job.id)
    }
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false })
  }

  #leaseOf({ versionId, attempt }: CheckAttempt): string {
    const mac = createHmac('sha256', this.#secret).update(`check-lease:${versionId}:${attempt}`).digest('base64url')
    return `${attempt}.${mac}`
  }
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

function idOf({ versionId, attempt }: CheckAttempt): { id: string; retryCount: number } {
  return { id: versionId, retryCount: attempt }
}

function leaseEnd(): Date {
  return new Date(Date.now() + leaseSeconds * 1000)
}

/** pg-boss answers with more than its types say. */
function affected(response: unknown): number {
  return z.object({ affected: z.number() }).parse(response).affected
}

function leaseLost(): AgentGymError {
  return new AgentGymError({
    code: 'lease_lost',
    message: 'The lease is over: the job has gone to another worker, or has a result.',
    hint: 'Drop the job and lease another one.',
  })
}
