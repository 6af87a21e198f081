import assert from 'node:assert'
import { MAX_METRICS, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'

/** One ended episode. */
export type EpisodeRecord = {
  /** Global number of the environment. */
  environment: number
  episode: number
  return: number
  length: number
  metrics: Record<string, number>
}

const COLUMNS = 4 + MAX_METRICS

/** Ended episodes as one array of numbers, which crosses threads as a whole: a rollout may end thousands of them. */
export class EpisodeColumns {
  count = 0
  metricNames: string[] = []
  #rows = new Float64Array(COLUMNS * 16)

  /** `metrics` holds MAX_METRICS numbers from `offset` on; NaN: absent. */
  add(
    environment: number,
    episode: number,
    episodeReturn: number,
    length: number,
    metrics: Float64Array,
    offset: number,
  ): void {
    const at = this.count * COLUMNS
    if (at === this.#rows.length) {
      const larger = new Float64Array(this.#rows.length * 2)
      larger.set(this.#rows)
      this.#rows = larger
    }
    this.#rows[at] = environment
    this.#rows[at + 1] = episode
    this.#rows[at + 2] = episodeReturn
    this.#rows[at + 3] = length
    for (let i = 0; i < MAX_METRICS; i++) this.#rows[at + 4 + i] = metrics[offset + i]
    this.count += 1
  }

  /** What a message to another thread carries. */
  pack(): PackedEpisodes {
    return { metricNames: this.metricNames, rows: this.#rows.slice(0, this.count * COLUMNS) }
  }

  static unpack({ metricNames, rows }: PackedEpisodes): EpisodeRecord[] {
    const records: EpisodeRecord[] = []
    for (let at = 0; at < rows.length; at += COLUMNS) {
      const reported = metricNames.map((name, i) => [name, rows[at + 4 + i]] as const)
      const metrics = Object.fromEntries(reported.filter(([, value]) => !Number.isNaN(value)))
      records.push({
        environment: rows[at],
        episode: rows[at + 1],
        return: rows[at + 2],
        length: rows[at + 3],
        metrics,
      })
    }
    return records
  }
}

export type PackedEpisodes = { metricNames: string[]; rows: Float64Array }

/** A running episode: replaying its actions from its reset puts the environment where it is. */
export type EnvironmentSnapshot = {
  /** Global number of the environment. */
  environment: number
  /** Number of its running episode. */
  episode: number
  /** [steps so far, action]; as the environment took them, boxes clipped. */
  actions: Float32Array
  /** [units]; what the actor of a policy with memory remembers of it. Absent: it has no memory. */
  state?: Float32Array
}

/** Vector steps in one block of memory. */
const BLOCK_STEPS = 64

/**
 * Keeps the actions of the running episodes, and nothing older: whole action rows of all environments, one copy a step,
 * in blocks that are dropped once every episode that they belong to has ended.
 */
export class EpisodeRecorder {
  readonly #environments: number
  readonly #actionSize: number
  readonly #blockLength: number
  readonly #episodes: Int32Array
  /** Vector step, counted by this recorder, at which each running episode began. */
  readonly #starts: Float64Array
  #blocks: Float32Array[] = []
  /** Vector step of the first row of the first block. */
  #base = 0
  /** Vector steps recorded. */
  #now = 0

  constructor(environments: number, actionSize: number) {
    this.#environments = environments
    this.#actionSize = actionSize
    this.#blockLength = BLOCK_STEPS * environments * actionSize
    this.#episodes = new Int32Array(environments)
    this.#starts = new Float64Array(environments)
  }

  /** Records one vector step: the actions taken, and which episodes ended with it. */
  record(actions: Float32Array, flags: Uint8Array, episodeNumbers: Int32Array): void {
    const row = this.#now - this.#base
    if (row === this.#blocks.length * BLOCK_STEPS) this.#makeRoom()
    const block = this.#blocks[Math.floor((this.#now - this.#base) / BLOCK_STEPS)]
    block.set(actions, ((this.#now - this.#base) % BLOCK_STEPS) * this.#environments * this.#actionSize)
    this.#now += 1
    for (let i = 0; i < this.#environments; i++) {
      if ((flags[i] & (TERMINATED | TRUNCATED)) !== 0) {
        this.#starts[i] = this.#now
        this.#episodes[i] = episodeNumbers[i] + 1
      }
    }
  }

  /** The running episodes; `firstEnvironment` is the global number of the first. */
  snapshot(firstEnvironment: number): EnvironmentSnapshot[] {
    return Array.from(this.#episodes, (episode, i) => {
      const steps = this.#now - this.#starts[i]
      const actions = new Float32Array(steps * this.#actionSize)
      for (let step = 0; step < steps; step++) {
        const { block, offset } = this.#place(this.#starts[i] + step, i)
        actions.set(block.subarray(offset, offset + this.#actionSize), step * this.#actionSize)
      }
      return { environment: firstEnvironment + i, episode, actions }
    })
  }

  /** Forgets everything and takes these running episodes, one an environment, in order. */
  restore(snapshots: EnvironmentSnapshot[]): void {
    assert.equal(snapshots.length, this.#environments)
    const lengths = snapshots.map(({ actions }) => actions.length / this.#actionSize)
    this.#blocks = []
    this.#base = 0
    // Episodes of different lengths end together, now.
    this.#now = Math.max(...lengths)
    while (this.#blocks.length * BLOCK_STEPS < this.#now) this.#blocks.push(new Float32Array(this.#blockLength))
    snapshots.forEach(({ episode, actions }, i) => {
      this.#episodes[i] = episode
      this.#starts[i] = this.#now - lengths[i]
      for (let step = 0; step < lengths[i]; step++) {
        const { block, offset } = this.#place(this.#starts[i] + step, i)
        block.set(actions.subarray(step * this.#actionSize, (step + 1) * this.#actionSize), offset)
      }
    })
  }

  /** A block that no running episode reaches back to is used again; else a new one. */
  #makeRoom(): void {
    let oldest = this.#now
    for (let i = 0; i < this.#environments; i++) oldest = Math.min(oldest, this.#starts[i])
    let free: Float32Array | undefined
    while (this.#blocks.length > 0 && this.#base + BLOCK_STEPS <= oldest) {
      free = this.#blocks.shift()
      this.#base += BLOCK_STEPS
    }
    this.#blocks.push(free ?? new Float32Array(this.#blockLength))
  }

  #place(step: number, environment: number): { block: Float32Array; offset: number } {
    const row = step - this.#base
    const block = this.#blocks[Math.floor(row / BLOCK_STEPS)]
    return { block, offset: ((row % BLOCK_STEPS) * this.#environments + environment) * this.#actionSize }
  }
}
