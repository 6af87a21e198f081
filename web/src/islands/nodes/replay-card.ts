import { episodeFrame, episodeView, lastStep, Playback, paceMs } from '@agentgym/pictures'
import { pictureNode } from './dom.ts'
import { fetchEpisode } from './fetch-episode.ts'
import { playFrames, prefersStillness } from './play-frames.ts'

/** A card plays once, for at most this long, and only one does: so it needs no control to stop it. */
const longestMs = 4_500

/** A pointer that crosses a list wants nothing of its entries. */
const intentMs = 120

/** The only card that plays. */
let current: ReplayCard | undefined

/** The thumbnail of a list entry, which plays while the entry is pointed at, focused, or in the middle of a touch screen. */
export class ReplayCard {
  readonly #thumbnail: HTMLElement
  readonly #address: string
  #poster: Element | undefined
  #stopFrames = () => {}
  #delay: ReturnType<typeof setTimeout> | undefined

  constructor(thumbnail: HTMLElement) {
    this.#thumbnail = thumbnail
    this.#address = thumbnail.dataset.replayCard ?? ''
  }

  listen(): void {
    const entry = this.#thumbnail.closest('li') ?? this.#thumbnail
    const start = () => {
      clearTimeout(this.#delay)
      this.#delay = setTimeout(() => void this.#start(), intentMs)
    }
    const stop = () => this.#stop()
    if (matchMedia('(hover: hover)').matches) {
      entry.addEventListener('pointerenter', start)
      entry.addEventListener('pointerleave', stop)
    } else {
      const middle = { rootMargin: '-40% 0px -40% 0px' }
      new IntersectionObserver((entries) => (entries.at(-1)?.isIntersecting ? start() : stop()), middle).observe(entry)
    }
    entry.addEventListener('focusin', start)
    entry.addEventListener('focusout', stop)
  }

  async #start(): Promise<void> {
    if (prefersStillness() || current === this) return
    if (current !== undefined) current.#stop()
    current = this
    try {
      const episode = await fetchEpisode(this.#address)
      if (current !== this) return
      const [view, last] = [episodeView(episode), lastStep(episode)]
      const playback = new Playback(last, Math.min(paceMs(last), longestMs / last))
      this.#poster ??= this.#thumbnail.firstElementChild ?? undefined
      const draw = (step: number) =>
        this.#thumbnail.replaceChildren(pictureNode(episodeFrame(episode, view, step, { title: null })))
      playback.play(performance.now())
      this.#stopFrames = playFrames(playback, draw, () => {})
    } catch {
      // The thumbnail stays as it is.
      this.#stop()
    }
  }

  #stop(): void {
    clearTimeout(this.#delay)
    this.#stopFrames()
    if (this.#poster !== undefined) this.#thumbnail.replaceChildren(this.#poster)
    if (current === this) current = undefined
  }
}
