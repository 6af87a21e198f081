import {
  columnsOfView,
  type SampleEpisode,
  type ScenarioView,
  type Scene,
  sampleEpisodeLimits,
} from '@agentgym/contract'
import {
  actionLeaves,
  type EnvironmentBuffers,
  type ObservationLeaf,
  observationLeaves,
  type ScenarioDescription,
  type SpaceDescription,
} from '@agentgym/scenario/engine'
import { SceneTable } from './scene-table.ts'
import { printable, type WatchedTexts } from './watched-texts.ts'

type Seen = SampleEpisode['last']

const limits = sampleEpisodeLimits

/** An environment whose first row is read, wherever its guest runs. */
export type ReadEnvironment = {
  readonly description: ScenarioDescription
  readonly buffers: Pick<EnvironmentBuffers, 'actions' | 'observations' | 'finalObservations'>
  /** What the texts of the first row's observations say, cut. */
  watchedTexts(): WatchedTexts
  /** What the scenario draws of the first row's state: now, or at the end of its latest episode. Null where it draws nothing. */
  scene(which: 'now' | 'final'): Scene | null
}

/**
 * Reads the first row of an environment as pictures have it: the observation, the texts (with `watchTexts`), the scene (with
 * `watchScenes`), and the action. A scenario that draws itself is asked for every step: it might change what it draws, so
 * nothing that is compared with another run may be played in the same environment.
 */
export class EpisodeReader {
  readonly head: Pick<SampleEpisode, 'view' | 'observation' | 'action'>
  readonly scenes: SceneTable
  readonly #environment: ReadEnvironment
  /** Columns of an observation row that are kept. */
  readonly #columns: number[]
  readonly #textual: boolean
  /** Columns of an action row that the scenario rounds. */
  readonly #integers: ReadonlySet<number>

  /** `shapes`: how many it keeps of all scenes together. */
  constructor(environment: ReadEnvironment, { view, shapes }: { view: ScenarioView | null; shapes: number }) {
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

  /** `texts` are read from the environment where the caller has not read them itself. */
  see(which: 'now' | 'final', texts = this.#texts(which)): Seen {
    const { observations, finalObservations } = this.#environment.buffers
    const rows = which === 'now' ? observations : finalObservations
    const observation = round(this.#columns.map((column) => rows[column]))
    const scene = this.scenes.add(this.#environment.scene(which))
    return { observation, texts, ...(scene === undefined ? {} : { scene }) }
  }

  #texts(which: 'now' | 'final'): string[] {
    return this.#textual ? this.#environment.watchedTexts()[which] : []
  }
}

/** Columns of the row that are numbers, not tokens. */
export function numberColumns(leaves: ObservationLeaf[]): number[] {
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
