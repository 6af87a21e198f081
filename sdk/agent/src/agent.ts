import { AgentGymError, type AgentManifest, confidenceOf, type SpaceDescription } from '@agentgym/contract'
import { wordsOf } from '@agentgym/contract/protocols'
import { Acting, type Decided, type SamplingSeed } from './acting.ts'
import { type LoadedModel, openBatch } from './policy/model-session.ts'
import type { TextVectors } from './texts/text-vectors.ts'

/** Observations that go through the model at once. */
const BATCH = 256

/**
 * ONNX Runtime rounds whole blocks of four rows alike, whatever the batch. Evaluations run such batches, so a single
 * observation does, too.
 */
const SINGLE = 4

/** What one agent takes and gives; `agentgym agent types` writes them for an agent. */
export type AgentTypes = {
  observation: unknown
  mask: unknown
  action: unknown
  /** The word for an action, and the arguments of the tool. */
  choice: { label: string | null; arguments: object | null }
}

export type ActOptions<Mask = unknown> = {
  /**
   * What is legal, in the form of the action, as the scenario's `actionMask` gives it; null: everything. An agent whose
   * agent.json says `mask_required` refuses a decision without it; for others, everything is the default.
   */
  mask?: Mask | null
  /** False samples from the probabilities. Default: the likeliest action, as in the agent's evaluation. */
  deterministic?: boolean
  /** Of an agent with memory: what the last decision of this episode returned as `state`. Absent: an episode begins. */
  state?: string | null
}

export type Choice = {
  /** The index of the choice, from 0. */
  index: number
  /** The scenario's word for it, such as the name of a tool; null where it has none. */
  label: string | null
  /** 0 for what is not legal. */
  probability: number
}

/**
 * `label` is the word for a discrete action, or the tool; null where there is none. `arguments` are those of the chosen tool;
 * null for an agent without tools that have parameters.
 */
export type Decision<Types extends AgentTypes = AgentTypes> = Types['choice'] & {
  /**
   * As the scenario's `step` takes it: a number (discrete), numbers (multiDiscrete, box), an object (dict). Of tools with
   * parameters: `tool` and, under the tool's name, its arguments in words and ids.
   */
  action: Types['action']
  /** The choices that the action or the tool was picked from, with their probabilities; null for an agent that has none. */
  choices: Choice[] | null
  /**
   * The chance that the episode is solved, from the probability of the choice: calibrated on held-out episodes, for observations
   * and masks as the scenario gives them. Null for an agent that is not calibrated, and for actions that are sampled.
   */
  confidence: number | null
  /** Expected return from here on, as the agent sees it, in units of the reward; null if it does not say. */
  value: number | null
  /** Of an agent with memory: pass it on with the next observation of the episode. Null for others. */
  state: string | null
}

export type AgentPackage = { name: string; version: string }

export type AgentParts = {
  manifest: AgentManifest
  model: LoadedModel
  vectors: TextVectors
  package?: AgentPackage | null
  /** For actions that are sampled. */
  seed?: number
}

/**
 * A trained agent: an observation in, an action and its probabilities out, as in the evaluation that its package claims.
 * Synchronous, in this process; one agent must not be shared between threads.
 */
export class Agent<Types extends AgentTypes = AgentTypes> {
  readonly manifest: AgentManifest
  /** Name and version of the package that it came from; null for a folder without a package.json. */
  readonly package: AgentPackage | null
  readonly #model: LoadedModel
  readonly #vectors: TextVectors
  readonly #labels: string[] | null
  readonly #seed: number
  #decisions = 0
  #single: Acting | undefined
  #batch: Acting | undefined

  /** Use `loadAgent`. */
  constructor({ manifest, model, vectors, package: own = null, seed = 0 }: AgentParts) {
    this.manifest = manifest
    this.package = own
    this.#model = model
    this.#vectors = vectors
    this.#seed = seed
    this.#labels = wordsOf(manifest.scenario.action)
  }

  /** Words for the choices of a discrete action, or the names of the tools, in order; null where there are none. */
  get labels(): string[] | null {
    return this.#labels
  }

  /** Whether decisions carry a `state` that belongs to the next one. */
  get remembers(): boolean {
    return this.manifest.policy.memory !== undefined
  }

