import type { CheckReport, LeasedCheck, SampleEpisode } from '@agentgym/contract'
import { checkScenario } from '../sandbox/check-scenario.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import type { HeldLease } from './held-lease.ts'
import { inFolder, obtainPackage } from './obtain-package.ts'
import { cut, withoutFolders } from './public-report.ts'
import { scenarioFiles } from './unpack-package.ts'

/** As the contract caps them. */
const messageCharacters = 4_000

/**
 * Downloads what a job is about, holds it to its integrity and checks it in the sandbox. Gives the report, and an episode
 * for pictures; throws where the fault is not the scenario's: `integrity_mismatch`, `training_failed`, `training_cancelled`, `server_unreachable`.
 */
export function checkPackage(
  lease: HeldLease,
  { package: subject }: LeasedCheck,
  options: { signal: AbortSignal; limits?: Partial<JobLimits> },
): Promise<{ report: CheckReport; sample: SampleEpisode | null }> {
  return inFolder(async (folder) => {
    await obtainPackage(lease, subject, folder, scenarioFiles)
    let sample: SampleEpisode | null = null
    const onSample = (episode: SampleEpisode) => {
      sample = episode
    }
    const report = await checkScenario(folder, { ...options, bundled: true, throwOwnFailures: true, onSample })
    const { name, version } = subject
    const checks = report.checks.map((check) => ({
      ...check,
      message: cut(withoutFolders(check.message, [folder]), messageCharacters),
    }))
    return { report: { ...report, name, version, checks }, sample }
  })
}
