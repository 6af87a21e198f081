import type { Heartbeat, JobKind, LeasedJob, WorkerDescription } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { WorkerPlace } from './worker-place.ts'

/**
 * One attempt of a worker at a job. A job has the ID of its subject (version, evaluation, run), so a subject has at
 * most one job.
 */
export type Attempt = {
  kind: JobKind
  id: string
  /** Fencing token: grows with every lease, from 0. */
  attempt: number
  /** Null for workers that did not identify themselves. */
  workerId: string | null
}

/** A new attempt and its worker's lease. */
export type LeasedAttempt = Attempt & {
  lease: string
  /** Absent: the worker has the job alone. */
  gang?: Gang | undefined
}

/** The workers that have a job together, under one lease. */
export type Gang = {
  /** Of this worker; 0 owns the lease, and reports. */
  rank: number
  workers: number
  /** Where rank 0 listens for the others, as `host:port`. */
  address: string
  /** Proves to the others that a worker is one of them. */
  secret: string
  names: string[]
  /** Of all of them. */
  priceMinorPerHour: number
}

type BodyOf<Job> = Job extends LeasedJob ? Omit<Job, 'id' | 'lease' | 'expires_at'> : never
/** A job as sent to a worker, without its lease. */
export type JobBody = BodyOf<LeasedJob>

/**
 * A module's handler for its kind of jobs. Every `query` is a transaction that has already locked the job's row. Locks
 * are taken in the order job, run, package.
 */
export type JobHandler = {
  kind: JobKind
  /**
   * The job for the worker that just leased it; undefined if nothing is left to do, in which case the job is completed.
   */
  describe(
    query: Transaction<Schema>,
    attempt: LeasedAttempt,
    worker: WorkerDescription | undefined,
  ): Promise<JobBody | undefined>
  /** Whether this worker may run such jobs. Default: every worker. */
  admits?(worker: WorkerPlace): Promise<boolean>
  /** Called once if all attempts have failed, in the transaction that ends the job. */
  exhausted(query: Transaction<Schema>, id: string): Promise<void>
  /** Called after the changes of `describe`, `released` or `exhausted` are committed. */
  changed?(id: string): void
  /** Called when a worker releases the job, which waits again; the attempt does not count. */
  released?(query: Transaction<Schema>, attempt: Attempt, release: Release): Promise<void>
  /** Whether the worker should end it, and why. */
  heartbeat?(query: Transaction<Schema>, attempt: Attempt): Promise<Pick<Heartbeat, 'stop'>>
}

export type Release = {
  reason: string
  /** Whether the attempt came to nothing, and counts. */
  failed: boolean
  /** Training time of the attempt in milliseconds, if the worker reports it. */
  meteredMs: number | undefined
  /** Milliseconds since the lease was granted. */
  leasedMs: number
}
