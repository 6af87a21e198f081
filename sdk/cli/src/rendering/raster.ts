import { fileURLToPath } from 'node:url'
import {
  actionName,
  type Drawn,
  displayList,
  episodeFrame,
  episodeView,
  FRAME_HEIGHT,
  FRAME_WIDTH,
  lastStep,
  readPictureStyles,
  returnAt,
} from '@agentgym/pictures'
import { type Canvas, createCanvas, GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas'
import { pictureRules, tidy } from '../playing/episode-lines.ts'
import { formatValue } from '../terminal/format-values.ts'
import { colorRules, readPalette, type Theme } from './picture-colors.ts'
import type { Recording } from './record-episode.ts'

const HEAD = 26
const FOOT = 44
const GAP = 12
const FONT = 'AgentGym Mono'

type Pen = { context: SKRSContext2D; color(name: string): string }

/** Draws moments of episodes, side by side, as pixels: `scale` of them a unit of a picture. */
export class Raster {
  readonly canvas: Canvas
  readonly #recordings: readonly Recording[]
  readonly #scale: number
  readonly #pen: Pen
  readonly #styles = readPictureStyles(pictureRules())

  constructor(recordings: readonly Recording[], { scale, theme }: { scale: number; theme: Theme }) {
    if (!GlobalFonts.has(FONT)) GlobalFonts.registerFromPath(fontFile(), FONT)
    const width = recordings.length * (FRAME_WIDTH + GAP) + GAP
    this.canvas = createCanvas(Math.round(width * scale), Math.round((HEAD + FRAME_HEIGHT + FOOT) * scale))
    const palette = readPalette(colorRules(), theme)
    this.#recordings = recordings
    this.#scale = scale
    this.#pen = { context: this.canvas.getContext('2d'), color: (name) => palette.get(name) ?? '#000000' }
  }

  /** Steps of the longest episode. */
  get last(): number {
    return Math.max(...this.#recordings.map(({ episode }) => lastStep(episode)))
  }

  /** Each episode before its action `index`, or at its end. */
  draw(index: number): void {
    const { context, color } = this.#pen
    context.setTransform(this.#scale, 0, 0, this.#scale, 0, 0)
    context.fillStyle = color('paper')
    context.fillRect(0, 0, this.canvas.width, this.canvas.height)
    this.#recordings.forEach((recording, panel) => {
      context.save()
      context.translate(GAP + panel * (FRAME_WIDTH + GAP), 0)
      this.#panel(recording, Math.min(index, lastStep(recording.episode)))
      context.restore()
    })
  }

  #panel({ player, episode }: Recording, index: number): void {
    const { context, color } = this.#pen
    write(this.#pen, player, [0, 17], { size: 11, color: 'ink', width: FRAME_WIDTH })
    context.save()
    context.translate(0, HEAD)
    context.fillStyle = color('raised')
    context.fillRect(0, 0, FRAME_WIDTH, FRAME_HEIGHT)
    context.beginPath()
    context.rect(0, 0, FRAME_WIDTH, FRAME_HEIGHT)
    context.clip()
    const frame = episodeFrame(episode, episodeView(episode), index, { title: null })
    for (const drawn of displayList(frame, this.#styles)) paint(this.#pen, drawn)
    context.restore()
    const step = episode.steps[index - 1]
    const score = `step ${index} of ${lastStep(episode)}   return ${formatValue(tidy(returnAt(episode, index)))}`
    const chosen = step?.likely?.find(({ choice }) => choice === step.action[0])
    const sure = chosen === undefined ? '' : ` (${Math.round(chosen.probability * 100)}%)`
    const did =
      step === undefined ? '' : `${actionName(episode, step.action)}${sure}, reward ${formatValue(step.reward)}`
    write(this.#pen, score, [0, HEAD + FRAME_HEIGHT + 16], { size: 10.5, color: 'ink', width: FRAME_WIDTH })
    write(this.#pen, did, [0, HEAD + FRAME_HEIGHT + 32], { size: 10.5, color: 'dim', width: FRAME_WIDTH })
  }
}

function fontFile(): string {
  const name = '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2'
  return fileURLToPath(import.meta.resolve(name))
}

type Writing = { size: number; color: string; width: number }

function write({ context, color }: Pen, text: string, [x, y]: [number, number], style: Writing): void {
  context.font = `${style.size}px "${FONT}", monospace`
  context.fillStyle = color(style.color)
  context.textAlign = 'left'
  let shown = text
  while (shown.length > 1 && context.measureText(shown).width > style.width) shown = `${shown.slice(0, -2)}…`
  context.fillText(shown, x, y)
}

function paint({ context, color }: Pen, drawn: Drawn): void {
  if (drawn.kind === 'text') {
    context.font = `${drawn.size}px "${FONT}", monospace`
    context.textAlign = drawn.anchor === 'middle' ? 'center' : drawn.anchor === 'end' ? 'right' : 'left'
    // Lines that cross a text end before it, as in the stylesheet.
    context.lineWidth = 3
    context.strokeStyle = color('raised')
    context.globalAlpha = 1
    context.setLineDash([])
    context.strokeText(drawn.text, ...drawn.at)
    context.fillStyle = color(drawn.color)
    context.fillText(drawn.text, ...drawn.at)
    return
  }
  const { points, closed, fill, fillOpacity, stroke, strokeWidth, strokeOpacity, dash } = drawn
  context.beginPath()
  points.forEach(([x, y], i) => {
    if (i === 0) context.moveTo(x, y)
    else context.lineTo(x, y)
  })
  if (closed) context.closePath()
  if (fill !== null) {
    context.globalAlpha = fillOpacity
    context.fillStyle = color(fill)
    context.fill()
  }
  if (stroke !== null) {
    context.globalAlpha = strokeOpacity
    context.strokeStyle = color(stroke)
    context.lineWidth = strokeWidth
    context.lineJoin = 'round'
    context.lineCap = 'round'
    context.setLineDash(dash)
    context.stroke()
  }
  context.globalAlpha = 1
}
