import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { sendResult } from '@agentgym/client'
import type { CheckReport, LeasedCheck, SampleEpisode } from '@agentgym/contract'
import { type BuiltScenario, readBundle } from '../sandbox/build-scenario.ts'
import { checkScenario } from '../sandbox/check-scenario.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { cut, withoutFolders } from './failure-report.ts'
import type { HeldLease } from './held-lease.ts'
import { type JobContext, releaseLease } from './job-context.ts'
import { inFolder, obtainPackage, type PackageOfJob } from './obtain-package.ts'
import { scenarioFiles } from './tarball.ts'
import { nameOf, type WorkerEvent } from './worker-event.ts'

/** Checks an uploaded scenario and sends the report. */
export async function doCheck(job: LeasedCheck, context: JobContext): Promise<WorkerEvent> {
  const { lease, stop, limits } = context
  const signal = AbortSignal.any([stop, lease.lost])
  try {
    const { report, sample } = await checkPackage(lease, job, { signal, limits })
    await lease.request((signal) => sendResult(lease.client, job, report, { sample, signal }))
    const failed = report.checks.filter(({ ok }) => !ok).map(({ id }) => id)
    return { event: 'finished', ...nameOf(job), ok: report.ok, failed }
  } catch (error) {
    if (stop.aborted && !lease.lost.aborted) return releaseLease(context)
    throw error
  }
}

/** As the contract caps them. */
const messageCharacters = 4_000

/**
 * Downloads the package of a job and checks it in the sandbox. Returns the report, and an episode for pictures; throws if
 * the fault is not the scenario's: `integrity_mismatch`, `training_failed`, `training_cancelled`, `server_unreachable`.
 */
function checkPackage(
  lease: HeldLease,
  { package: subject, previous: earlier }: LeasedCheck,
  options: { signal: AbortSignal; limits?: Partial<JobLimits> },
): Promise<{ report: CheckReport; sample: SampleEpisode | null }> {
  return inFolder(async (folder) => {
    await obtainPackage(lease, subject, folder, scenarioFiles)
    const previous = earlier ? await obtainPrevious(lease, earlier, folder) : earlier
    let sample: SampleEpisode | null = null
    const onSample = (episode: SampleEpisode) => {
      sample = episode
    }
    const checking = { ...options, previous, bundled: true, throwOwnFailures: true, onSample }
    const report = await checkScenario(folder, checking)
    const { name, version } = subject
    const checks = report.checks.map((check) => ({
      ...check,
      message: cut(withoutFolders(check.message, [folder]), messageCharacters),
    }))
    return { report: { ...report, name, version, checks }, sample }
  })
}

/** The published version to compare with, in a folder beside the new one's files. */
async function obtainPrevious(lease: HeldLease, earlier: PackageOfJob, parent: string): Promise<BuiltScenario> {
  const folder = path.join(parent, '.previous')
  await mkdir(folder)
  await obtainPackage(lease, earlier, folder, scenarioFiles)
  return readBundle(folder)
}
