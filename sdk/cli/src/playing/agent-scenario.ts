import { AgentGymError, type AgentManifest } from '@agentgym/contract'
import type { BuiltScenario } from '@agentgym/runtime'
import { agentGymHome } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { installExact } from '../targets/scenarios.ts'
import { scenarioOf } from '../verification/play-agent.ts'

/**
 * The scenario that an agent was trained on: the named one, a built-in, the bundle that this machine keeps, or the registry's.
 * Throws `scenario_mismatch`.
 */
export async function obtainAgentScenario(
  manifest: AgentManifest,
  target: string | undefined,
  context: CommandContext,
): Promise<BuiltScenario> {
  const runtime = await context.runtime()
  const scenario = await scenarioOf(manifest.scenario, target, runtime, context)
  try {
    return await runtime.scenarioOfAgent(manifest, { scenario, home: agentGymHome(context.io) })
  } catch (error) {
    const missing = scenario === undefined && error instanceof AgentGymError && error.code === 'scenario_mismatch'
    const installed = missing ? await installExact(manifest.scenario, context) : undefined
    if (installed === undefined) throw error
    return runtime.scenarioOfAgent(manifest, { scenario: await runtime.loadScenario(installed) })
  }
}
