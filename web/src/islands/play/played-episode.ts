import type { RecordedEpisode, ScenarioView } from '@agentgym/contract'
import { recordedEpisodeLimits } from '@agentgym/contract'
import { episodeView } from '@agentgym/pictures'
import { EpisodeReader, roundNumber } from '@agentgym/playing'
import type { GuestEnvironment, Outcome } from './guest-environment.ts'
import type { Decision } from './policy-player.ts'

export type PlayerKind = RecordedEpisode['policy']

/** An episode under way, as pictures have it. */
export class PlayedEpisode {
  readonly episode: RecordedEpisode
  readonly view: ScenarioView | null
  /** Rows of the actions so far, as they were played: float32. */
  readonly actions: number[][] = []
  /** Sum of the rewards, unrounded. */
  total = 0
  /** Of the end; null before it. */
  outcome: Outcome | null = null
  readonly #environment: GuestEnvironment
  readonly #reader: EpisodeReader

  /** `environment` has just begun the episode. */
  constructor(environment: GuestEnvironment, { policy, view }: { policy: PlayerKind; view: ScenarioView | null }) {
    this.#environment = environment
    this.#reader = new EpisodeReader(environment, { view, shapes: recordedEpisodeLimits.shapes })
    const { observation, action } = this.#reader.head
    const last = this.#reader.see('now')
    this.episode = { format: 1, policy, view, observation, action, steps: [], last, end: 'cut' }
    this.#addShapes()
    this.view = episodeView(this.episode)
  }

  get steps(): number {
    return this.episode.steps.length
  }

  async step(action: readonly number[], likely: Decision['likely']): Promise<void> {
    const before = this.episode.last
    const outcome = await this.#environment.step(action)
    this.actions.push(Array.from(this.#environment.buffers.actions))
    const played = { action: this.#reader.action(), reward: roundNumber(outcome.reward) }
    this.episode.steps.push({ ...before, ...played, ...(likely === undefined ? {} : { likely }) })
    this.episode.last = this.#reader.see('now')
    this.#addShapes()
    this.total += outcome.reward
    if (outcome.end === null) return
    this.episode.end = outcome.end
    this.outcome = outcome
  }

  #addShapes(): void {
    const { scene } = this.#reader.scenes.field()
    if (scene !== undefined) this.episode.scene = scene
  }
}
