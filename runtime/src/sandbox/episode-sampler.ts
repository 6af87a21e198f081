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
import { SceneTable } from './scene-table.ts'
import type { ScenarioDescription } from './vector-environment.ts'

type Step = SampleEpisode['steps'][number]
type Seen = SampleEpisode['last']

const limits = sampleEpisodeLimits

/**
 * Reads the first row of an environment as pictures have it: the observation, the texts (with `watchTexts`), the scene (with
 * `watchScenes`), and the action. A scenario that draws itself is asked for every step: it might change what it draws, so
 * nothing that is compared with another run may be played in the same environment.
 */
export class EpisodeReader {
  readonly head: Pick<SampleEpisode, 'view' | 'observation' | 'action'>
  readonly scenes: SceneTable
  readonly #environment: SandboxedEnvironment
  /** Columns of an observation row that are kept. */
  readonly #columns: number[]
  readonly #textual: boolean
  /** Columns of an action row that the scenario rounds. */
  readonly #integers: ReadonlySet<number>

  /** `shapes`: how many it keeps of all scenes together. */
  constructor(environment: SandboxedEnvironment, { view, shapes }: { view: ScenarioView | null; shapes: number }) {
    const { observation, action } = environment.description
    const seen = observationLeaves(observation)
    this.#environment = environment
    this.head = { view, observation: observationHead(observation), action: actionHead(action) }
    this.scenes = new SceneTable(shapes)
    const kept = Math.max(limits.observation, view === null ? 0 : columnsOfView(view))
    this.#columns = numberColumns(seen).slice(0, Math.min(kept, limits.viewed))
    this.#integers = new Set(integerColumns(action))
    this.#textual = seen.some(({ kind }) => kind === 'text')
  }

  /** The action that is about to be played. */
  action(): number[] {
    const { buffers, description } = this.#environment
    const row = buffers.actions.subarray(0, Math.min(description.sizes.action, limits.action))
    return round(row.map((value, column) => (this.#integers.has(column) ? Math.round(value) : value)))
  }

  see(which: 'now' | 'final'): Seen {
    const { observations, finalObservations } = this.#environment.buffers
    const rows = which === 'now' ? observations : finalObservations
    const observation = round(this.#columns.map((column) => rows[column]))
    const texts = this.#textual ? this.#environment.watchedTexts()[which] : []
    const scene = this.scenes.add(this.#environment.scene(which))
    return { observation, texts, ...(scene === undefined ? {} : { scene }) }
  }
}

/**
 * Writes down the first episode that the first row plays after a reset, within `sampleEpisodeLimits`: `before` each step,
 * with the actions chosen, and `after` it.
 */
export class EpisodeSampler {
  readonly #environment: SandboxedEnvironment
  readonly #policy: SampleEpisode['policy']
  readonly #reader: EpisodeReader
  readonly #steps: Step[] = []
  /** How many shapes the scenes up to a step need. */
  readonly #shapesBefore: number[] = []
  #end: SampleEpisode['end'] | null = null
  #last: Seen | null = null

  constructor(
    environment: SandboxedEnvironment,
    { policy, view }: { policy: SampleEpisode['policy']; view: ScenarioView | null },
  ) {
    this.#environment = environment
    this.#policy = policy
    this.#reader = new EpisodeReader(environment, { view, shapes: limits.shapes })
  }

  /** Whether there is nothing more to write down. */
  get done(): boolean {
    return this.#end !== null
  }

  before(): void {
    if (this.done) return
    this.#steps.push({ ...this.#reader.see('now'), action: this.#reader.action(), reward: 0 })
    this.#shapesBefore.push(this.#reader.scenes.length)
  }

  after(): void {
    const step = this.#steps.at(-1)
    if (this.done || step === undefined) return
    const { rewards, flags } = this.#environment.buffers
    step.reward = roundNumber(rewards[0])
    if ((flags[0] & (TERMINATED | TRUNCATED)) !== 0) {
      this.#end = (flags[0] & TERMINATED) !== 0 ? 'terminated' : 'truncated'
      this.#last = this.#reader.see('final')
    } else if (this.#steps.length === limits.steps) this.cut()
  }

  /** Ends the episode where it is. */
  cut(): void {
    if (this.done) return
    this.#end = 'cut'
    this.#last = this.#reader.see('now')
  }

  /** What was written down, as far as it fits; null where not even one step does, or the spaces are too many to list. */
  episode(): SampleEpisode | null {
    const [end, last] = [this.#end, this.#last]
    const { head, scenes } = this.#reader
    if (end === null || last === null || !isListable(head)) return null
    const whole: SampleEpisode = {
      format: 1,
      policy: this.#policy,
      ...head,
      ...scenes.field(),
      steps: this.#steps,
      last,
      end,
    }
    if (size(whole) <= limits.bytes) return whole
    // A comma between each two steps, and room for a last step that differs from the one that was cut off.
    const bare = size({ ...whole, ...scenes.field(0), steps: [] })
    const shapes = whole.scene?.shapes.map((shape) => size(shape) + 1) ?? []
    let [bytes, counted] = [bare, 0]
    const fitting = this.#steps.findIndex((step, index) => {
      for (; counted < this.#shapesBefore[index]; counted++) bytes += shapes[counted]
      bytes += size(step) + 1
      return bytes > limits.bytes
    })
    return this.#cutAt(whole, fitting < 0 ? this.#steps.length - 1 : fitting)
  }

  /** The first `steps` steps, or as many fewer as it takes; null if not even one fits. */
  #cutAt(whole: SampleEpisode, steps: number): SampleEpisode | null {
    if (steps < 1) return null
    const { action: _action, reward: _reward, ...last } = whole.steps[steps]
    const scene = this.#reader.scenes.field(this.#shapesBefore[steps])
    const episode: SampleEpisode = { ...whole, ...scene, steps: whole.steps.slice(0, steps), last, end: 'cut' }
    return size(episode) <= limits.bytes ? episode : this.#cutAt(whole, steps - 1)
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

export function roundNumber(value: number): number {
  return Number(value.toPrecision(5))
}

function size(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
