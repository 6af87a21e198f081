import {
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
import { findBuiltIn, installExact, obtainScenarioFolder, unscopedName } from '../targets/scenarios.ts'
import { episodeProgress } from '../terminal/progress.ts'
import { warnOfMissingWalls } from '../walls.ts'

export type PlayOptions = {
  episodes?: number
  seed?: number
  /** `drawn` if absent. */
  taskOrder?: TaskOrder
  /** As the user named it; by default the agent's own scenario, from this machine or the registry. */
  scenario?: string
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
  const runtime = await context.runtime()
  await warnOfMissingWalls(context)
  const scenario = await scenarioOf(manifest.scenario, options.scenario, runtime, context)
  const progress = episodeProgress(context)
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
