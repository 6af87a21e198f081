import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentGymError, nearestName, type ScenarioPackage } from '@agentgym/contract'
import { packageKind, readScenarioPackage } from '@agentgym/runtime/scenario-package'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { sayInstalled } from '../commands/install.ts'
import { type InstallOptions, installPackage } from '../packages/install-package.ts'
import { findLocked } from '../packages/lock-file.ts'
import { type PackageTarget, parsePackageTarget } from '../registry/package-target.ts'
import { transferProgress } from '../terminal/progress.ts'
import { safeText } from '../terminal/text.ts'

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

/**
 * The folder of the scenario that a user named: a folder, else the name of a built-in scenario. A folder wins over a
 * built-in of the same name, as `./cart-pole` is what its author sees. Throws `file_not_found`.
 */
export async function resolveScenarioFolder(target: string, context: CommandContext): Promise<string> {
  const local = await findLocalScenario(target, context)
  if (local !== undefined) return local
  const names = (await builtInScenarios()).map((scenario) => unscopedName(scenario.package.name))
  const nearest = nearestName(unscopedName(target), names)
  throw new AgentGymError({
    code: 'file_not_found',
    message: `there is no scenario ${JSON.stringify(target.slice(0, 200))}: neither a folder nor a built-in name`,
    hint: nearest
      ? `Did you mean ${nearest}? agentgym list shows all.`
      : 'agentgym list shows the built-in scenarios, agentgym search those of the registry (@scope/name).',
    data: { target: target.slice(0, 200), ...(nearest ? { suggestion: nearest } : {}) },
  })
}

/** As `resolveScenarioFolder`; undefined where the name is neither. */
export async function findLocalScenario(target: string, context: CommandContext): Promise<string | undefined> {
  const folder = context.resolve(target)
  if (await isFolder(folder)) return folder
  return looksLikePath(target) ? undefined : (await findBuiltIn(target))?.folder
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  )
}

function looksLikePath(target: string): boolean {
  return /^[./~]/.test(target) || (target.includes('/') && !target.startsWith('@'))
}

const pluginsFolder = fileURLToPath(new URL('../../../../plugins', import.meta.url))

type BuiltInScenario = { folder: string; package: ScenarioPackage }

/** The scenarios that come with AgentGym, by name. */
export async function builtInScenarios(): Promise<BuiltInScenario[]> {
  if (!existsSync(pluginsFolder)) return []
  const entries = await readdir(pluginsFolder, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(pluginsFolder, entry.name))
  const found: BuiltInScenario[] = []
  for (const folder of folders.sort()) {
    if (packageKind(folder) === 'scenario') found.push({ folder, package: readScenarioPackage(folder) })
  }
  return found
}

/** The built-in scenario of a name, with its scope or without it. */
export async function findBuiltIn(name: string): Promise<BuiltInScenario | undefined> {
  const scenarios = await builtInScenarios()
  return scenarios.find((scenario) => scenario.package.name === name || unscopedName(scenario.package.name) === name)
}

/** `@agentgym/cart-pole` → `cart-pole`. */
export function unscopedName(name: string): string {
  return name.replace(/^@[^/]*\//, '')
}
