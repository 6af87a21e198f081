import { fileURLToPath } from 'node:url'
import {
  type Drawn,
  displayList,
  FRAME_HEIGHT,
  FRAME_WIDTH,
  type PictureStyles,
  readPictureStyles,
  type SvgElement,
} from '@agentgym/pictures'
import { type Canvas, GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas'
import { pictureRules } from '../playing/episode-lines.ts'
import { colorRules, readPalette, type Theme } from './picture-colors.ts'

const FONT = 'AgentGym Mono'

/** Draws pictures and texts on a canvas, in the colors of a theme. */
export type Pen = { context: SKRSContext2D; color(name: string): string; styles: PictureStyles }

export function openPen(canvas: Canvas, theme: Theme): Pen {
  if (!GlobalFonts.has(FONT)) GlobalFonts.registerFromPath(fontFile(), FONT)
  const palette = readPalette(colorRules(), theme)
  const color = (name: string) => palette.get(name) ?? '#000000'
  return { context: canvas.getContext('2d'), color, styles: readPictureStyles(pictureRules()) }
}

/** A frame of an episode at the origin, `FRAME_WIDTH` by `FRAME_HEIGHT` units. */
export function drawFrame(pen: Pen, frame: SvgElement): void {
  const { context, color, styles } = pen
  context.fillStyle = color('raised')
  context.fillRect(0, 0, FRAME_WIDTH, FRAME_HEIGHT)
  context.beginPath()
  context.rect(0, 0, FRAME_WIDTH, FRAME_HEIGHT)
  context.clip()
  for (const drawn of displayList(frame, styles)) paint(pen, drawn)
}

function fontFile(): string {
  const name = '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2'
  return fileURLToPath(import.meta.resolve(name))
}

type Writing = { size: number; color: string; width: number }

/** One line at its baseline, cut to `width`. */
export function write({ context, color }: Pen, text: string, [x, y]: [number, number], style: Writing): void {
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
    context.lineJoin = 'round'
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
