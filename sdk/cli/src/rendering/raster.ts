import {
  actionName,
  episodeFrame,
  episodeView,
  FRAME_HEIGHT,
  FRAME_WIDTH,
  lastStep,
  returnAt,
} from '@agentgym/pictures'
import { type Canvas, createCanvas } from '@napi-rs/canvas'
import { tidy } from '../playing/episode-lines.ts'
import { formatValue } from '../terminal/format-values.ts'
import { drawFrame, openPen, type Pen, write } from './pen.ts'
import type { Theme } from './picture-colors.ts'
import type { Recording } from './record-episode.ts'

const HEAD = 26
const FOOT = 44
const GAP = 12
/** Draws moments of episodes, side by side, as pixels: `scale` of them a unit of a picture. */
export class Raster {
  readonly canvas: Canvas
  readonly #recordings: readonly Recording[]
  readonly #scale: number
  readonly #pen: Pen

  constructor(recordings: readonly Recording[], { scale, theme }: { scale: number; theme: Theme }) {
    const width = recordings.length * (FRAME_WIDTH + GAP) + GAP
    this.canvas = createCanvas(Math.round(width * scale), Math.round((HEAD + FRAME_HEIGHT + FOOT) * scale))
    this.#recordings = recordings
    this.#scale = scale
    this.#pen = openPen(this.canvas, theme)
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
    const { context } = this.#pen
    write(this.#pen, player, [0, 17], { size: 11, color: 'ink', width: FRAME_WIDTH })
    context.save()
    context.translate(0, HEAD)
    drawFrame(this.#pen, episodeFrame(episode, episodeView(episode), index, { title: null }))
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
