import semver from 'semver'
import { agentGymHome } from '../account/agentgym-home.ts'
import type { CommandContext } from '../command-context.ts'
import type { PackageTarget } from '../registry/package-target.ts'
import { type LockedPackage, readLock } from './lock-file.ts'
import { findStored } from './package-store.ts'

export type LockedFolder = LockedPackage & { name: string; folder: string | null }

/** What agentgym.lock names, and where it lies on this machine (null: not yet). */
export async function installedPackages({ io }: CommandContext): Promise<LockedFolder[]> {
  const found: LockedFolder[] = []
  for (const [name, locked] of await readLock(io.cwd)) {
    found.push({ name, ...locked, folder: await findStored(locked.integrity, agentGymHome(io)) })
  }
  return found
}

/** Whether a lock entry answers what was asked for: nothing in particular, the same words, or a range that it lies in. */
function satisfies(locked: LockedPackage, range: string | undefined): boolean {
  if (range === undefined || range === locked.range || range === locked.version) return true
  return semver.validRange(range) !== null && semver.satisfies(locked.version, range)
}

/** The lock's entry for a package, where it answers what was asked for. */
export async function findLocked(target: PackageTarget, context: CommandContext): Promise<LockedFolder | undefined> {
  const found = (await installedPackages(context)).find((one) => one.name === target.name)
  return found && satisfies(found, target.range) ? found : undefined
}
