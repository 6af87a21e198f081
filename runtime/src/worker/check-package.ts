import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Client, downloadPackage } from '@agentgym/client'
import type { CheckReport, LeasedJob } from '@agentgym/contract'
import { checkScenario } from '../sandbox/check-scenario.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { unpackScenario } from './unpack-scenario.ts'

/** As the contract caps them. */
const MESSAGE_CHARACTERS = 4_000

/**
 * Downloads what a job is about, holds it to its integrity and checks it in the sandbox. Gives the report; throws where
 * the fault is not the scenario's: `integrity_mismatch`, `training_failed`, `training_cancelled`, `server_unreachable`.
 */
export async function checkPackage(
  client: Client,
  { package: subject }: LeasedJob,
  options: { signal: AbortSignal; limits?: Partial<JobLimits> },
): Promise<CheckReport> {
  const { name, version, integrity, tarball_url } = subject
  const what = `${name}@${version}`
  const tarball = await downloadPackage(client, { what, tarball: tarball_url, integrity, signal: options.signal })
  const folder = await mkdtemp(path.join(tmpdir(), 'agentgym-check-'))
  try {
    await unpackScenario(tarball, folder)
    const report = await checkScenario(folder, { ...options, bundled: true, throwOwnFailures: true })
    const checks = report.checks.map((check) => ({ ...check, message: shown(check.message, folder) }))
    return { ...report, name, version, checks }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A message without our folder's name, which says nothing to the author, and within its cap. */
function shown(message: string, folder: string): string {
  const text = message.replaceAll(folder + path.sep, '').replaceAll(folder, 'the package')
  return text.length <= MESSAGE_CHARACTERS ? text : `${text.slice(0, MESSAGE_CHARACTERS - 1)}…`
}
