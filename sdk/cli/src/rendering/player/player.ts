// The script of an episode's HTML file: draws and plays what the file holds, and asks nobody for anything.
import {
  actionName,
  choiceName,
  type Episode,
  episodeFrame,
  episodeView,
  lastStep,
  paceMs,
  returnAt,
  rewardLine,
  type SvgElement,
  svgNamespace,
  svgNode,
} from '@agentgym/pictures'

type Shown = { player: string; episode: Episode }

const recordings: Shown[] = JSON.parse(document.getElementById('recordings')?.textContent ?? '[]')
const last = Math.max(...recordings.map(({ episode }) => lastStep(episode)))
const pace = paceMs(last)

const range = element<HTMLInputElement>('scrub')
const play = element<HTMLButtonElement>('play')
const speed = element<HTMLSelectElement>('speed')
let index = 0
let timer: ReturnType<typeof setTimeout> | undefined

function element<Wanted extends HTMLElement>(id: string): Wanted {
  return document.getElementById(id) as Wanted
}

function text(parent: Element, selector: string, shown: string): void {
  parent.querySelector(selector)?.replaceChildren(shown)
}

function drawn(picture: SvgElement): SVGElement {
  return svgNode(picture, (name) => document.createElementNS(svgNamespace, name))
}

const panels = [...document.querySelectorAll<HTMLElement>('.panel')]

function draw(): void {
  range.value = String(index)
  text(document.body, '#at', `${index} / ${last}`)
  recordings.forEach(({ player, episode }, i) => {
    const panel = panels[i]
    const at = Math.min(index, lastStep(episode))
    const title = `${player}, step ${at}`
    panel.querySelector('.stage')?.replaceChildren(drawn(episodeFrame(episode, episodeView(episode), at, { title })))
    panel.querySelector('.rewards')?.replaceChildren(drawn(rewardLine(episode, at, 'Reward of each step')))
    const step = episode.steps[at - 1]
    text(panel, '.action', step === undefined ? 'Start' : actionName(episode, step.action))
    text(panel, '.reward', step === undefined ? '' : rounded(step.reward))
    text(panel, '.return', rounded(returnAt(episode, at)))
    panel.querySelector('.likely')?.replaceChildren(...likely(episode, at))
  })
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(4)))
}

/** The choices of the action that was played last, the likeliest first. */
function likely(episode: Episode, at: number): HTMLElement[] {
  return (episode.steps[at - 1]?.likely ?? []).slice(0, 4).map(({ choice, probability }) => {
    const row = document.createElement('li')
    const meter = document.createElement('meter')
    meter.value = probability
    meter.textContent = `${Math.round(probability * 100)}%`
    row.append(choiceName(episode, choice), meter, `${Math.round(probability * 100)}%`)
    return row
  })
}

function goTo(step: number): void {
  index = Math.min(last, Math.max(0, step))
  draw()
}

function tick(): void {
  if (index >= last) {
    pause()
    return
  }
  goTo(index + 1)
  timer = setTimeout(tick, pace / Number(speed.value))
}

function start(): void {
  if (index >= last) goTo(0)
  play.textContent = 'Pause'
  timer = setTimeout(tick, pace / Number(speed.value))
}

function pause(): void {
  clearTimeout(timer)
  timer = undefined
  play.textContent = 'Play'
}

play.addEventListener('click', () => (timer === undefined ? start() : pause()))
range.addEventListener('input', () => {
  pause()
  goTo(Number(range.value))
})
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === speed) return
  const moves: Record<string, number | undefined> = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: last }
  const to = moves[event.key]
  if (to !== undefined) {
    event.preventDefault()
    pause()
    goTo(to)
  } else if (event.key === ' ' && event.target !== play) {
    event.preventDefault()
    play.click()
  }
})

range.max = String(last)
draw()
// Who prefers no motion starts it.
if (matchMedia('(prefers-reduced-motion: reduce)').matches) goTo(last)
else start()
