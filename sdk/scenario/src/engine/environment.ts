import type { Task } from '../define-scenario.ts'
import { type MaskEncoder, maskEncoder } from './action-codec.ts'
import { AllTexts } from './all-texts.ts'
import {
  BOARD_ENVIRONMENT,
  BOARD_EPISODE,
  BOARD_PHASE,
  BOARD_STEP,
  type EngineOptions,
  type EnvironmentBuffers,
  type EpisodePlan,
  MAX_METRICS,
  PHASE_ACTION_MASK,
  PHASE_METRICS,
  PHASE_OBSERVE,
  type PlayedEpisodes,
  type RowSizes,
} from './environment-buffers.ts'
import { assertHost, describeValue, Problem } from './faults.ts'
import {
  type ObservationEncoder,
  observationEncoder,
  refusePromise,
  TextRows,
  TextWatch,
} from './observation-encoder.ts'
import { append, floor, nullObject, objectKeys, regExpExec } from './primordials.ts'
import {
  PURPOSE_LEVEL,
  PURPOSE_MATH_RANDOM,
  PURPOSE_RNG,
  PURPOSE_TASK,
  RandomStream,
  type Rng,
  rngOf,
  SPLIT_APART,
  SPLIT_EVAL,
  SPLIT_TRAIN,
  StreamKey,
} from './random-stream.ts'
import type { ScenarioCallbacks, ScenarioDescription } from './read-definition.ts'
import { sampleJson } from './sample-json.ts'

/** The held-out tasks that some evaluations draw. */
export class TakenTasks {
  readonly #taken = nullObject<boolean>()
  #count = 0

  constructor(evaluations: readonly PlayedEpisodes[], size: number) {
    for (let i = 0; i < evaluations.length; i += 1) {
      const { seed, episodes } = evaluations[i]
      const stream = new RandomStream(new StreamKey(seed, SPLIT_EVAL, 0), PURPOSE_TASK)
      for (let episode = 0; episode < episodes; episode += 1) {
        stream.begin(episode)
        this.#take(floor(stream.uniform() * size))
      }
    }
    assertHost(this.#count < size, 'the scenario has no held-out tasks apart from those of the evaluations')
  }

  /** Null where all tasks may be drawn, or there are none. */
  static of(plan: EpisodePlan, size: number): TakenTasks | null {
    if (plan.split !== 'eval' || plan.apartFrom === undefined || size === 0) return null
    return new TakenTasks(plan.apartFrom, size)
  }

  has(index: number): boolean {
    return this.#taken[index] === true
  }

  #take(index: number): void {
    if (this.has(index)) return
    this.#taken[index] = true
    this.#count += 1
  }
}

/** One environment of the vector: the author's state and the accounting of the episode it plays. */
export class EpisodeSlot {
  /** Row in the buffers. */
  readonly row: number
  /** Number in the whole run; streams and messages go by it. */
  readonly number: number
  readonly mathRandom: RandomStream
  /** From the number of one of its episodes to that of the next. */
  readonly stride: number
  readonly #key: StreamKey
  readonly #stream: RandomStream
  readonly #taskStream: RandomStream
  readonly #levelStream: RandomStream
  readonly #rng: Rng
  state: unknown = undefined
  context: unknown = undefined
  episode = 0
  /** Steps taken in this episode. */
  step = 0
  episodeReturn = 0
  /** Whether every episode that the plan has for it has been played. */
  idle = false

  /** Tasks that must not be drawn. */
  readonly #taken: TakenTasks | null

