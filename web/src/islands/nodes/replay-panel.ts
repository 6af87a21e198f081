import type { SampleEpisode, ScenarioView } from '@agentgym/contract'
import { describeStep, episodeFrame, episodeSummary, episodeView, lastStep, rewardLine } from '@agentgym/pictures'
import { decision } from '../../pictures/decision.ts'
import { transcriptLog } from '../../pictures/transcript-log.ts'
import { htmlNode, pictureNode, showIn } from './dom.ts'
import { fetchEpisode } from './fetch-episode.ts'

export type Source = { address: string; title: string }

type Loaded = { episode: SampleEpisode; view: ScenarioView | null; title: string }

/** One picture of a replay, which draws the step that it is given of one of its players. */
export class ReplayPanel {
  readonly #root: HTMLElement
  #sources: Source[]
  #loaded: Loaded[] = []
  #player = 0

  constructor(root: HTMLElement) {
    this.#root = root
    this.#sources = JSON.parse(root.dataset.sources ?? '[]')
  }

  /** Loads the episodes of all players. Throws if one is missing. */
  async load(): Promise<void> {
    if (this.#loaded.length > 0) return
    const sources = this.#sources
    const episodes = await Promise.all(sources.map(({ address }) => fetchEpisode(address)))
    // Others may have taken their place meanwhile.
    if (sources !== this.#sources) return this.load()
    this.#loaded = episodes.map((episode, i) => ({
      ...{ episode, view: episodeView(episode), title: sources[i].title },
    }))
  }

  /** Shows this episode instead, once it is loaded. */
  replace(source: Source): void {
    this.#sources = [source]
    this.#loaded = []
  }

  get players(): number {
    return this.#sources.length
  }

  /** A transcript that is shown as text. */
  get isText(): boolean {
    return this.#root.hasAttribute('data-text')
  }

  /** Steps of the longest episode of any player; 0 before it is loaded. */
  get longest(): number {
    return Math.max(0, ...this.#loaded.map(({ episode }) => lastStep(episode)))
  }

  /** Steps of the current player's episode; 0 before it is loaded. */
  get last(): number {
    const current = this.#loaded.at(this.#player)
    return current === undefined ? 0 : lastStep(current.episode)
  }

  choose(player: number): void {
    this.#player = player
  }

  draw(wanted: number): void {
    const current = this.#loaded.at(this.#player)
    if (current === undefined) return
    const { episode, view, title } = current
    const step = Math.min(wanted, lastStep(episode))
    const asText = this.isText && view?.kind === 'transcript'
    this.#fill(
      '.replay-stage',
      asText ? htmlNode(transcriptLog(episode, view, step)) : pictureNode(episodeFrame(episode, view, step, { title })),
    )
    this.#fill('.replay-decision', htmlNode(decision(episode, step)))
    this.#fill('.replay-rewards', pictureNode(rewardLine(episode, step, 'Reward of each step')))
    this.#fill('.replay-now', describeStep(episode, step))
    this.#fill('.replay-summary', episodeSummary(episode))
  }

  /** Nothing is announced while it changes many times a second. */
  setPlaying(playing: boolean): void {
    this.#root.querySelector('.replay-now')?.setAttribute('aria-live', playing ? 'off' : 'polite')
  }

  showFailure(): void {
    this.#fill('.replay-now', 'The episode could not be loaded. Press again to retry.')
  }

  #fill(selector: string, content: string | Element): void {
    const place = this.#root.querySelector(selector)
    if (place !== null) showIn(place, content)
  }
}
