import {
  columnsOfView,
  type SampleEpisode,
  type ScenarioView,
  type SpaceDescription,
  sampleEpisodeLimits,
  type ViewedSpaces,
} from '@agentgym/contract'
import { actionLeaves, type ObservationLeaf, observationLeaves, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { printable } from './guest-output.ts'
import type { SandboxedEnvironment } from './sandboxed-environment.ts'
import type { ScenarioDescription } from './vector-environment.ts'

type Step = SampleEpisode['steps'][number]
type Seen = SampleEpisode['last']

const limits = sampleEpisodeLimits

/**
 * Writes down the first episode that the first row plays after a reset, within `sampleEpisodeLimits`: `before` each step,
 * with the actions chosen, and `after` it. An environment whose texts are to be seen is opened with `watchTexts`.
 */
export class EpisodeSampler {
  readonly #environment: SandboxedEnvironment
  readonly #head: Pick<SampleEpisode, 'policy' | 'view' | 'observation' | 'action'>
  /** Columns of an observation row that are kept. */
  readonly #columns: number[]
  readonly #textual: boolean
  /** Columns of an action row that the scenario rounds. */
  readonly #integers: ReadonlySet<number>
  readonly #steps: Step[] = []
  #end: SampleEpisode['end'] | null = null
  #last: Seen | null = null

  constructor(
    environment: SandboxedEnvironment,
    { policy, view }: { policy: SampleEpisode['policy']; view: ScenarioView | null },
  ) {
    const { observation, action } = environment.description
    const seen = observationLeaves(observation)
    this.#environment = environment
    this.#head = { policy, view, observation: observationHead(observation), action: actionHead(action) }
    const kept = Math.max(limits.observation, view === null ? 0 : columnsOfView(view))
    this.#columns = numberColumns(seen).slice(0, Math.min(kept, limits.viewed))
    this.#integers = new Set(integerColumns(action))
    this.#textual = seen.some(({ kind }) => kind === 'text')
  }

  /** Whether there is nothing more to write down. */
  get done(): boolean {
    return this.#end !== null
  }

  before(): void {
    if (this.done) return
    const { buffers, description } = this.#environment
    const row = buffers.actions.subarray(0, Math.min(description.sizes.action, limits.action))
    const action = round(row.map((value, column) => (this.#integers.has(column) ? Math.round(value) : value)))
    this.#steps.push({ ...this.#see(buffers.observations, 'now'), action, reward: 0 })
  }

  after(): void {
    const step = this.#steps.at(-1)
    if (this.done || step === undefined) return
    const { rewards, flags, finalObservations } = this.#environment.buffers
    step.reward = roundNumber(rewards[0])
    if ((flags[0] & (TERMINATED | TRUNCATED)) !== 0) {
      this.#end = (flags[0] & TERMINATED) !== 0 ? 'terminated' : 'truncated'
      this.#last = this.#see(finalObservations, 'final')
    } else if (this.#steps.length === limits.steps) this.cut()
  }

  /** Ends the episode where it is. */
  cut(): void {
    if (this.done) return
    this.#end = 'cut'
    this.#last = this.#see(this.#environment.buffers.observations, 'now')
  }

  /** What was written down, as far as it fits; null where not even one step does, or the spaces are too many to list. */
  episode(): SampleEpisode | null {
    const [end, last] = [this.#end, this.#last]
    if (end === null || last === null || !isListable(this.#head)) return null
    const whole: SampleEpisode = { format: 1, ...this.#head, steps: this.#steps, last, end }
    // A comma between each two steps, and room for a last step that differs from the one that was cut off.
    let bytes = size({ ...whole, steps: [] })
    const fitting = this.#steps.findIndex((step) => {
      bytes += size(step) + 1
      return bytes > limits.bytes
    })
    if (fitting < 0) return whole
    return fitting === 0 ? null : cutAt(whole, fitting)
  }

  #see(rows: Float32Array, which: 'now' | 'final'): Seen {
    const observation = round(this.#columns.map((column) => rows[column]))
    return { observation, texts: this.#textual ? this.#environment.watchedTexts()[which] : [] }
  }
}

/** What a manifest's view is held to. */
export function viewedSpaces({
  observation,
  action,
}: Pick<ScenarioDescription, 'observation' | 'action'>): ViewedSpaces {
  const leaves = observationLeaves(observation)
  return {
    columns: numberColumns(leaves).length,
    texts: leaves.filter(({ kind }) => kind === 'text').length,
    choices: action.type === 'discrete' ? action.n : null,
  }
}

function cutAt(whole: SampleEpisode, steps: number): SampleEpisode | null {
  const { observation, texts } = whole.steps[steps]
  const episode: SampleEpisode = {
    ...whole,
    steps: whole.steps.slice(0, steps),
    last: { observation, texts },
    end: 'cut',
  }
  if (size(episode) <= limits.bytes) return episode
  return steps === 1 ? null : cutAt(whole, steps - 1)
}

function isListable({ observation, action }: Pick<SampleEpisode, 'observation' | 'action'>): boolean {
  return observation.length <= limits.leaves && action.length <= limits.leaves
}

function observationHead(space: SpaceDescription): SampleEpisode['observation'] {
  return observationLeaves(space).map(({ name, kind, size, shape }) => ({
    name: nameOf(space, name),
    kind,
    size: kind === 'text' ? 0 : size,
    shape: kind === 'text' ? [1] : shape.slice(0, 8),
  }))
}

function actionHead(space: SpaceDescription): SampleEpisode['action'] {
  const labels = labelsOf(space)
  return actionLeaves(space).map(({ name, kind, size, list }, index) => ({
    name: nameOf(space, name),
    kind,
    size,
    shape: [size],
    labels: labels[index].slice(0, limits.labels).map((label) => cut(label, limits.labelCharacters)),
    ...(list === undefined ? {} : { list: cut(list, limits.nameCharacters) }),
  }))
}

function integerColumns(space: SpaceDescription): number[] {
  const columns: number[] = []
  let column = 0
  const visit = (part: SpaceDescription) => {
    if (part.type === 'dict') for (const { space: inner } of part.entries) visit(inner)
    else if (part.type === 'box') {
      for (let i = 0; i < part.low.length; i++) if (part.integer === true) columns.push(column + i)
      column += part.low.length
    } else column += part.type === 'multiDiscrete' ? part.nvec.length : 1
  }
  visit(space)
  return columns
}

/** A space that is no dict has one leaf, whose name says nothing. */
function nameOf(space: SpaceDescription, leaf: string): string {
  return space.type === 'dict' ? cut(leaf, limits.nameCharacters) : ''
}

/** Of each leaf of an action space, in order, what its choices are called. */
function labelsOf(space: SpaceDescription): string[][] {
  if (space.type === 'dict') return space.entries.flatMap(({ space: inner }) => labelsOf(inner))
  return [space.type === 'discrete' ? (space.labels ?? []) : []]
}

function cut(text: string, characters: number): string {
  return printable(text).slice(0, characters).toWellFormed()
}

/** Columns of the row that are numbers, not tokens. */
function numberColumns(leaves: ObservationLeaf[]): number[] {
  return leaves.flatMap(({ kind, offset, size }) =>
    kind === 'text' ? [] : Array.from({ length: size }, (_, column) => offset + column),
  )
}

function round(values: Iterable<number>): number[] {
  return Array.from(values, roundNumber)
}

function roundNumber(value: number): number {
  return Number(value.toPrecision(5))
}

function size(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
