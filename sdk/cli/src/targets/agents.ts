import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findLocked, parsePackageTarget } from '@agentgym/agent/packages'
import { AgentGymError, nearestName } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { looksLikeId } from '../registry/find-by-id.ts'
import { findLocalRun } from '../runs/local-runs.ts'
import { installTarget, unscopedName } from './scenarios.ts'

/** Where `train` writes agents and `list` finds them. */
export const agentsFolder = 'agents'

/**
 * Finds an agent: a folder with an agent.json, else a package of agentgym.lock, else the name of a folder in ./agents. Throws `file_not_found`.
 */
export async function resolveAgentFolder(target: string, context: CommandContext): Promise<string> {
  const wanted = parsePackageTarget(target)
  const installed = wanted && (await findLocked(wanted, context.io))?.folder
  const candidates = [target, ...(installed ? [installed] : []), join(agentsFolder, unscopedName(target))]
  const found = candidates
    .map((folder) => context.resolve(folder))
    .find((folder) => existsSync(join(folder, 'agent.json')))
  if (found) return found
  const names = (await findAgents(context.resolve(agentsFolder))).map((agent) => agent.name)
  const nearest = nearestName(target, names)
  throw new AgentGymError({
    code: 'file_not_found',
    message: `no agent ${JSON.stringify(target.slice(0, 200))}: no folder of that name contains an agent.json`,
    hint: nearest
      ? `Did you mean ${join(agentsFolder, nearest)}?`
      : 'Use the folder that agentgym train printed. List the agents in ./agents with agentgym list.',
    data: { target: target.slice(0, 200), ...(nearest ? { suggestion: join(agentsFolder, nearest) } : {}) },
  })
}

/**
 * Finds an agent as `resolveAgentFolder` does; else a run of this machine by its ID, or a package of the registry, which is
 * installed first, with the price and the license that any download has.
 */
export async function obtainAgentFolder(target: string, context: CommandContext): Promise<string> {
  const wanted = parsePackageTarget(target)
  const here = existsSync(context.resolve(target))
  if (wanted !== undefined && !here) return installTarget(wanted, context)
  const run = looksLikeId(target) && !here ? await findLocalRun(context.io, target) : null
  return resolveAgentFolder(run === null ? target : run.agent, context)
}

/** The subfolders of `parent` with an agent.json, by name. None for a missing parent. */
export async function findAgents(parent: string): Promise<{ name: string; folder: string }[]> {
  if (!existsSync(parent)) return []
  const entries = await readdir(parent, { withFileTypes: true })
  return entries
    .map((entry) => ({ name: entry.name, folder: join(parent, entry.name) }))
    .filter(({ folder }) => existsSync(join(folder, 'agent.json')))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
