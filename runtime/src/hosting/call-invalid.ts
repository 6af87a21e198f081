import { AgentGymError } from '@agentgym/contract'

/** What a caller got wrong. `message` says where, what belongs there and what came; `expected` the whole space in a few words. */
export function callInvalid(field: 'observation' | 'action_mask', message: string, expected: string): AgentGymError {
  return new AgentGymError({
    code: 'observation_invalid',
    message,
    hint: `Send ${field} as the scenario gives it: ${expected}.`,
    data: { field, expected },
  })
}
