import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findLocked, type PackageTarget, parsePackageTarget } from '@agentgym/agent/packages'
import { AgentGymError, nearestName, type ScenarioPackage } from '@agentgym/contract'
import { packageKind, readScenarioPackage } from '@agentgym/runtime/scenario-package'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { printInstalled } from '../commands/install.ts'
import { type InstallOptions, installPackage } from '../packages/install-package.ts'
import { transferProgress } from '../terminal/progress.ts'
import { safeText } from '../terminal/text.ts'

/**
 * Finds a scenario: a folder, a built-in, a package of agentgym.lock, or a package of the registry, which is installed
 * first. A range needs the registry unless it includes the locked version.
 */
export async function obtainScenarioFolder(target: string, context: CommandContext): Promise<string> {
  const local = await findLocalScenario(target, context)
  if (local !== undefined) return local
  const wanted = parsePackageTarget(target)
  if (wanted === undefined) return resolveScenarioFolder(target, context)
  return installTarget(wanted, context)
}

/** The folder of a package: the locked version, if that satisfies the range, else installed from the registry. */
export async function installTarget(wanted: PackageTarget, context: CommandContext): Promise<string> {
  const locked = await findLocked(wanted, context.io)
  if (locked === undefined) return install(wanted, {}, context)
  if (locked.folder !== null) return locked.folder
  const exact = { name: locked.name, range: locked.version }
  return install(exact, { locked: locked.integrity, lockedRange: locked.range }, context)
}

/** Errors worth showing instead of "the scenario is missing". */
const reported = ['integrity_mismatch', 'payment_required', 'hosted_only', 'package_taken_down']

/** Installs the version that an agent was trained on; undefined if it is not available. */
export async function installExact(
  { name, version }: { name: string; version: string },
  context: CommandContext,
): Promise<string | undefined> {
  const wanted = parsePackageTarget(`${name}@${version}`)
  if (wanted === undefined) return undefined
  try {
    // The working folder does not depend on it, so an evaluation leaves its lock file unchanged.
    return await install(wanted, { lock: false }, context)
  } catch (error) {
    if (error instanceof AgentGymError && !reported.includes(error.code)) return undefined
    throw error
  }
}

async function install(target: PackageTarget, options: InstallOptions, context: CommandContext): Promise<string> {
  const connection = await findConnection(context)
  const progress = transferProgress(safeText(target.name, 60), context)
  try {
    const installed = await installPackage(connection, target, { ...options, onProgress: progress.update }, context)
    progress.close()
    printInstalled(installed, context)
    return installed.folder
  } finally {
    progress.close()
  }
}

/**
 * Finds a scenario on this machine: a folder, else the name of a built-in. A folder wins over a built-in of the same name. Throws `file_not_found`.
 */
export async function resolveScenarioFolder(target: string, context: CommandContext): Promise<string> {
  const local = await findLocalScenario(target, context)
  if (local !== undefined) return local
  const names = (await builtInScenarios()).map((scenario) => unscopedName(scenario.package.name))
  const nearest = nearestName(unscopedName(target), names)
  throw new AgentGymError({
    code: 'file_not_found',
    message: `no scenario ${JSON.stringify(target.slice(0, 200))}: neither a folder nor a built-in scenario`,
    hint: nearest
      ? `Did you mean ${nearest}? List the built-in scenarios with agentgym list.`
      : 'List the built-in scenarios with agentgym list, or search the registry with agentgym search.',
    data: { target: target.slice(0, 200), ...(nearest ? { suggestion: nearest } : {}) },
  })
}

/** As `resolveScenarioFolder`; undefined if there is none. */
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

/** A built-in scenario by its name, with or without scope. */
export async function findBuiltIn(name: string): Promise<BuiltInScenario | undefined> {
  const scenarios = await builtInScenarios()
  return scenarios.find((scenario) => scenario.package.name === name || unscopedName(scenario.package.name) === name)
}

/** `@agentgym/cart-pole` → `cart-pole`. */
export function unscopedName(name: string): string {
  return name.replace(/^@[^/]*\//, '')
}
