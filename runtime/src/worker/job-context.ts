import { releaseJob } from '@agentgym/client'
import type { LeasedJob, ProgressEvent, WorkerUsage } from '@agentgym/contract'
import type { JobLimits } from '../sandbox/limits.ts'
import type { HeldLease } from './held-lease.ts'
import { nameOf, type OnWorkerEvent, type WorkerEvent } from './worker-event.ts'

/** What every kind of job is done with. */
export type JobContext = {
  lease: HeldLease
  /** The worker is told to stop: what can be kept is kept, and the job given back. */
  stop: AbortSignal
  usage(): WorkerUsage
  onEvent: OnWorkerEvent
  trace: JobTrace
  limits?: Partial<JobLimits>
}

/** The span of one job. */
export type JobTrace = {
  /** An iteration that the trainer has just done. */
  iteration(point: ProgressEvent): void
  end(event: WorkerEvent): void
}

/** What traces a worker's jobs. Here only what the worker needs of it: the library is loaded where tracing is on. */
export type WorkerTracing = {
  /** Goes on with the trace of whoever asked for the job. */
  job(job: LeasedJob): JobTrace
  /** Sends what is left. Does not fail; waits for a collector that does not answer for a few seconds at most. */
  close(): Promise<void>
}

/** Gives the job back for another worker to go on with. */
export async function giveBack({ lease }: JobContext, meteredMs?: number): Promise<WorkerEvent> {
  const reason = 'the worker stops'
  await lease.request((signal) => releaseJob(lease.client, lease.job, { reason, meteredMs, signal }))
  return { event: 'released', ...nameOf(lease.job) }
}
