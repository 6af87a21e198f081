import { releaseJob } from '@agentgym/client'
import type { WorkerUsage } from '@agentgym/contract'
import type { JobLimits } from '../sandbox/limits.ts'
import type { HeldLease } from './held-lease.ts'
import type { JobTrace } from './job-trace.ts'
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

/** Gives the job back for another worker to go on with. */
export async function giveBack({ lease }: JobContext, meteredMs?: number): Promise<WorkerEvent> {
  const reason = 'the worker stops'
  await lease.request((signal) => releaseJob(lease.client, lease.job, { reason, meteredMs, signal }))
  return { event: 'released', ...nameOf(lease.job) }
}
