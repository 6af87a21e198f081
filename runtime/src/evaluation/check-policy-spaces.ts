import { isDeepStrictEqual } from 'node:util'
import { AgentGymError, type PolicySpec } from '@agentgym/contract'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'

/**
 * Holds the policy of an agent's manifest to the spaces that it acts in: leaves, their names, sizes and places in the flat
 * rows must be those that training would give it. Throws `agent_invalid`.
 */
export function checkPolicySpaces(
  policy: PolicySpec,
  spaces: Pick<ScenarioDescription, 'observation' | 'action'>,
): void {
  const own = buildPolicySpec(spaces, policy)
  for (const side of ['observation', 'action'] as const) {
    if (isDeepStrictEqual(own[side], policy[side])) continue
    throw new AgentGymError({
      code: 'agent_invalid',
      message: `agent.json: the policy's ${side} is not the scenario's ${side} space.`,
      hint: 'Take agent.json from a training run, unchanged.',
      data: { file: 'agent.json', field: `policy.${side}` },
    })
  }
}
