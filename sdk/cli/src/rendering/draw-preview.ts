import { FRAME_HEIGHT, FRAME_WIDTH } from '@agentgym/pictures'
import type { Preview } from '@agentgym/web'
import { createCanvas } from '@napi-rs/canvas'
import { safeText } from '../terminal/text.ts'
import { drawFrame, openPen, type Pen, write } from './pen.ts'

/** Pixels, as Open Graph asks for. */
const WIDTH = 1_200
const HEIGHT = 630
const EDGE = 56
/** Of a frame's units. */
const SCALE = (HEIGHT - 2 * EDGE) / FRAME_HEIGHT

/** The picture of a link to a page: a picture beside the page's title and facts, as PNG. */
export async function drawPreview({ title, lines, picture }: Preview): Promise<Uint8Array> {
  const canvas = createCanvas(WIDTH, HEIGHT)
  const pen = openPen(canvas, 'light')
  const { context, color } = pen
  context.fillStyle = color('paper')
  context.fillRect(0, 0, WIDTH, HEIGHT)
  context.save()
  context.translate(EDGE, EDGE)
  context.scale(SCALE, SCALE)
  drawFrame(pen, picture)
  context.restore()
  const left = 2 * EDGE + FRAME_WIDTH * SCALE
  const width = WIDTH - EDGE - left
  const below = writeTitle(pen, safeText(title, 120), [left, EDGE + 40], width)
  lines.forEach((line, i) => {
    write(pen, safeText(line, 120), [left, below + 44 + 32 * i], { size: 20, color: 'dim', width })
  })
  write(pen, 'AgentGym', [left, HEIGHT - EDGE], { size: 24, color: 'accent', width })
  return canvas.encode('png')
}

const TITLE = { size: 40, leading: 50, lines: 4 }

/** In lines of whole words. Returns the baseline of the last one. */
function writeTitle(pen: Pen, title: string, [x, y]: [number, number], width: number): number {
  const most = Math.floor(width / (0.6 * TITLE.size))
  const rows: string[] = []
  for (const word of title.split(/\s+/)) {
    const longer = `${rows.at(-1) ?? ''} ${word}`.trim()
    if (rows.length > 0 && longer.length <= most) rows[rows.length - 1] = longer
    else rows.push(word)
  }
  const shown = rows.slice(0, TITLE.lines)
  shown.forEach((row, i) => {
    write(pen, row, [x, y + i * TITLE.leading], { size: TITLE.size, color: 'ink', width })
  })
  return y + (shown.length - 1) * TITLE.leading
}