  /**
   * `plan` decides what the streams depend on: in groups on the group, in evaluation on nothing but the episode. With `ownSeed`, the
   * environment plays what the first environment of a run with that seed plays, if that is its only one.
   */
  constructor(
    row: number,
    number: number,
    { seed: shared, plan, environments }: EngineOptions,
    taken: TakenTasks | null = null,
    ownSeed?: number,
  ) {
    this.#taken = taken
    this.row = row
    this.number = number
    this.stride = plan.split === 'eval' && ownSeed === undefined ? environments : 1
    const seed = ownSeed ?? shared
    const stream = ownSeed === undefined ? number : 0
    this.#key =
      plan.split === 'eval'
        ? new StreamKey(seed, plan.apartFrom === undefined ? SPLIT_EVAL : SPLIT_APART, 0)
        : new StreamKey(seed, SPLIT_TRAIN, floor(stream / (plan.groupSize ?? 1)))
    this.mathRandom = new RandomStream(this.#key, PURPOSE_MATH_RANDOM)
    this.#stream = new RandomStream(this.#key, PURPOSE_RNG)
    this.#taskStream = new RandomStream(this.#key, PURPOSE_TASK)
    this.#levelStream = new RandomStream(this.#key, PURPOSE_LEVEL)
    this.#rng = rngOf(this.#stream)
  }

  /** A further stream of this environment's episodes, not begun. */
  stream(purpose: number): RandomStream {
    return new RandomStream(this.#key, purpose)
  }

  /** Sets the streams, the task and the level of an episode. */
  begin(episode: number, plan: EpisodePlan, { tasks, levels }: ScenarioDescription): void {
    this.mathRandom.begin(episode)
    this.#stream.begin(episode)
    // A new object an episode: an author who changes it changes no other episode.
    const level = levels === undefined ? 0 : this.#levelOf(episode, plan, levels.length)
    this.context = { rng: this.#rng, task: this.#taskOf(episode, plan, tasks), level }
    this.state = undefined
    this.episode = episode
    this.step = 0
    this.episodeReturn = 0
  }

  #levelOf(episode: number, plan: EpisodePlan, count: number): number {
    if (plan.split === 'eval') return episode % count
    this.#levelStream.begin(episode)
    return floor(this.#levelStream.uniform() * count)
  }

  #taskOf(episode: number, plan: EpisodePlan, tasks: { train: number; eval: number }): Task {
    // Without held-out tasks, evaluation plays those of training, and says so.
    const split = plan.split === 'eval' && (tasks.eval > 0 || tasks.train === 0) ? 'eval' : 'train'
    const size = tasks[split]
    if (size === 0) return { split, index: 0 }
    const apart = plan.split === 'eval' && plan.apartFrom !== undefined
    if (plan.taskOrder === 'numbered' && !apart) return { split, index: episode % size }
    this.#taskStream.begin(episode)
    let index = floor(this.#taskStream.uniform() * size)
    while (this.#taken?.has(index) === true) index = floor(this.#taskStream.uniform() * size)
    return { split, index }
  }
}

/** Records what is about to run, before it runs, so that the host can name it if it hangs. */
export function noteOnBoard(board: Int32Array, phase: number, slot: EpisodeSlot): void {
  board[BOARD_ENVIRONMENT] = slot.number
  board[BOARD_STEP] = slot.step
  board[BOARD_EPISODE] = slot.episode
  board[BOARD_PHASE] = phase
}

/** Asks the author what a state looks like and writes the answers, checked, into an environment's rows. */
export class EnvironmentRows {
  readonly #callbacks: ScenarioCallbacks
  readonly #buffers: EnvironmentBuffers
  readonly #sizes: RowSizes
  readonly #encode: ObservationEncoder
  readonly #encodeMask: MaskEncoder | null
  readonly #metrics = new MetricsTable()
  /** Where texts go that a sentence encoder reads. */
  readonly #texts = new TextRows()
  /** Texts of the first row, or of all, if requested. */
  readonly #watch: TextWatch | AllTexts | null
  /** Space of the first row's observations, if they are requested as JSON. */
  readonly #space: ScenarioDescription['observation'] | null
  #json = ''

  constructor(
    callbacks: ScenarioCallbacks,
    description: ScenarioDescription,
    buffers: EnvironmentBuffers,
    { environments, watchTexts = false, watchObservations = false }: EngineOptions,
  ) {
    this.#callbacks = callbacks
    this.#buffers = buffers
    this.#sizes = description.sizes
    this.#encodeMask = description.masked ? maskEncoder(description.action) : null
    this.#watch = watchTexts === 'all' ? new AllTexts(environments) : watchTexts ? new TextWatch() : null
    this.#space = watchObservations ? description.observation : null
    this.#encode = observationEncoder(description.observation, '', this.#watch, this.#texts)
  }

  metricNames(): string[] {
    return this.#metrics.names()
  }

  watchedTexts(): string {
    return this.#watch?.encoded() ?? ''
  }

  /** The latest observation of the first row, which is its last where the episode has ended; empty if it is not watched. */
  observationJson(): string {
    return this.#json
  }

  /** The observation, and the mask of the next action, of a state from which the episode goes on. */
  observe(slot: EpisodeSlot): void {
    this.#writeObservation(slot, this.#buffers.observations, false)
    if (this.#encodeMask !== null) this.#writeMask(slot, this.#encodeMask)
  }

  /** The true last observation, the accounts and the metrics of an episode that has ended. */
  finishEpisode(slot: EpisodeSlot): void {
    const buffers = this.#buffers
    const { row } = slot
    this.#writeObservation(slot, buffers.finalObservations, true)
    buffers.episodeReturns[row] = slot.episodeReturn
    buffers.episodeLengths[row] = slot.step
    buffers.episodeNumbers[row] = slot.episode
    if (this.#callbacks.metrics === null) return
    buffers.board[BOARD_PHASE] = PHASE_METRICS
    this.#metrics.write(this.#callbacks.metrics(slot.state), buffers.metrics, row * MAX_METRICS)
  }

  /** Rows of an idle environment mean nothing, but a sampler that reads them all must not stumble. */
  clear(row: number): void {
    const { observation, mask, text } = this.#sizes
    const { observations, masks, texts } = this.#buffers
    for (let i = 0; i < text; i += 1) texts[row * text + i] = 0
    for (let i = 0; i < observation; i += 1) observations[row * observation + i] = 0
    for (let i = 0; i < mask; i += 1) masks[row * mask + i] = 1
  }

  #writeObservation(slot: EpisodeSlot, rows: Float32Array, final: boolean): void {
    this.#buffers.board[BOARD_PHASE] = PHASE_OBSERVE
    this.#watch?.begin(slot.row, final)
    this.#texts.begin(final ? this.#buffers.finalTexts : this.#buffers.texts, slot.row * this.#sizes.text)
    const sample = this.#callbacks.observe(slot.state)
    this.#encode(sample, rows, slot.row * this.#sizes.observation)
    // At once: the author may reuse the object.
    if (this.#space !== null && slot.row === 0) this.#json = sampleJson(this.#space, sample)
  }

  #writeMask(slot: EpisodeSlot, encode: MaskEncoder): void {
    if (this.#callbacks.actionMask === null) return
    this.#buffers.board[BOARD_PHASE] = PHASE_ACTION_MASK
    encode(this.#callbacks.actionMask(slot.state), this.#buffers.masks, slot.row * this.#sizes.mask)
  }
}

const METRIC_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

function invalid(what: string, hint = ''): never {
  throw new Problem('metrics_invalid', what, hint)
}

/** Columns of the metrics rows: the names of the first episode that ended. */
class MetricsTable {
  readonly #names: string[] = []
  readonly #columns = nullObject<number>()
  #fixed = false

  names(): string[] {
    const copy: string[] = []
    for (let i = 0; i < this.#names.length; i += 1) append(copy, this.#names[i])
    return copy
  }

  /** Writes one episode's metrics into its row, NaN where one is absent; throws a Problem where they are no numbers. */
  write(metrics: unknown, row: Float64Array, offset: number): void {
    if (typeof metrics !== 'object' || metrics === null) {
      invalid(`metrics returned ${describeValue(metrics)}`, 'Return an object of numbers by name.')
    }
    const keys = objectKeys(metrics)
    if (!this.#fixed) this.#fix(keys, metrics)
    for (let i = 0; i < this.#names.length; i += 1) row[offset + i] = NaN
    for (let i = 0; i < keys.length; i += 1) {
      const name = keys[i]
      const column = this.#columns[name]
      if (column === undefined) {
        refusePromise(metrics, 'metrics')
        invalid(
          `metric ${describeValue(name)} was not among those of the first episode`,
          'Return the same names every time.',
        )
      }
      const value = (metrics as Record<string, unknown>)[name]
      if (typeof value !== 'number' || value - value !== 0) {
        invalid(
          `metric "${name}" is ${describeValue(value)}, not a finite number`,
          'Leave out a metric that has no value.',
        )
      }
      row[offset + column] = value
    }
  }

  #fix(keys: readonly string[], metrics: object): void {
    refusePromise(metrics, 'metrics')
    if (keys.length > MAX_METRICS) invalid(`metrics has ${keys.length} names; at most ${MAX_METRICS}`)
    for (let i = 0; i < keys.length; i += 1) {
      const name = keys[i]
      if (regExpExec(METRIC_NAME, name) === null) {
        invalid(
          `${describeValue(name)} is not a metric's name: a letter, then letters, digits, _ . or -, at most 64 in all`,
        )
      }
      append(this.#names, name)
      this.#columns[name] = i
    }
    this.#fixed = true
  }
}
