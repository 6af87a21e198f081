// Plays the sample episodes of a page on demand: nothing moves by itself. Arrow keys step, Home and End jump to the
// ends, Space plays and pauses.
import type { SampleEpisode, ScenarioView } from '@agentgym/contract'
import { describeStep, episodeFrame, lastStep } from '@agentgym/pictures'
import { pictureNode } from './nodes/dom.ts'

/** Approximate duration of an episode, whatever its number of steps, within limits that viewers can follow. */
const wholeMs = 12_000
const stepMs = { least: 50, most: 900 }

const keys: Record<string, string | undefined> = {
  ArrowLeft: 'back',
  ArrowRight: 'forward',
  Home: 'start',
  End: 'end',
  ' ': 'play',
}

class Replay {
  readonly #figure: HTMLElement
  readonly #range: HTMLInputElement
  readonly #view: ScenarioView | null
  readonly #last: number
  #episode: Promise<SampleEpisode> | undefined
  /** The requested step, and the drawn one. */
  #index: number
  #drawn: number
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(figure: HTMLElement, range: HTMLInputElement) {
    this.#figure = figure
    this.#range = range
    this.#view = JSON.parse(figure.dataset.view ?? 'null')
    this.#last = Number(range.max)
    this.#index = this.#last
    this.#drawn = this.#last
  }

  async act(action: string | undefined): Promise<void> {
    const moments: Record<string, number | undefined> = {
      back: this.#index - 1,
      forward: this.#index + 1,
      start: 0,
      end: this.#last,
    }
    if (action === 'play') return this.#timer === undefined ? this.#play() : this.#pause()
    const moment = action === undefined ? undefined : moments[action]
    if (moment !== undefined) await this.goTo(moment)
  }

  async goTo(moment: number): Promise<void> {
    this.#pause()
    await this.#guarded(() => this.#show(moment))
  }

  async #play(): Promise<void> {
    this.#setPlaying(true)
    const pace = Math.min(stepMs.most, Math.max(stepMs.least, wholeMs / Math.max(1, this.#last)))
    const next = async () => {
      if (this.#index >= this.#last) return this.#pause()
      await this.#show(this.#index + 1)
      if (this.#timer !== undefined) this.#timer = setTimeout(tick, pace)
    }
    const tick = () => void this.#guarded(next)
    this.#timer = setTimeout(tick, pace)
    await this.#guarded(() => this.#show(this.#index >= this.#last ? 0 : this.#index))
  }

  #pause(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#setPlaying(false)
  }

  #setPlaying(playing: boolean): void {
    this.#figure.toggleAttribute('data-playing', playing)
    this.#part('[data-replay-do="play"]')?.setAttribute('aria-label', playing ? 'Pause' : 'Play')
    // Not announced while it changes many times a second.
    this.#part('.replay-now')?.setAttribute('aria-live', playing ? 'off' : 'polite')
  }

  async #show(wanted: number): Promise<void> {
    const moment = Math.min(this.#last, Math.max(0, wanted))
    this.#index = moment
    this.#episode ??= fetchEpisode(this.#figure.dataset.replay ?? '')
    const episode = await this.#episode
    // Another step may have been requested meanwhile.
    if (moment === this.#index) this.#draw(episode, moment)
  }

  #draw(episode: SampleEpisode, moment: number): void {
    this.#drawn = moment
    this.#range.value = String(moment)
    const { title } = this.#figure.dataset
    this.#part('.replay-stage')?.replaceChildren(pictureNode(episodeFrame(episode, this.#view, moment, { title })))
    this.#part('.replay-at')?.replaceChildren(`${moment} / ${this.#last}`)
    this.#part('.replay-now')?.replaceChildren(describeStep(episode, moment))
    for (const call of this.#figure.querySelectorAll<HTMLElement>('[data-replay-step]'))
      call.dataset.state = stateOf(Number(call.dataset.replayStep), moment)
  }

  /** Shows an error and keeps the current step. */
  async #guarded(action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch {
      this.#pause()
      // The next press retries.
      this.#episode = undefined
      this.#index = this.#drawn
      this.#range.value = String(this.#drawn)
      this.#part('.replay-now')?.replaceChildren('The episode could not be loaded. Press again to retry.')
    }
  }

  #part(selector: string): HTMLElement | null {
    return this.#figure.querySelector<HTMLElement>(selector)
  }
}

for (const figure of document.querySelectorAll<HTMLElement>('[data-replay]')) {
  const controls = figure.querySelector<HTMLElement>('.replay-controls')
  const range = figure.querySelector<HTMLInputElement>('.replay-range')
  if (controls !== null && range !== null) listen(new Replay(figure, range), figure, controls, range)
}

function listen(replay: Replay, figure: HTMLElement, controls: HTMLElement, range: HTMLInputElement): void {
  controls.hidden = false
  controls.addEventListener('click', (event) => {
    if (!(event.target instanceof Element)) return
    const button = event.target.closest<HTMLElement>('[data-replay-do]')
    if (button !== null) void replay.act(button.dataset.replayDo)
  })
  range.addEventListener('input', () => void replay.goTo(Number(range.value)))
  const stage = figure.querySelector<HTMLElement>('.replay-stage')
  if (stage === null) return
  stage.tabIndex = 0
  stage.addEventListener('keydown', (event) => {
    const action = keys[event.key]
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    void replay.act(action)
  })
}

function stateOf(step: number, index: number): string {
  if (step === index) return 'now'
  return step < index ? 'past' : 'ahead'
}

async function fetchEpisode(address: string): Promise<SampleEpisode> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`status ${response.status}`)
  const episode: SampleEpisode = await response.json()
  if (lastStep(episode) < 1) throw new Error('an episode without a step')
  return episode
}
