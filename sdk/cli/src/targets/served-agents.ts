import type { ServedAgent } from '@agentgym/agent/server'
import { AgentGymError } from '@agentgym/contract'

/** Loads agents under the names of their packages; `sourceOf` says what `loadAgent` gets for a target. Throws `usage_invalid`. */
export async function loadServedAgents(
  targets: readonly string[],
  sourceOf: (target: string, index: number) => Promise<string>,
): Promise<ServedAgent[]> {
  const { loadAgent } = await import('@agentgym/agent')
  const agents: ServedAgent[] = []
  for (const [i, target] of targets.entries()) {
    const agent = await loadAgent(await sourceOf(target, i))
    const { name, version } = agent.package ?? { name: target, version: null }
    if (agents.some((other) => other.name === name)) {
      throw new AgentGymError({
        code: 'usage_invalid',
        message: `two of the agents are called ${name}`,
        hint: 'Serve each name once.',
        data: { name },
      })
    }
    agents.push({ name, version, agent })
  }
  return agents
}

export function disposeAgents(agents: readonly ServedAgent[]): void {
  for (const { agent } of agents) agent.dispose()
}
