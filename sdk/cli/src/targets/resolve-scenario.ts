import { stat } from 'node:fs/promises'
import { AgentGymError, nearestName } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { builtInScenarios, findBuiltIn, unscopedName } from './built-in-scenarios.ts'

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
