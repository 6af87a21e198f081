import type { Heartbeat, JobKind, LeasedJob, WorkerDescription } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { WorkerPlace } from './worker-place.ts'

/** One worker's turn at a job. Job and subject (version, evaluation, run) share their id, so a subject has one job at most. */
export type Attempt = {
  kind: JobKind
  id: string
  /** Fencing token: grows with every lease, from 0. */
  attempt: number
  /** Null for workers that did not identify themselves. */
  workerId: string | null
}

/** An attempt just begun, and the lease that its worker will present. */
export type LeasedAttempt = Attempt & { lease: string }

type BodyOf<Job> = Job extends LeasedJob ? Omit<Job, 'id' | 'lease' | 'expires_at'> : never
/** What a worker is given of a job beside its lease. */
export type JobBody = BodyOf<LeasedJob>

/**
 * What a module does about its kind of jobs. Every `query` is a transaction that has locked the job's row already; locks are
 * taken in the order job, run, package.
 */
export type JobHandler = {
  kind: JobKind
  /** The job for the worker that has just leased it; undefined if nothing is left to do: the job is then completed. */
  describe(
    query: Transaction<Schema>,
    attempt: LeasedAttempt,
    worker: WorkerDescription | undefined,
  ): Promise<JobBody | undefined>
  /** Whether this worker may have such jobs at all. Absent: every worker may. */
  admits?(worker: WorkerPlace): Promise<boolean>
  /** All attempts have failed: called once, in the transaction that ends the job. */
  exhausted(query: Transaction<Schema>, id: string): Promise<void>
  /** What `describe`, `released` or `exhausted` has changed is committed. */
  changed?(id: string): void
  /** The worker releases the job, which waits again; the attempt does not count. */
  released?(query: Transaction<Schema>, attempt: Attempt, release: Release): Promise<void>
  /** Whether the worker should end it, and why. */
  heartbeat?(query: Transaction<Schema>, attempt: Attempt): Promise<Pick<Heartbeat, 'stop'>>
}

export type Release = {
  reason: string
  /** Training time of the attempt in milliseconds, if the worker reports it. */
  meteredMs: number | undefined
  /** Since the lease was given. */
  leasedMs: number
}
