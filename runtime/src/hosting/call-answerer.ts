import {
  Acting,
  checkPolicySpaces,
  type EncoderSet,
  loadModelSession,
  type Spaces,
  TextVectors,
} from '@agentgym/agent/engine'
import { AgentGymError, type CallAnswer, callsABatch, type LeasedCalls, type PolicySpec } from '@agentgym/contract'

export type ServedCall = LeasedCalls['calls'][number]

/** Of agent.json, what acting needs. */
export type ServedManifest = { scenario: Spaces; policy: PolicySpec }

/** At most `callsABatch` calls, one answer each, in their order. */
export type CallAnswerer = (calls: ServedCall[]) => CallAnswer[]

/**
 * Loads a model, and answers calls with what evaluation would do upon their observations: greedily, in batches of
 * evaluation's size, whose numbers round the same way. What is wrong with a call, or comes of it, is that call's answer alone.
 *
 * Does not walk the model: it is given what the walk has written. Blocks its thread for as long as ONNX Runtime takes, which may be for ever.
 * Throws `agent_invalid` and `model_load_failed`.
 */
export function callAnswerer(
  { scenario, policy }: ServedManifest,
  model: Uint8Array,
  encoders: EncoderSet = {},
): CallAnswerer {
  checkPolicySpaces(policy, scenario)
  const session = loadModelSession(model, policy, { batch: callsABatch, walk: false })
  const acting = new Acting(session, scenario, new TextVectors(encoders))
  return (calls) => {
    let modelMs = 0
    const answers = acting.decide(calls, null, (milliseconds) => {
      modelMs = milliseconds
    })
    return answers.map((answer, i): CallAnswer => {
      const { id } = calls[i]
      if (answer instanceof AgentGymError) return { id, error: answer.toReport() }
      const { value: _, choices: __, ...action } = answer
      return { id, ...action, model_ms: modelMs }
    })
  }
}
