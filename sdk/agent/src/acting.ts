import { AgentGymError, type HostedAction, type PolicySpec } from '@agentgym/contract'
import { stateSize } from '@agentgym/contract/model'
import {
  actionDescriber,
  type Call,
  callEncoder,
  choiceProbabilities,
  choosingLeaf,
  readState,
  writeState,
} from './call-codec.ts'
import { actionComponents } from './policy/action-components.ts'
import { beforeSquash, greedyActions, type SampledActions, sampleActions } from './policy/action-sampling.ts'
import type { PolicySession } from './policy/model-session.ts'
import type { ActingSpaces } from './policy/policy-leaves.ts'
import type { TextVectors } from './texts/text-vectors.ts'

/** Random numbers for one batch: a seed and a count of the batches that it was used for. */
export type SamplingSeed = { seed: number; step: number }

export type Decided = HostedAction & {
  /** Probabilities of the action, or of the tool, where it is one choice of several. */
  choices: number[] | null
  /** The probability of what was chosen of them. */
  chosen: number | null
  /** Expected return from here, as the policy sees it, in the reward's own units. */
  value: number | null
}

/**
 * Answers observations with what an evaluation would do upon them, by the engine's own encoders and decoder. Not safe to call
 * from within itself; all arrays are made once.
 */
export class Acting {
  readonly batch: number
  readonly #session: PolicySession
  readonly #rows: Rows
  readonly #encode: ReturnType<typeof callEncoder>
  readonly #describe: ReturnType<typeof actionDescriber>
  readonly #sampled: SampledActions
  readonly #choosing: ReturnType<typeof choosingLeaf>

  constructor(session: PolicySession, spaces: ActingSpaces, vectors: TextVectors) {
    this.batch = session.batch
    this.#session = session
    this.#rows = new Rows(session.spec, session.batch)
    this.#encode = callEncoder(spaces, vectors)
    this.#describe = actionDescriber(spaces.action)
    this.#choosing = choosingLeaf(session.spec)
    const { action } = this.#rows
    this.#sampled = {
      actions: new Float32Array(action.length),
      environmentActions: action,
      logProbabilities: new Float32Array(1),
    }
  }

  /**
   * One answer a call, in order, at most `batch`: what is wrong with a call, or comes of it, is that call's answer alone.
   * Greedy without `sampling`. `onRun` gets the milliseconds that the model took.
   */
  decide(
    calls: readonly Call[],
    sampling: SamplingSeed | null = null,
    onRun: (milliseconds: number) => void = () => {},
  ): (Decided | AgentGymError)[] {
    const answers: (Decided | AgentGymError)[] = []
    const rows = this.#rows
    rows.clear()
    const encoded: number[] = []
    for (const [row, call] of calls.entries()) {
      try {
        writeState(call.state, rows.state(row))
        this.#encode(call, rows.observation(row), rows.mask(row))
        encoded.push(row)
      } catch (error) {
        answers[row] = asFailure(error)
      }
    }
    this.#run(calls, encoded, sampling, answers, onRun)
    return answers
  }

  #run(
    calls: readonly Call[],
    encoded: number[],
    sampling: SamplingSeed | null,
    answers: (Decided | AgentGymError)[],
    onRun: (milliseconds: number) => void,
  ): void {
    if (encoded.length === 0) return
    const startMs = performance.now()
    try {
      this.#session.state?.set(this.#rows.states)
      this.#session.run(this.#rows.observations)
    } catch (error) {
      if (encoded.length === 1) {
        answers[encoded[0]] = asFailure(error)
        return
      }
      // One observation may be what ONNX Runtime stumbles over: each by itself, so that the others have their answer.
      for (const row of encoded) {
        this.#rows.alone(row, () => this.#run(calls, [row], sampling, answers, onRun))
      }
      return
    }
    onRun(performance.now() - startMs)
    for (const row of encoded) {
      try {
        answers[row] = this.#read(calls[row], row, sampling)
      } catch (error) {
        answers[row] = asFailure(error)
      }
    }
  }

  #read(call: Call, row: number, sampling: SamplingSeed | null): Decided {
    const { spec, values } = this.#session
    const distribution = this.#rows.distribution(this.#session, row)
    const masks = this.#rows.mask(row)
    const state = this.#rows.nextState(this.#session, row)
    const odd = notFinite(distribution) ?? notFinite(state)
    if (odd !== undefined) throw outputInvalid(odd)
    if (sampling === null) greedyActions({ spec, distribution, masks, rows: 1 }, this.#rows.action)
    else {
      const key = { ...sampling, firstEnvironment: row }
      sampleActions(
        { spec, distribution: beforeSquash(spec, distribution), logStd: this.#session.logStd, masks, rows: 1, key },
        this.#sampled,
      )
    }
    const choices = this.#choosing && choiceProbabilities(this.#choosing, distribution, masks)
    const chosen = choices && this.#choosing && choices[this.#rows.action[this.#choosing.offset]]
    const value = values === null ? null : values[row]
    return {
      ...this.#describe(this.#rows.action, call.observation),
      // Of a tool with parameters, the tool is not the whole action.
      probabilities: spec.action.length === 1 ? choices : null,
      choices,
      chosen,
      value: value !== null && Number.isFinite(value) ? value : null,
      ...(state.length === 0 ? {} : { state: readState(state) }),
    }
  }
}

/** The rows of one batch: rows without a call are zeros, as of an episode that is over. */
class Rows {
  readonly observations: Float32Array
  /** What a policy with memory remembers before the call. */
  readonly states: Float32Array
  /** [action]: of the row that was looked at last. */
  readonly action: Float32Array
  readonly #masks: Uint8Array
  readonly #sizes: { observation: number; mask: number; distribution: number; state: number }

  constructor(policy: PolicySpec, batch: number) {
    const { maskSize, actionSize, distributionSize } = actionComponents(policy)
    const observation = policy.observation.reduce((sum, { size }) => sum + size, 0)
    const state = stateSize(policy)
    this.#sizes = { observation, mask: maskSize, distribution: distributionSize, state }
    this.states = new Float32Array(batch * state)
    this.observations = new Float32Array(batch * observation)
    this.#masks = new Uint8Array(batch * maskSize)
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
  alone(row: number, act: () => void): void {
    const all = this.observations.slice()
    const own = this.observation(row).slice()
    this.observations.fill(0)
    this.observation(row).set(own)
    try {
      act()
    } finally {
      this.observations.set(all)
    }
  }
}

function notFinite(row: Float32Array): number | undefined {
  for (let i = 0; i < row.length; i++) if (!Number.isFinite(row[i])) return row[i]
  return undefined
}

/** A bug is thrown on: it is no caller's, and no model's. */
function asFailure(error: unknown): AgentGymError {
  if (error instanceof AgentGymError) return error
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
