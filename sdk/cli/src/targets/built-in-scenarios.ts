import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ScenarioPackage } from '@agentgym/contract'
import { packageKind, readScenarioPackage } from './read-scenario-package.ts'

const pluginsFolder = fileURLToPath(new URL('../../../../plugins', import.meta.url))

export type BuiltInScenario = { folder: string; package: ScenarioPackage }

/** The scenarios that come with AgentGym, by name. */
export async function builtInScenarios(): Promise<BuiltInScenario[]> {
  if (!existsSync(pluginsFolder)) return []
  const entries = await readdir(pluginsFolder, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(pluginsFolder, entry.name))
  const found: BuiltInScenario[] = []
  for (const folder of folders.sort()) {
    if ((await packageKind(folder)) === 'scenario') found.push({ folder, package: await readScenarioPackage(folder) })
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
