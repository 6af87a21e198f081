import type { SampleEpisode } from '@agentgym/contract'
import {
  episodeFrame,
  episodeView,
  FRAME_HEIGHT,
  FRAME_WIDTH,
  lastStep,
  picture,
  type SvgElement,
  svg,
} from '@agentgym/pictures'

/** The thumbnail of a version in lists: the end of its sample episode, or else an emblem from its hash. */
export function thumbnail({ integrity }: { integrity: string }, episode: SampleEpisode | null): SvgElement {
  if (episode !== null) return episodeFrame(episode, episodeView(episode), lastStep(episode), { title: null })
  return emblem(integrity)
}

const ROWS = 5
/** Mirrored around a middle column. */
const COLUMNS = 3
const CELL = 40

/**
 * The emblem of a package without a picture: a deterministic pattern of its hash (hex, or any text). Decorative, so
 * hidden from screen readers.
 */
export function emblem(hash: string): SvgElement {
  const random = generator(hash)
  const across = 2 * COLUMNS + 1
  const left = (FRAME_WIDTH - across * CELL) / 2
  const top = (FRAME_HEIGHT - ROWS * CELL) / 2
  const shapes: SvgElement[] = []
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column <= COLUMNS; column++) {
      const kind = random() % 5
      const y = top + row * CELL
      shapes.push(...cell(kind, left + column * CELL, y))
      if (column < COLUMNS) shapes.push(...cell(kind, left + (across - 1 - column) * CELL, y))
    }
  }
  return picture(FRAME_WIDTH, FRAME_HEIGHT, { title: null }, ...shapes)
}

/** Two cells of five are empty. */
function cell(kind: number, x: number, y: number): SvgElement[] {
  const centre = { cx: x + CELL / 2, cy: y + CELL / 2 }
  const square = { x: x + 4, y: y + 4, width: CELL - 8, height: CELL - 8, rx: 3 }
  if (kind === 0) return [svg('rect', { class: 'pic-emblem', ...square })]
  if (kind === 1) return [svg('circle', { class: 'pic-emblem-line', ...centre, r: CELL / 2 - 6 })]
  if (kind === 2) return [svg('circle', { class: 'pic-emblem', ...centre, r: 7 })]
  return []
}

/** FNV-1a of the text, and xorshift from there: unsigned 32-bit numbers. */
function generator(text: string): () => number {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  state = (state | 0) === 0 ? 1 : state | 0
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
}
