import { AgentGymError, type LeasedTraining } from '@agentgym/contract'
import { scenarioCode } from '../sandbox/scenario-code.ts'
import { locateFault } from '../sandbox/source-place.ts'
import { isRankLost } from '../training/joined-run.ts'
import type { Together } from '../training/run-together.ts'
import { runTraining } from '../training/run-training.ts'
import { hasDied, publicReport } from './failure-report.ts'
import { type JobContext, type RunBegin, releaseLease } from './job-context.ts'
import { leaseLost, pause } from './server-requests.ts'
import { nameOf, type WorkerEvent } from './worker-event.ts'

/*
 * A run of several workers: each trains a share of it in one process, and all have one lease. Rank 0 reports as if it were alone.
 * The others say that the run has failed on them, that the attempt has, or that their part is done.
 */

/** All have come when the lease was given, so what takes longer will not happen. */
const meetingSeconds = 120

/** How the worker's process joins the others. Undefined: it trains alone. */
export function togetherOf(gang: LeasedTraining['run']['gang']): Together | undefined {
  if (!gang) return undefined
  const { rank: host, workers: hosts, secret } = gang
  const end = gang.address.lastIndexOf(':')
  const address = gang.address.slice(0, end).replace(/^\[|\]$/g, '')
  const port = Number(gang.address.slice(end + 1))
  const rendezvous = { address, port, host, hosts, secret, timeoutSeconds: meetingSeconds }
  // The next attempt has all workers again, and repeats what this one did, bit for bit.
  return { processes: 1, rendezvous, salvage: 'drop' }
}

/** Trains the share of a worker other than rank 0, which reports nothing. */
export async function trainAsMember(
  job: LeasedTraining,
  { lease, stop, limits }: JobContext,
  { scenario, plan, checkpoint, start }: RunBegin,
): Promise<WorkerEvent> {
  const { run } = job
  await runTraining({
    ...{ scenario: await scenarioCode(scenario), success: scenario.package.agentgym.success },
    ...{ plan, seed: run.seed, checkpoint, start, pauseAt: run.pause_at ?? undefined, limits, gpus: [] },
    onProgress: () => {},
    onCheckpoint: () => {},
    stop: AbortSignal.any([lease.stop, stop]),
    signal: lease.lost,
    together: togetherOf(run.gang),
  }).catch((error: unknown) => {
    throw locateFault(error, scenario.sourceMap, { frames: false })
  })
  await releaseLease({ lease }, { reason: 'its part is done', end: 'finished' })
  return { event: 'finished', ok: true, failed: [], ...nameOf(job) }
}

/** Whether a failure ends an attempt of several workers, and not the run: one of them was lost, or its trainer was. */
export function isGangFailure({ run }: LeasedTraining, error: unknown): error is AgentGymError {
  return run.gang != null && error instanceof AgentGymError && (isRankLost(error) || hasDied(error))
}

/** Ends the attempt for all workers; the run is queued again. `drain` sends what it came to before. */
export async function failAttempt(
  error: AgentGymError,
  { lease, heartbeatMs }: JobContext,
  drain: () => Promise<void>,
): Promise<WorkerEvent> {
  await drain()
  // Who was lost may still say why: that the run has failed ends it.
  if (isRankLost(error)) await pause(1.5 * heartbeatMs, lease.lost)
  if (lease.lost.aborted) throw leaseLost()
  return releaseLease({ lease }, { reason: publicReport(error).message.slice(0, 400), end: 'failed' })
}
