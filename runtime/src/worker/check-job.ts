import { sendResult } from '@agentgym/client'
import type { LeasedCheck } from '@agentgym/contract'
import { checkPackage } from './check-package.ts'
import { giveBack, type JobContext } from './job-context.ts'
import { nameOf, type WorkerEvent } from './worker-event.ts'

/** Checks an uploaded scenario and hands the report in. */
export async function doCheck(job: LeasedCheck, context: JobContext): Promise<WorkerEvent> {
  const { lease, stop, limits } = context
  const signal = AbortSignal.any([stop, lease.lost])
  try {
    const { report, sample } = await checkPackage(lease, job, { signal, limits })
    await lease.request((signal) => sendResult(lease.client, job, report, { sample, signal }))
    const failed = report.checks.filter(({ ok }) => !ok).map(({ id }) => id)
    return { event: 'finished', ...nameOf(job), ok: report.ok, failed }
  } catch (error) {
    if (stop.aborted && !lease.lost.aborted) return giveBack(context)
    throw error
  }
}
