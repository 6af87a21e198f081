import { PHASE_ACTION_MASK, PHASE_METRICS, PHASE_OBSERVE } from './board.ts'
import { BOARD_PHASE, type EnvironmentBuffers, MAX_METRICS, type RowSizes } from './environment-buffers.ts'
import type { EpisodeSlot } from './episode-slot.ts'
import { type MaskEncoder, maskEncoder } from './mask-encoder.ts'
import { MetricsTable } from './metrics-table.ts'
import { type ObservationEncoder, observationEncoder } from './observation-encoder.ts'
import type { ScenarioCallbacks, ScenarioDescription } from './read-definition.ts'
import { TextWatch } from './text-watch.ts'

/** Asks the author what a state looks like and writes the answers, checked, into an environment's rows. */
export class EnvironmentRows {
  readonly #callbacks: ScenarioCallbacks
  readonly #buffers: EnvironmentBuffers
  readonly #sizes: RowSizes
  readonly #encode: ObservationEncoder
  readonly #encodeMask: MaskEncoder | null
  readonly #metrics = new MetricsTable()
  /** Of the first row, where somebody wants to read it. */
  readonly #watch: TextWatch | null

  constructor(
    callbacks: ScenarioCallbacks,
    description: ScenarioDescription,
    buffers: EnvironmentBuffers,
    watchTexts: boolean,
  ) {
    this.#callbacks = callbacks
    this.#buffers = buffers
    this.#sizes = description.sizes
    this.#encodeMask = description.masked ? maskEncoder(description.action) : null
    this.#watch = watchTexts ? new TextWatch() : null
    this.#encode = observationEncoder(description.observation, '', this.#watch)
  }

  metricNames(): string[] {
    return this.#metrics.names()
  }

  watchedTexts(): string {
    return this.#watch?.encoded() ?? ''
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
    const { observation, mask } = this.#sizes
    const { observations, masks } = this.#buffers
    for (let i = 0; i < observation; i += 1) observations[row * observation + i] = 0
    for (let i = 0; i < mask; i += 1) masks[row * mask + i] = 1
  }

  #writeObservation(slot: EpisodeSlot, rows: Float32Array, final: boolean): void {
    this.#buffers.board[BOARD_PHASE] = PHASE_OBSERVE
    this.#watch?.begin(slot.row, final)
    this.#encode(this.#callbacks.observe(slot.state), rows, slot.row * this.#sizes.observation)
  }

  #writeMask(slot: EpisodeSlot, encode: MaskEncoder): void {
    if (this.#callbacks.actionMask === null) return
    this.#buffers.board[BOARD_PHASE] = PHASE_ACTION_MASK
    encode(this.#callbacks.actionMask(slot.state), this.#buffers.masks, slot.row * this.#sizes.mask)
  }
}
