import {
  Acting,
  type ActingSpaces,
  checkPolicySpaces,
  type EncoderSet,
  loadModelSession,
  TextVectors,
} from '@agentgym/agent/engine'
import { AgentGymError, type CallAnswer, callsABatch, type LeasedCalls, type PolicySpec } from '@agentgym/contract'

export type ServedCall = LeasedCalls['calls'][number]

/** Of agent.json, what acting needs. */
export type ServedManifest = { scenario: ActingSpaces; policy: PolicySpec }

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
    const onRun = (milliseconds: number) => {
      modelMs += milliseconds
    }
    const said = calls.map(({ action_mask, ...call }) => ({ ...call, action_mask: action_mask ?? undefined }))
    const failures = policy.memory === undefined ? new Map() : remember(acting, said, onRun)
    const answers = acting.decide(said, null, onRun)
    return answers.map((decided, i): CallAnswer => {
      const { id } = calls[i]
      const answer = failures.get(i) ?? decided
      if (answer instanceof AgentGymError) return { id, error: answer.toReport() }
      const { action, label, probabilities, choices, state } = answer
      // Of tools with parameters, whose probabilities are not those of whole actions.
      const tools = probabilities === null && choices !== null ? { tool_probabilities: choices } : {}
      const remembered = state === undefined ? {} : { state }
      return { id, action, label, probabilities, ...tools, ...remembered, model_ms: modelMs }
    })
  }
}

type Remembering = { observation: unknown; action_mask: unknown; state?: string | null; history?: readonly unknown[] }

/**
 * Shows the agent what the calls say that it observed before, one after another and all calls at once, and leaves in `state` what it
 * remembers of that. Masks are those of the call itself: memory does not depend on them. Returns what is wrong with a history, by call.
 */
function remember(
  acting: Acting,
  calls: Remembering[],
  onRun: (milliseconds: number) => void,
): Map<number, AgentGymError> {
  const failures = new Map<number, AgentGymError>()
  const longest = Math.max(0, ...calls.map(({ history }) => history?.length ?? 0))
  for (let turn = 0; turn < longest; turn++) {
    const due = [...calls.keys()].filter((i) => turn < (calls[i].history?.length ?? 0) && !failures.has(i))
    const shown = due.map((i) => ({ ...calls[i], observation: calls[i].history?.[turn] }))
    for (const [row, answer] of acting.decide(shown, null, onRun).entries()) {
      if (answer instanceof AgentGymError) failures.set(due[row], answer)
      else calls[due[row]].state = answer.state
    }
  }
  return failures
}
