import type { Heartbeat, JobKind, LeasedJob, WorkerDescription } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'

/** One worker's turn at a job. Job and subject (version, evaluation, run) share their id, so a subject has one job at most. */
export type Attempt = {
  kind: JobKind
  id: string
  /** Grows with every lease: what fences one worker from the next. */
  attempt: number
  /** Null for workers that did not say who they are. */
  workerId: string | null
}

/** An attempt just begun, and what its worker will show. */
export type LeasedAttempt = Attempt & { lease: string }

type BodyOf<Job> = Job extends LeasedJob ? Omit<Job, 'id' | 'lease' | 'expires_at'> : never
/** What a worker is told of a job beside its lease. */
export type JobBody = BodyOf<LeasedJob>

/**
 * What a room does about its kind of jobs. Every `query` is a transaction that holds the job's row already; locks are taken
 * in the order job, run, package.
 */
export type JobHandler = {
  kind: JobKind
  /** The job for whoever has just leased it; undefined where there is nothing to do any more: the job is completed then. */
  describe(
    query: Transaction<Schema>,
    attempt: LeasedAttempt,
    worker: WorkerDescription | undefined,
  ): Promise<JobBody | undefined>
  /** The attempts are used up. Must bear being called twice. */
  exhausted(id: string): Promise<void>
  /** What `describe` or `released` has changed is committed. */
  changed?(id: string): void
  /** The worker gives it back; the job is in the queue again, and its attempt not counted. */
  released?(query: Transaction<Schema>, attempt: Attempt, release: Release): Promise<void>
  /** Whether the worker is to end it, and why. */
  heartbeat?(query: Transaction<Schema>, attempt: Attempt): Promise<Pick<Heartbeat, 'stop'>>
}

export type Release = {
  reason: string
  /** Training time of the attempt, in milliseconds, where the worker tells it. */
  meteredMs: number | undefined
  /** Since the lease was given. */
  leasedMs: number
}
