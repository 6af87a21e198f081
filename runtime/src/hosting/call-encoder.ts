import type { AgentManifest, LeasedCalls } from '@agentgym/contract'
import { maskEncoder, observationEncoder, Problem } from '@agentgym/scenario/engine'
import { describeSpace } from '../sandbox/checks/describe-space.ts'
import { callInvalid } from './call-invalid.ts'
import { flattenBoxes } from './flatten-boxes.ts'

export type ServedCall = LeasedCalls['calls'][number]
export type ServedSpaces = Pick<AgentManifest['scenario'], 'observation' | 'action'>

/**
 * Writes a call into the rows that the policy reads, by the engine's own encoders: as in training. Without a mask everything
 * is legal. Throws `observation_invalid`; the rows then hold an observation of zeros and no mask.
 */
export type CallEncoder = (call: ServedCall, observation: Float32Array, mask: Uint8Array) => void

/** Compiles the encoders of an agent's spaces. */
export function callEncoder({ observation: observed, action }: ServedSpaces): CallEncoder {
  const writeObservation = observationEncoder(observed)
  const writeMask = maskEncoder(action, 'action_mask')
  const expected = {
    observation: describeSpace(observed),
    action_mask: `booleans, one a choice of ${describeSpace(action)}`,
  }
  const invalid = (field: keyof typeof expected, message: string) => callInvalid(field, `${message}.`, expected[field])
  const asCallers = (field: keyof typeof expected, write: () => void) => {
    try {
      write()
    } catch (thrown) {
      throw Problem.is(thrown) ? invalid(field, thrown.message) : thrown
    }
  }
  return (call, observation, mask) => {
    observation.fill(0)
    mask.fill(1)
    try {
      asCallers('observation', () => {
        const refuse = (message: string): never => {
          throw invalid('observation', message)
        }
        writeObservation(flattenBoxes(observed, call.observation, refuse), observation, 0)
      })
      if (call.action_mask === null) return
      // A box cannot be masked: whoever sends a mask for one would be misled.
      if (mask.length === 0)
        throw invalid('action_mask', 'action_mask was sent, and the action has no choices to leave out')
      asCallers('action_mask', () => writeMask(call.action_mask, mask, 0))
    } catch (error) {
      observation.fill(0)
      mask.fill(1)
      throw error
    }
  }
}