  /**
   * Decides on one observation, which has the form that the scenario's `observe` returns. Throws `observation_invalid`, whose
   * message names the field, `mask_required` and `model_output_invalid`.
   */
  act(observation: Types['observation'], options: ActOptions<Types['mask']> = {}): Decision<Types> {
    this.#single ??= new Acting(openBatch(this.#model, SINGLE), this.manifest.scenario, this.#vectors)
    const [answer] = this.#decide(this.#single, [observation], [options], options)
    return answer
  }

  /**
   * Decides on many observations of different episodes at once, in order. `masks` and `states` have one entry for each, or are
   * absent. Throws what the first invalid one is refused for, with its place as `data.row`.
   */
  actBatch(
    observations: readonly Types['observation'][],
    options: {
      masks?: readonly (Types['mask'] | null)[]
      deterministic?: boolean
      states?: readonly (string | null)[]
    } = {},
  ): Decision<Types>[] {
    const { masks, states } = options
    for (const [name, list] of Object.entries({ masks, states })) {
      if (list === undefined || list.length === observations.length) continue
      throw new AgentGymError({
        code: 'usage_invalid',
        message: `actBatch got ${observations.length} observations and ${list.length} ${name}.`,
        hint: `Pass as many ${name} as observations, null for what has none.`,
        data: { field: name },
      })
    }
    this.#batch ??= new Acting(openBatch(this.#model, BATCH), this.manifest.scenario, this.#vectors)
    const decisions: Decision<Types>[] = []
    for (let from = 0; from < observations.length; from += BATCH) {
      const some = observations.slice(from, from + BATCH)
      const each = some.map((_, i) => ({ mask: masks?.[from + i], state: states?.[from + i] }))
      for (const decision of this.#decide(this.#batch, some, each, options, from)) decisions.push(decision)
    }
    return decisions
  }

  /** Frees the model's memory. The agent must not be used afterwards. */
  dispose(): void {
    this.#model.session.dispose()
    this.#vectors.dispose()
  }

  #decide(
    acting: Acting,
    observations: readonly unknown[],
    options: readonly Pick<ActOptions, 'mask' | 'state'>[],
    { deterministic = true }: Pick<ActOptions, 'deterministic'>,
    firstRow?: number,
  ): Decision<Types>[] {
    const calls = observations.map((observation, i) => {
      const { mask, state } = options[i]
      return { observation, action_mask: mask, state }
    })
    const answers = acting.decide(calls, deterministic ? null : this.#sampling())
    return answers.map((answer, i) => {
      if (answer instanceof AgentGymError) throw firstRow === undefined ? answer : inRow(answer, firstRow + i)
      return this.#decision(answer, deterministic)
    })
  }

  #sampling(): SamplingSeed {
    if (this.manifest.policy.head?.endsWith('q')) {
      throw new AgentGymError({
        code: 'usage_invalid',
        message: 'This agent knows the values of actions and no probabilities, so it cannot sample.',
        hint: 'Call act without deterministic: false.',
        data: { field: 'deterministic' },
      })
    }
    return { seed: this.#seed, step: this.#decisions++ }
  }

  #decision({ action, label, choices, chosen, value, state }: Decided, deterministic: boolean): Decision<Types> {
    const { confidence } = this.manifest
    const decision: Decision = {
      action,
      label,
      arguments: argumentsOf(this.manifest.scenario.action, action, label),
      choices:
        choices?.map((probability, index) => ({ index, label: this.#labels?.[index] ?? null, probability })) ?? null,
      confidence:
        confidence !== undefined && deterministic && chosen !== null ? confidenceOf(confidence, chosen) : null,
      value,
      state: state ?? null,
    }
    // The types are the caller's claim of what the spaces in agent.json say.
    return decision as Decision<Types>
  }
}

function argumentsOf(space: SpaceDescription, action: Decided['action'], label: string | null): object | null {
  if (space.type !== 'dict' || space.choice === undefined || label === null) return null
  return (action as Record<string, object>)[label] ?? {}
}

function inRow(error: AgentGymError, row: number): AgentGymError {
  const { code, message, hint, data } = error
  return new AgentGymError({ code, message: `Observation ${row}: ${message}`, hint, data: { ...data, row } })
}
