import type { CheckReport, LeasedCheck } from '@agentgym/contract'
import { checkScenario } from '../sandbox/check-scenario.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import type { HeldLease } from './held-lease.ts'
import { inFolder, obtainPackage } from './obtain-package.ts'
import { cut, withoutFolders } from './public-report.ts'
import { scenarioFiles } from './unpack-package.ts'

/** As the contract caps them. */
const messageCharacters = 4_000

/**
 * Downloads what a job is about, holds it to its integrity and checks it in the sandbox. Gives the report; throws where
 * the fault is not the scenario's: `integrity_mismatch`, `training_failed`, `training_cancelled`, `server_unreachable`.
 */
export function checkPackage(
  lease: HeldLease,
  { package: subject }: LeasedCheck,
  options: { signal: AbortSignal; limits?: Partial<JobLimits> },
): Promise<CheckReport> {
  return inFolder(async (folder) => {
    await obtainPackage(lease, subject, folder, scenarioFiles)
    const report = await checkScenario(folder, { ...options, bundled: true, throwOwnFailures: true })
    const { name, version } = subject
    const checks = report.checks.map((check) => ({
      ...check,
      message: cut(withoutFolders(check.message, [folder]), messageCharacters),
    }))
    return { ...report, name, version, checks }
  })
}
