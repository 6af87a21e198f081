import { AgentGymError, mostRunEpisodes } from '@agentgym/contract'
import type { SampledEpisode } from './held-out-evaluations.ts'

/** Of the training's time, beyond which no further episode is played: a short run has one, a run of minutes all. */
const MOST_SHARE = 0.01

/** Whether an episode is due after an iteration: a run that takes no evaluations has at most as many as are kept, evenly spaced. */
export function isSampleDue(before: number, steps: number, stepsTotal: number): boolean {
  const part = (at: number) => Math.floor((at * mostRunEpisodes) / stepsTotal)
  return part(steps) > part(before)
}

/**
 * Plays episodes with the weights of a training that goes on meanwhile, one after the other. Where one fails, there is none: a
 * picture ends no run.
 */
export class EpisodeSamples<Place extends { seconds: number }> {
  readonly #play: (weights: Float32Array) => Promise<SampledEpisode | null>
  readonly #onSample: (sampled: SampledEpisode, place: Place) => void
  readonly #now: () => number
  #last: Promise<void> = Promise.resolve()
  #spentMs = 0

  constructor(
    play: (weights: Float32Array) => Promise<SampledEpisode | null>,
    onSample: (sampled: SampledEpisode, place: Place) => void,
    now = () => performance.now(),
  ) {
    this.#now = now
    this.#play = play
    this.#onSample = onSample
  }

  add(weights: Float32Array, place: Place): void {
    this.#last = this.#last.then(() => this.#take(weights, place))
    // Thrown where it is awaited.
    this.#last.catch(() => {})
  }

  /** Resolves once all are played. */
  settled(): Promise<void> {
    return this.#last
  }

  async #take(weights: Float32Array, place: Place): Promise<void> {
    if (this.#spentMs > MOST_SHARE * 1_000 * place.seconds) return
    const began = this.#now()
    try {
      const sampled = await this.#play(weights)
      if (sampled !== null) this.#onSample(sampled, place)
    } catch (error) {
      if (!(error instanceof AgentGymError)) throw error
    } finally {
      this.#spentMs += this.#now() - began
    }
  }
}
