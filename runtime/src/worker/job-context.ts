import { releaseJob, type SeatEnd } from '@agentgym/client'
import type { LeasedJob, ProgressEvent, TrainingPlan, WorkerUsage } from '@agentgym/contract'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import type { WarmStart } from '../training/warm-start.ts'
import type { HeldLease } from './held-lease.ts'
import { nameOf, type OnWorkerEvent, type WorkerEvent } from './worker-event.ts'

/** What every kind of job needs. */
export type JobContext = {
  lease: HeldLease
  /** The worker is stopping: keep partial results and release the job. */
  stop: AbortSignal
  usage(): WorkerUsage
  onEvent: OnWorkerEvent
  trace: JobTrace
  limits?: Partial<JobLimits>
  /** Interval of the lease's heartbeats. */
  heartbeatMs: number
  /** UUIDs of the GPUs that it has to itself. */
  gpus: readonly string[]
}

/** What a run begins or continues with. */
export type RunBegin = {
  scenario: BuiltScenario
  plan: TrainingPlan
  checkpoint: Uint8Array | null
  start: WarmStart | null
}

/** The span of one job. */
export type JobTrace = {
  /** An iteration that the trainer has completed. */
  iteration(point: ProgressEvent): void
  end(event: WorkerEvent): void
}

/** Traces a worker's jobs. The library is loaded only if tracing is enabled. */
export type WorkerTracing = {
  /** Continues the trace of the job's requester. */
  job(job: LeasedJob): JobTrace
  /** Sends remaining spans. Never rejects; waits at most a few seconds for the collector. */
  close(): Promise<void>
}

/** Releases the job, for another worker to continue. */
export async function releaseLease(
  { lease }: Pick<JobContext, 'lease'>,
  { reason = 'the worker stops', ...release }: { reason?: string; meteredMs?: number; end?: SeatEnd } = {},
): Promise<WorkerEvent> {
  await lease.request((signal) => releaseJob(lease.client, lease.job, { reason, ...release, signal }))
  return { event: 'released', ...nameOf(lease.job) }
}
