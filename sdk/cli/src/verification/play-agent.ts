import {
  type AgentEnvironment,
  AgentGymError,
  type AgentManifest,
  type Evaluation,
  type ScenarioLogs,
  type TaskOrder,
} from '@agentgym/contract'
import type { BuiltScenario } from '@agentgym/runtime'
import { agentGymHome } from '../account/connection.ts'
import type { CommandContext, Runtime } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { type EnvironmentFlags, openEnvironment } from '../targets/environments.ts'
import { findBuiltIn, installExact, obtainScenarioFolder, unscopedName } from '../targets/scenarios.ts'
import { countProgress } from '../terminal/progress.ts'
import { warnOfMissingWalls } from '../walls.ts'

export type PlayOptions = {
  episodes?: number
  seed?: number
  /** `drawn` if absent. */
  taskOrder?: TaskOrder
  /** As the user named it; by default the agent's own scenario, from this machine or the registry. */
  scenario?: string
  /** How the environment is reached of an agent that was trained on one. */
  environment?: EnvironmentFlags
  /** Takes what the scenario logs. */
  onLogs?: (logs: ScenarioLogs) => void
}

/** Evaluates the agent in a folder on held-out episodes, in the sandbox, with a progress bar on a terminal. */
export async function playAgent(
  folder: string,
  manifest: AgentManifest,
  options: PlayOptions,
  context: CommandContext,
): Promise<Evaluation> {
  const { environment } = manifest.scenario
  if (environment !== undefined) return playInEnvironment(folder, environment, options, context)
  const runtime = await context.runtime()
  await warnOfMissingWalls(context)
  const scenario = await scenarioOf(manifest.scenario, options.scenario, runtime, context)
  const progress = countProgress('episodes', context)
  const interrupt = cancelOnInterrupt(context)
  const play = (played: BuiltScenario | undefined) =>
    runtime.evaluateAgent({
      agent: folder,
      scenario: played,
      episodes: options.episodes,
      seed: options.seed,
      taskOrder: options.taskOrder,
      home: agentGymHome(context.io),
      signal: interrupt.signal,
      onProgress: progress.update,
      onLogs: options.onLogs,
    })
  try {
    return await play(scenario).catch(async (error) => {
      // The registry may have the version that the agent was trained on.
      const missing = scenario === undefined && error instanceof AgentGymError && error.code === 'scenario_mismatch'
      const installed = missing ? await installExact(manifest.scenario, context) : undefined
      if (installed === undefined) throw error
      return play(await runtime.loadScenario(installed))
    })
  } finally {
    interrupt.release()
    progress.close()
  }
}

/** Evaluates an agent on the environment that it was trained on, which is not in the sandbox: no code of a stranger's is in it. */
async function playInEnvironment(
  folder: string,
  environment: AgentEnvironment,
  { environment: flags = {}, episodes, seed }: PlayOptions,
  context: CommandContext,
): Promise<Evaluation> {
  const runtime = await context.runtime()
  const given = { envArguments: environment.arguments, ...flags }
  const opened = await openEnvironment(flags.env ?? environmentText(environment), given, {}, context)
  const progress = countProgress('episodes', context)
  const interrupt = cancelOnInterrupt(context)
  try {
    return await runtime.evaluateAgent({
      ...{ agent: folder, environment: opened, episodes, seed },
      signal: interrupt.signal,
      onProgress: progress.update,
    })
  } finally {
    interrupt.release()
    progress.close()
    await opened.close()
  }
}

/** Only Gymnasium's are known by their id; the address of a server is the user's to name. */
function environmentText({ kind, id }: AgentEnvironment): string {
  if (kind === 'gymnasium' || kind === 'python') return `${kind}:${id}`
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `the agent was trained on ${kind}:${id}, and its package does not say where that is served`,
    hint: `Start its server, and name it: --env ${kind === 'openenv' ? 'openenv:' : ''}http://HOST:PORT`,
  })
}

/**
 * The scenario to use: the named one, else the built-in that the agent was trained on. Otherwise undefined: the runtime
 * then uses the bundle that this machine kept, or fails.
 */
export async function scenarioOf(
  { name, hash }: AgentManifest['scenario'],
  target: string | undefined,
  runtime: Runtime,
  context: CommandContext,
): Promise<BuiltScenario | undefined> {
  if (target !== undefined) return runtime.loadScenario(await obtainScenarioFolder(target, context))
  // A built-in published under another scope is the same scenario if its bundle is the same.
  const builtIn = (await findBuiltIn(name)) ?? (await findBuiltIn(unscopedName(name)))
  const built = builtIn && (await runtime.buildScenario(builtIn.folder))
  return built?.hash === hash ? built : undefined
}
