import { AgentGymError } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { sayInstalled } from '../commands/install.ts'
import { type InstallOptions, installPackage } from '../packages/install-package.ts'
import { findLocked } from '../packages/installed-packages.ts'
import { type PackageTarget, parsePackageTarget } from '../registry/package-target.ts'
import { safeText } from '../terminal/safe-text.ts'
import { transferProgress } from '../terminal/transfer-progress.ts'
import { findLocalScenario, resolveScenarioFolder } from './resolve-scenario.ts'

/**
 * The folder of the scenario that a user named, wherever it is: a folder, a built-in, what agentgym.lock names, and at
 * last the registry, from which it is installed first. A range asks the registry unless the lock's version lies in it.
 */
export async function obtainScenarioFolder(target: string, context: CommandContext): Promise<string> {
  const local = await findLocalScenario(target, context)
  if (local !== undefined) return local
  const wanted = parsePackageTarget(target)
  if (wanted === undefined) return resolveScenarioFolder(target, context)
  const locked = await findLocked(wanted, context)
  if (locked === undefined) return install(wanted, {}, context)
  if (locked.folder !== null) return locked.folder
  const exact = { name: locked.name, range: locked.version }
  return install(exact, { locked: locked.integrity, lockedRange: locked.range }, context)
}

/** What says more than that the scenario is not here. */
const telling = ['integrity_mismatch', 'payment_required', 'hosted_only', 'package_taken_down']

/** The version that an agent was trained on, from the registry; undefined where it cannot be had. */
export async function installExact(
  { name, version }: { name: string; version: string },
  context: CommandContext,
): Promise<string | undefined> {
  const wanted = parsePackageTarget(`${name}@${version}`)
  if (wanted === undefined) return undefined
  try {
    // The working folder does not depend on it: an evaluation changes no lock file.
    return await install(wanted, { lock: false }, context)
  } catch (error) {
    if (error instanceof AgentGymError && !telling.includes(error.code)) return undefined
    throw error
  }
}

async function install(target: PackageTarget, options: InstallOptions, context: CommandContext): Promise<string> {
  const connection = await findConnection(context)
  const progress = transferProgress(safeText(target.name, 60), context)
  try {
    const installed = await installPackage(connection, target, { ...options, onProgress: progress.update }, context)
    progress.close()
    sayInstalled(installed, context)
    return installed.folder
  } finally {
    progress.close()
  }
}
