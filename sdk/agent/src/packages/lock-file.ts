import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError, namingFile, parseJson } from '@agentgym/contract'
import semver from 'semver'
import { z } from 'zod'
import { agentGymHome, type Surroundings } from '../home.ts'
import { findStored } from './package-store.ts'
import type { PackageTarget } from './package-target.ts'

/** In the working folder; belongs under version control, so that installs are reproducible. */
export const lockFileName = 'agentgym.lock'

const lockedPackageSchema = z.object({
  version: z.string(),
  /** The requested range, in which `outdated` looks for newer versions. */
  range: z.string(),
  /** Address of the tarball. */
  resolved: z.string(),
  integrity: z.string(),
})
export type LockedPackage = z.infer<typeof lockedPackageSchema>

const lockSchema = z.object({ lock_version: z.literal(1), packages: z.record(z.string(), lockedPackageSchema) })

/** The locked packages by name; none without a lock file. Throws `config_invalid` for a damaged one. */
export async function readLock(folder: string): Promise<Map<string, LockedPackage>> {
  const path = join(folder, lockFileName)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return new Map()
  const parsed = lockSchema.safeParse(parseJson(text))
  if (parsed.success) return new Map(Object.entries(parsed.data.packages))
  throw new AgentGymError({
    code: 'config_invalid',
    message: `${path} is not a valid lock file`,
    hint: 'Restore it from version control, or delete it and install again.',
    data: { path },
  })
}

export async function lockPackage(name: string, locked: LockedPackage, folder: string): Promise<void> {
  const packages = await readLock(folder)
  packages.set(name, locked)
  const sorted = [...packages].sort(([a], [b]) => (a < b ? -1 : 1))
  const path = join(folder, lockFileName)
  const temporary = `${path}.${randomUUID()}.tmp`
  const text = `${JSON.stringify({ lock_version: 1, packages: Object.fromEntries(sorted) }, null, 2)}\n`
  try {
    await namingFile(path, async () => {
      await writeFile(temporary, text)
      await rename(temporary, path)
    })
  } finally {
    await rm(temporary, { force: true })
  }
}

export type LockedFolder = LockedPackage & { name: string; folder: string | null }

/** The packages of agentgym.lock with their folders on this machine (null: not downloaded). */
export async function installedPackages(surroundings: Surroundings): Promise<LockedFolder[]> {
  const found: LockedFolder[] = []
  for (const [name, locked] of await readLock(surroundings.cwd)) {
    found.push({ name, ...locked, folder: await findStored(locked.integrity, agentGymHome(surroundings)) })
  }
  return found
}

/** Whether a lock entry satisfies a requested range: none, the same one, or one that includes its version. */
function satisfies(locked: LockedPackage, range: string | undefined): boolean {
  if (range === undefined || range === locked.range || range === locked.version) return true
  return semver.validRange(range) !== null && semver.satisfies(locked.version, range)
}

/** The lock entry of a package, if it satisfies the requested range. */
export async function findLocked(target: PackageTarget, surroundings: Surroundings): Promise<LockedFolder | undefined> {
  const found = (await installedPackages(surroundings)).find((one) => one.name === target.name)
  return found && satisfies(found, target.range) ? found : undefined
}
