import { AgentGymError, type CallAnswer, callsABatch, type ErrorReport, type PolicySpec } from '@agentgym/contract'
import { stateSize } from '@agentgym/contract/model'
import { actionComponents } from '../policy/action-components.ts'
import { greedyActions } from '../policy/action-sampling.ts'
import { loadModelSession, type PolicySession } from '../policy/policy-session.ts'
import { checkPolicySpaces } from '../policy/policy-spec.ts'
import { type EncoderSet, TextVectors } from '../text-encoder/text-vectors.ts'
import {
  actionDescriber,
  callEncoder,
  choiceProbabilities,
  readState,
  type ServedCall,
  type ServedSpaces,
  writeState,
} from './call-codec.ts'

/** Of agent.json, what acting needs. */
export type ServedManifest = { scenario: ServedSpaces; policy: PolicySpec }

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
  const rows = new CallRows(policy)
  const encode = callEncoder(scenario, new TextVectors(encoders))
  const act = actingBy(session, rows, actionDescriber(scenario.action))
  return (calls) => {
    const answers = new Map<ServedCall, CallAnswer>()
    rows.clear()
    const encoded = calls.flatMap((call, row) => {
      try {
        writeState(call, rows.state(row))
        encode(call, rows.observation(row), rows.mask(row))
        return [{ call, row }]
      } catch (error) {
        answers.set(call, { id: call.id, error: reportOf(error) })
        return []
      }
    })
    for (const { call, answer } of act(encoded)) answers.set(call, answer)
    return calls.flatMap((call) => answers.get(call) ?? [])
  }
}

type EncodedCall = { call: ServedCall; row: number }
type Acted = { call: ServedCall; answer: CallAnswer }

function actingBy(session: PolicySession, rows: CallRows, describe: ReturnType<typeof actionDescriber>) {
  const answerOf = ({ call, row }: EncodedCall, modelMs: number): CallAnswer => {
    try {
      const distribution = rows.distribution(session, row)
      const odd = distribution.find((number) => !Number.isFinite(number))
      if (odd !== undefined) throw outputInvalid(odd)
      const masks = rows.mask(row)
      greedyActions({ spec: session.spec, distribution, masks, rows: 1 }, rows.action)
      const probabilities = choiceProbabilities(session.spec, distribution, masks)
      return {
        id: call.id,
        ...describe(rows.action, call.observation),
        probabilities,
        ...stateOf(row),
        model_ms: modelMs,
      }
    } catch (error) {
      return { id: call.id, error: reportOf(error) }
    }
  }
  const stateOf = (row: number) => {
    const state = rows.nextState(session, row)
    const odd = state.find((number) => !Number.isFinite(number))
    if (odd !== undefined) throw outputInvalid(odd)
    return state.length === 0 ? {} : { state: readState(state) }
  }
  return function act(encoded: EncodedCall[]): Acted[] {
    if (encoded.length === 0) return []
    const startMs = performance.now()
    try {
      session.state?.set(rows.states)
      session.run(rows.observations)
    } catch (error) {
      if (encoded.length === 1)
        return [{ call: encoded[0].call, answer: { id: encoded[0].call.id, error: reportOf(error) } }]
      // One observation may be what ONNX Runtime stumbles over: each by itself, so that the others have their answer.
      return encoded.flatMap((one) => rows.alone(one.row, () => act([one])))
    }
    const modelMs = performance.now() - startMs
    return encoded.map((one) => ({ call: one.call, answer: answerOf(one, modelMs) }))
  }
}

/** The rows of one batch: rows without a call are zeros, as of an episode that is over. */
class CallRows {
  readonly observations: Float32Array
  /** What a policy with memory remembers before the call. */
  readonly states: Float32Array
  /** [action]: of the row that was looked at last. */
  readonly action: Float32Array
  readonly #masks: Uint8Array
  readonly #sizes: { observation: number; mask: number; distribution: number; state: number }

  constructor(policy: PolicySpec) {
    const { maskSize, actionSize, distributionSize } = actionComponents(policy)
    const observation = policy.observation.reduce((sum, { size }) => sum + size, 0)
    const state = stateSize(policy)
    this.#sizes = { observation, mask: maskSize, distribution: distributionSize, state }
    this.states = new Float32Array(callsABatch * state)
    this.observations = new Float32Array(callsABatch * observation)
    this.#masks = new Uint8Array(callsABatch * maskSize)
    this.action = new Float32Array(actionSize)
  }

  clear(): void {
    this.observations.fill(0)
    this.states.fill(0)
    this.#masks.fill(1)
  }

  observation(row: number): Float32Array {
    const { observation } = this.#sizes
    return this.observations.subarray(row * observation, (row + 1) * observation)
  }

  state(row: number): Float32Array {
    return this.states.subarray(row * this.#sizes.state, (row + 1) * this.#sizes.state)
  }

  nextState(session: PolicySession, row: number): Float32Array {
    return session.state?.subarray(row * this.#sizes.state, (row + 1) * this.#sizes.state) ?? this.state(row)
  }

  mask(row: number): Uint8Array {
    const { mask } = this.#sizes
    return this.#masks.subarray(row * mask, (row + 1) * mask)
  }

  distribution(session: PolicySession, row: number): Float32Array {
    const { distribution } = this.#sizes
    return session.distribution.subarray(row * distribution, (row + 1) * distribution)
  }

  /** Does something while the other rows are zeros. */
  alone<Result>(row: number, act: () => Result): Result {
    const all = this.observations.slice()
    const own = this.observation(row).slice()
    this.observations.fill(0)
    this.observation(row).set(own)
    try {
      return act()
    } finally {
      this.observations.set(all)
    }
  }
}

/** A bug is thrown on: it is no caller's, and no model's. */
function reportOf(error: unknown): ErrorReport {
  if (error instanceof AgentGymError) return error.toReport()
  throw error
}

function outputInvalid(number: number): AgentGymError {
  return new AgentGymError({
    code: 'model_output_invalid',
    message: `model.onnx gives ${number} for this observation.`,
    hint: 'Look whether the observation is of a size that the agent was trained with.',
    data: { file: 'model.onnx' },
  })
}
