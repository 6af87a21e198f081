import { Playback, paceMs } from '@agentgym/pictures'
import { playFrames, prefersStillness } from './play-frames.ts'
import { ReplayPanel, type Source } from './replay-panel.ts'

/** Arrow keys step, Home and End jump to the ends, Space plays and pauses. */
const keys: Record<string, string | undefined> = {
  ArrowLeft: 'back',
  ArrowRight: 'forward',
  Home: 'start',
  End: 'end',
  ' ': 'play',
}

/** Of a picture, for it to count as on screen. */
const shownShare = 0.4

/** On the figure: the viewer has stopped it, it has ended by itself, or it is to show the source in `detail`. */
export const replayEvents = { stopped: 'replay-stopped', ended: 'replay-ended', source: 'replay-source' } as const

/** The controls of one replay or of several that play in step. Plays by itself while it is on screen, each player once. */
export class ReplayTransport {
  readonly #figure: HTMLElement
  readonly #panels: ReplayPanel[]
  readonly #range: HTMLInputElement
  #playback: Playback | undefined
  #stopFrames = () => {}
  #player = 0
  #speed = 1
  /** Whether it plays as soon as it is on screen. */
  #wanted = !prefersStillness()
  #visible = false

  constructor(figure: HTMLElement, range: HTMLInputElement) {
    this.#figure = figure
    this.#range = range
    this.#panels = [...figure.querySelectorAll<HTMLElement>('.replay-panel')].map((root) => new ReplayPanel(root))
  }

  listen(): void {
    const figure = this.#figure
    figure.toggleAttribute('data-live', true)
    figure.addEventListener('click', ({ target }) => {
      const button = target instanceof Element ? target.closest<HTMLElement>('button') : null
      const { replayDo, replayPlayer } = button?.dataset ?? {}
      if (replayDo !== undefined) void this.#act(replayDo)
      if (replayPlayer !== undefined) void this.#guarded(() => this.#choose(Number(replayPlayer)))
    })
    this.#range.addEventListener('input', () => void this.#goTo(Number(this.#range.value)))
    const speed = figure.querySelector<HTMLSelectElement>('.replay-speed')
    speed?.addEventListener('change', () => {
      this.#speed = Number(speed.value)
      this.#playback?.setSpeed(this.#speed, performance.now())
    })
    figure.addEventListener(replayEvents.source, (event) => {
      for (const panel of this.#panels) panel.replace((event as CustomEvent<Source>).detail)
      void this.#guarded(() => this.#choose(0))
    })
    for (const stage of figure.querySelectorAll<HTMLElement>('.replay-stage')) {
      stage.tabIndex = 0
      stage.addEventListener('keydown', (event) => {
        const action = keys[event.key]
        if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return
        event.preventDefault()
        void this.#act(action)
      })
    }
    let onScreen = false
    const seen = () => this.#setVisible(onScreen && !document.hidden)
    new IntersectionObserver(
      (entries) => {
        onScreen = (entries.at(-1)?.intersectionRatio ?? 0) >= shownShare
        seen()
      },
      { threshold: shownShare },
    ).observe(figure.querySelector('.replay-stage') ?? figure)
    document.addEventListener('visibilitychange', seen)
  }

  #setVisible(visible: boolean): void {
    this.#visible = visible
    if (visible && this.#wanted) void this.#guarded(() => this.#play())
    else if (!visible) this.#pause()
  }

  async #act(action: string): Promise<void> {
    if (action === 'play') {
      this.#wanted = !(this.#playback?.playing ?? false)
      // Who presses a button looks at it, however little of the picture is on the screen.
      this.#visible = true
      if (this.#wanted) return this.#guarded(() => this.#play())
      this.#tell(replayEvents.stopped)
      return this.#pause()
    }
    const at = Number(this.#range.value)
    const steps: Record<string, number | undefined> = { back: at - 1, forward: at + 1, start: 0, end: Infinity }
    const step = steps[action]
    if (step !== undefined) await this.#goTo(step)
  }

  async #goTo(step: number): Promise<void> {
    this.#wanted = false
    this.#tell(replayEvents.stopped)
    this.#pause()
    await this.#guarded(async () => {
      const playback = await this.#load()
      playback.seek(step)
      this.#draw(playback.stepAt(0))
    })
  }

  /** Shows another player from its first step; plays it unless motion is unwanted. */
  async #choose(player: number): Promise<void> {
    this.#pause()
    this.#setPlayer(player)
    this.#wanted = !prefersStillness()
    const playback = await this.#load()
    this.#draw(playback.stepAt(0))
    if (this.#wanted) await this.#play()
  }

  #setPlayer(player: number): void {
    this.#player = player
    this.#playback = undefined
    for (const panel of this.#panels) panel.choose(player)
    for (const button of this.#figure.querySelectorAll<HTMLElement>('[data-replay-player]'))
      button.setAttribute('aria-pressed', String(Number(button.dataset.replayPlayer) === player))
  }

  async #load(): Promise<Playback> {
    await Promise.all(this.#panels.map((panel) => panel.load()))
    if (this.#playback === undefined) {
      const last = Math.max(...this.#panels.map((panel) => panel.last))
      // The same tempo for all players.
      const pace = paceMs(Math.max(...this.#panels.map((panel) => panel.longest)))
      this.#playback = new Playback(last, pace)
      this.#playback.setSpeed(this.#speed, 0)
      this.#range.max = String(last)
    }
    return this.#playback
  }

  async #play(): Promise<void> {
    this.#setPlaying(true)
    const playback = await this.#load()
    // It may have been paused, or left the screen, while it loaded.
    if (!this.#wanted || !this.#visible) return this.#pause()
    if (playback.playing) return
    playback.play(performance.now())
    const draw = (step: number) => this.#draw(step)
    this.#stopFrames = playFrames(playback, draw, () => void this.#guarded(() => this.#end()))
  }

  /** The next player's turn, or the end. Texts differ in height: what is below them would move unasked. */
  async #end(): Promise<void> {
    const next = this.#player + 1
    if (this.#panels.every(({ players, isText }) => next < players && !isText)) return this.#choose(next)
    this.#wanted = false
    this.#pause()
    this.#tell(replayEvents.ended)
  }

  #tell(name: string): void {
    this.#figure.dispatchEvent(new Event(name, { bubbles: true }))
  }

  #pause(): void {
    this.#stopFrames()
    this.#playback?.pause(performance.now())
    this.#setPlaying(false)
  }

  #setPlaying(playing: boolean): void {
    this.#figure.toggleAttribute('data-playing', playing)
    this.#figure.querySelector('[data-replay-do="play"]')?.setAttribute('aria-label', playing ? 'Pause' : 'Play')
    for (const panel of this.#panels) panel.setPlaying(playing)
  }

  #draw(step: number): void {
    this.#range.value = String(step)
    this.#figure.querySelector('.replay-at')?.replaceChildren(`${step} / ${this.#range.max}`)
    for (const panel of this.#panels) panel.draw(step)
  }

  /** Shows an error and keeps what is drawn. The next press retries. */
  async #guarded(action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch {
      this.#wanted = false
      this.#pause()
      for (const panel of this.#panels) panel.showFailure()
    }
  }
}
