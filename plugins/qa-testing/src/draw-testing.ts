/** A test of a release: the notes above, the screens in the middle, and what has been reported below. */
import type { Scene } from '@agentgym/scenario'
import { screens } from './application.ts'
import type { Testing } from './testing.ts'

type Shape = Scene['shapes'][number]
type Color = NonNullable<Shape['color']>

const WIDTH = 60
const HEIGHT = 45
/** About as many characters fit across. */
const COLUMNS = 50

export function drawTesting(testing: Testing): Scene {
  const { release, read, screen, input, result, failures, opened, covered, found, reported, verdict } = testing
  const shapes: Shape[] = []
  const write = (x: number, y: number, words: string, color: Color = 'ink') =>
    shapes.push({ kind: 'text', x, y, text: words, color })

  for (const [i, note] of release.notes.entries()) {
    const y = 3 + 7 * i
    const lines = wrap(i < read ? note.text : 'A release note that has not been read')
    for (const [row, line] of lines.entries()) write(3, y + 2.8 * row, line, i < read ? 'ink' : 'dim')
    if (covered.has(note)) {
      shapes.push({ kind: 'circle', x: 1.3, y: y - 0.8, radius: 0.7, color: found.has(note) ? 'warning' : 'green' })
    }
  }

  for (const [i, each] of screens.entries()) {
    const x = 1 + 11.8 * i
    const color: Color = each === screen ? 'accent' : 'line'
    shapes.push({ kind: 'rect', x, y: 17, width: 10.8, height: 13, color, outline: true })
    write(x + 0.8, 20, each.replace('_', ' '), opened.has(each) ? 'ink' : 'dim')
    const stored = release.application.recordsOf(each).length
    if (stored > 0) write(x + 0.8, 24, `${stored} saved`, 'dim')
    if (each === screen && input !== null) write(x + 0.8, 28, input, 'blue')
  }

  if (result !== '') write(1, 34.5, result, failures > 0 ? 'failure' : 'green')
  if (failures > 0) write(1, 37.5, failures === 1 ? 'failed once' : 'failed again', 'failure')
  write(1, 43, `bugs reported: ${reported.blocking} blocking, ${reported.minor} minor`, 'dim')
  if (verdict !== null) write(46, 43, verdict === 'release' ? 'RELEASED' : 'HELD BACK', 'accent')
  return { width: WIDTH, height: HEIGHT, shapes }
}

/** Lines of a text, broken between words. */
function wrap(words: string): string[] {
  const lines: string[] = []
  for (const word of words.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= COLUMNS) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
