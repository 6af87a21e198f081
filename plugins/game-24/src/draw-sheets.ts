/** A picture of a game: the numbers after each calculation, from the top down, and what is crossed out beside them. */
import type { Scene, SceneShape } from '@agentgym/scenario'
import { format } from './arithmetic.ts'
import type { State } from './game.ts'

const ROW = 3
const CARD = { width: 2.4, height: 1.7 }
/** Calculations that are shown crossed out beside one row; of more, the last ones. */
const SHOWN = 3

export function drawSheets({ target, sheets, calculationsLeft }: State, solved: boolean): Scene {
  const shapes: SceneShape[] = [
    { kind: 'text', x: 0.5, y: 1.2, text: `make ${format(target)}`, color: 'accent' },
    { kind: 'text', x: 19.5, y: 1.2, text: `${calculationsLeft} calculations left`, align: 'end', color: 'dim' },
  ]
  for (const [row, { numbers, tried }] of sheets.entries()) {
    const y = 2 + row * ROW
    const isLast = row === sheets.length - 1
    for (const [place, number] of numbers.entries()) {
      const x = 0.5 + place * (CARD.width + 0.4)
      const color = isLast ? (numbers.length > 1 ? 'orange' : solved ? 'green' : 'failure') : 'line'
      shapes.push(
        { kind: 'rect', x, y, ...CARD, color, outline: true },
        { kind: 'text', x: x + CARD.width / 2, y: y + 1.1, text: format(number), align: 'middle' },
      )
    }
    // The last one led to the next row, unless it was taken back.
    const crossedOut = isLast ? tried : tried.slice(0, -1)
    for (const [line, text] of crossedOut.slice(-SHOWN).entries())
      shapes.push({ kind: 'text', x: 19.5, y: y + 0.5 + line * 0.7, text: `✗ ${text}`, align: 'end', color: 'dim' })
    if (!isLast) shapes.push({ kind: 'text', x: 0.5, y: y + 2.5, text: tried[tried.length - 1], color: 'ink' })
  }
  return { width: 20, height: 2 + 4 * ROW, shapes }
}
