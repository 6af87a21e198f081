import { createHash, type Hash } from 'node:crypto'
import { IDLE, MAX_METRICS, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { EpisodeSampler } from '../sandbox/episode-sampler.ts'
import type { VectorEnvironment } from '../sandbox/vector-environment.ts'

/**
 * Environments of every evaluation, also of one with fewer episodes: the batch is always the same size, so inference
 * rounds the same way and the trajectory hash does not depend on the number of episodes.
 */
export const EVALUATION_ENVIRONMENTS = 64

export type EpisodeOutcome = {
  return: number
  length: number
  metrics: Record<string, number>
  /** SHA-256 of the episode's trajectory. */
  digest: Uint8Array
  /** Probability of each choice, in order; absent if they were not recorded. */
  chosen?: Float64Array
}

/** Notes the probability of what was chosen in a row, at each step. */
export type ChoiceRecorder = {
  step(row: number): void
  /** The row's episode has ended: its probabilities. */
  end(row: number): Float64Array
}

/**
 * Plays the episodes of an evaluation plan and gives their outcomes in order of their numbers. Which environment plays
 * which episode is fixed beforehand, so short episodes are not over-counted. `act` fills `buffers.actions`; `sampler` and
 * `recorder` see every step.
 */
export function playEpisodes(
  environment: VectorEnvironment,
  episodes: number,
  act: () => void,
  onEpisode: (done: number) => void = () => {},
  { sampler, recorder }: { sampler?: Pick<EpisodeSampler, 'before' | 'after'>; recorder?: ChoiceRecorder } = {},
): EpisodeOutcome[] {
  const { buffers, description, environments } = environment
  const { actions, rewards, flags } = buffers
  const hashes = Array.from({ length: environments }, () => new EpisodeHash(description.sizes.action))
  const outcomes: EpisodeOutcome[] = new Array(episodes)
  const metricColumns: { outcome: EpisodeOutcome; values: Float64Array }[] = []
  const idle = new Uint8Array(environments)
  for (let i = episodes; i < environments; i++) idle[i] = 1
  let done = 0
  environment.reset()
  while (done < episodes) {
    act()
    // Before the step: the next observation has another mask.
    if (recorder !== undefined) for (let i = 0; i < environments; i++) if (idle[i] === 0) recorder.step(i)
    sampler?.before()
    environment.step()
    sampler?.after()
    for (let i = 0; i < environments; i++) {
      if (idle[i] === 1) continue
      hashes[i].step(actions, rewards, i)
      const flag = flags[i]
      if ((flag & (TERMINATED | TRUNCATED)) !== 0) {
        const episode = buffers.episodeNumbers[i]
        const outcome = {
          return: buffers.episodeReturns[i],
          length: buffers.episodeLengths[i],
          metrics: {},
          digest: hashes[i].end(episode, flag & (TERMINATED | TRUNCATED)),
          ...(recorder === undefined ? {} : { chosen: recorder.end(i) }),
        }
        outcomes[episode] = outcome
        metricColumns.push({ outcome, values: buffers.metrics.slice(i * MAX_METRICS, (i + 1) * MAX_METRICS) })
        done += 1
        onEpisode(done)
      }
      if ((flag & IDLE) !== 0) idle[i] = 1
    }
  }
  // Names are read once, at the end: each read crosses into the isolate.
  const names = environment.metricNames()
  for (const { outcome, values } of metricColumns) {
    names.forEach((name, column) => {
      if (!Number.isNaN(values[column])) outcome.metrics[name] = values[column]
    })
  }
  return outcomes
}

const ROWS = 512

/**
 * Hash of one episode: SHA-256 over its number, then (action row, reward) of every step as little-endian float32, then
 * its length and how it ended. Rows are collected in a block so that a step costs a copy, not a call into the hash.
 */
export class EpisodeHash {
  readonly #rowSize: number
  readonly #block: Float32Array
  #hash: Hash
  #rows = 0
  #length = 0

  constructor(actionSize: number) {
    this.#rowSize = actionSize + 1
    this.#block = new Float32Array(ROWS * this.#rowSize)
    this.#hash = createHash('sha256')
  }

  /** Adds row `environment` of the vector buffers. */
  step(actions: Float32Array, rewards: Float32Array, environment: number): void {
    const at = this.#rows * this.#rowSize
    const from = environment * (this.#rowSize - 1)
    for (let i = 0; i < this.#rowSize - 1; i++) this.#block[at + i] = actions[from + i]
    this.#block[at + this.#rowSize - 1] = rewards[environment]
    this.#rows += 1
    this.#length += 1
    if (this.#rows === ROWS) this.#flush()
  }

  /** Ends the episode, gives its digest and starts afresh. */
  end(episode: number, flags: number): Uint8Array {
    this.#flush()
    const tail = new DataView(new ArrayBuffer(12))
    tail.setUint32(0, episode, true)
    tail.setUint32(4, this.#length, true)
    tail.setUint32(8, flags, true)
    const digest = this.#hash.update(new Uint8Array(tail.buffer)).digest()
    this.#hash = createHash('sha256')
    this.#length = 0
    return digest
  }

  #flush(): void {
    this.#hash.update(new Uint8Array(this.#block.buffer, 0, this.#rows * this.#rowSize * 4))
    this.#rows = 0
  }
}

/** `trajectory_hash`: SHA-256 (hex) over the episodes' digests in order of their numbers. */
export function trajectoryHash(digests: Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const digest of digests) hash.update(digest)
  return hash.digest('hex')
}
