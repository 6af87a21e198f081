// Plays the sample episodes of a page, each when somebody asks for it: nothing moves by itself. Arrow keys step, Home and
// End go to its ends, Space plays and pauses.
import type { SampleEpisode, ScenarioView } from '@agentgym/contract'
import { episodeFrame } from '../pictures/episode-frame.ts'
import { lastMoment } from '../pictures/episode-moments.ts'
import { momentWords } from '../pictures/moment-words.ts'
import { svgNode } from './nodes/svg-node.ts'

/** A whole episode takes about this long, whatever its steps; none shorter or longer than can be followed. */
const wholeMs = 12_000
const stepMs = { least: 50, most: 900 }

for (const figure of document.querySelectorAll<HTMLElement>('[data-replay]')) {
  const controls = figure.querySelector<HTMLElement>('.replay-controls')
  const range = figure.querySelector<HTMLInputElement>('.replay-range')
  if (controls !== null && range !== null) open(figure, controls, range)
}

function open(figure: HTMLElement, controls: HTMLElement, range: HTMLInputElement): void {
  const view: ScenarioView | null = JSON.parse(figure.dataset.view ?? 'null')
  const stage = figure.querySelector<HTMLElement>('.replay-stage')
  const words = figure.querySelector<HTMLElement>('.replay-now')
  const play = figure.querySelector<HTMLElement>('[data-replay-do="play"]')
  const last = Number(range.max)
  let episode: Promise<SampleEpisode> | undefined
  let index = last
  /** Of what is drawn: where one is again when another moment could not be. */
  let drawn = last
  let timer: ReturnType<typeof setTimeout> | undefined

  const load = () => {
    episode ??= fetchEpisode(figure.dataset.replay ?? '').catch((error: unknown) => {
      // The next press may fare better.
      episode = undefined
      throw error
    })
    return episode
  }
  const show = async (wanted: number) => {
    index = Math.min(last, Math.max(0, wanted))
    const shown = index
    const loaded = await load()
    // Another moment was asked for meanwhile.
    if (shown !== index) return
    draw(loaded)
  }
  const draw = (loaded: SampleEpisode) => {
    drawn = index
    stage?.replaceChildren(svgNode(episodeFrame(loaded, view, index, { title: figure.dataset.title })))
    range.value = String(index)
    const at = figure.querySelector('.replay-at')
    if (at !== null) at.textContent = `${index} / ${last}`
    if (words !== null) words.textContent = momentWords(loaded, index)
    for (const call of figure.querySelectorAll<HTMLElement>('[data-replay-step]'))
      call.dataset.state = stateOf(Number(call.dataset.replayStep), index)
  }
  const setPlaying = (playing: boolean) => {
    figure.toggleAttribute('data-playing', playing)
    play?.setAttribute('aria-label', playing ? 'Pause' : 'Play')
    // What changes many times a second is not read out.
    words?.setAttribute('aria-live', playing ? 'off' : 'polite')
  }
  const pause = () => {
    clearTimeout(timer)
    timer = undefined
    setPlaying(false)
  }
  const start = async () => {
    setPlaying(true)
    const pace = Math.min(stepMs.most, Math.max(stepMs.least, wholeMs / Math.max(1, last)))
    const next = async () => {
      if (index >= last) return pause()
      await show(index + 1)
      if (timer !== undefined) timer = setTimeout(tick, pace)
    }
    const tick = () => void next().catch(failed)
    timer = setTimeout(tick, pace)
    await show(index >= last ? 0 : index)
  }
  const failed = () => {
    pause()
    index = drawn
    range.value = String(drawn)
    if (words !== null) words.textContent = 'The episode could not be loaded. Press again to try once more.'
  }
  const act = (action: string | undefined) => {
    if (action === 'play') {
      if (timer !== undefined) return pause()
      return void start().catch(failed)
    }
    pause()
    if (action === 'back') void show(index - 1).catch(failed)
    if (action === 'forward') void show(index + 1).catch(failed)
    if (action === 'start') void show(0).catch(failed)
    if (action === 'end') void show(last).catch(failed)
  }

  controls.hidden = false
  if (stage !== null) stage.tabIndex = 0
  controls.addEventListener('click', (event) => {
    if (!(event.target instanceof Element)) return
    const button = event.target.closest<HTMLElement>('[data-replay-do]')
    if (button !== null) act(button.dataset.replayDo)
  })
  range.addEventListener('input', () => {
    pause()
    void show(Number(range.value)).catch(failed)
  })
  stage?.addEventListener('keydown', (event) => {
    const action = keys[event.key]
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    act(action)
  })
}

const keys: Record<string, string | undefined> = {
  ArrowLeft: 'back',
  ArrowRight: 'forward',
  Home: 'start',
  End: 'end',
  ' ': 'play',
}

function stateOf(step: number, index: number): string {
  if (step === index) return 'now'
  return step < index ? 'past' : 'ahead'
}

async function fetchEpisode(address: string): Promise<SampleEpisode> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`status ${response.status}`)
  const episode: SampleEpisode = await response.json()
  if (lastMoment(episode) < 1) throw new Error('an episode without a step')
  return episode
}
