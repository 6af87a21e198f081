import type { PictureColor, ScenarioView } from '@agentgym/contract'
import { share } from '@agentgym/contract/charts'
import { displayList, type PictureStyles } from './display-list.ts'
import { type Area, DotCanvas, type SpanRow } from './dot-canvas.ts'
import { type Episode, lastStep, seenAt, type ViewOf } from './episode.ts'
import { episodeFrame, linesOf, valueText } from './episode-frame.ts'
import { type DrawnChannel, exploredMap, type GridCell, ownMarks } from './grid-frame.ts'
import { sceneArea } from './scene-frame.ts'
import { FRAME_HEIGHT, FRAME_WIDTH } from './svg.ts'
import { signed, transcriptCalls, transcriptTexts, wrapText } from './transcript-frame.ts'

export type TerminalSize = {
  columns: number
  rows: number
  unicode: boolean
  /** Without colors, the channels of a board are told apart by letters. */
  color: boolean
  styles: PictureStyles
}

/** A frame of an episode as lines of text, at most as many as there are rows: what `episodeFrame` draws, for a terminal. */
export function terminalFrame(
  episode: Episode,
  view: ScenarioView | null,
  index: number,
  size: TerminalSize,
): SpanRow[] {
  if (episode.scene === undefined) {
    if (view?.kind === 'grid') return boardRows(episode, view, index, size)
    if (view?.kind === 'transcript') return transcriptRows(episode, view, index, size)
    if (view === null || view.kind === 'lines') return lineRows(episode, view, index, size)
  }
  const area: Area = episode.scene === undefined ? whole : sceneArea(episode.scene)
  const canvas = new DotCanvas(area, size)
  canvas.draw(displayList(episodeFrame(episode, view, index, { title: null }), size.styles))
  return canvas.rows()
}

const whole = { x: 0, y: 0, width: FRAME_WIDTH, height: FRAME_HEIGHT }

type Sign = { text: string; color: PictureColor | null }

const signs = {
  unicode: { wall: '██', goal: '◆ ', agent: '● ', item: '■ ', trail: '▪ ', floor: '· ' },
  ascii: { wall: '##', goal: '* ', agent: '@ ', item: '+ ', trail: '. ', floor: '  ' },
}
const markSigns = { square: '██', block: '▓▓', dot: '▪ ', circle: '● ', ring: '○ ', diamond: '◆ ' }
/** Of a square by its value, from faint to full. */
const shades = ['░░', '▒▒', '▓▓', '██']

function boardRows(episode: Episode, view: ViewOf<'grid'>, index: number, size: TerminalSize): SpanRow[] {
  const { cells, way, bounds } = exploredMap(episode, view, index)
  const here = way.at(-1)
  const letters = lettersOf(view)
  const own = [...ownMarks(view.channels, false), ...ownMarks(view.channels, true)]
  const byPlace = new Map(cells.map((cell) => [`${cell.column},${cell.row}`, cell]))
  const narrow = 2 * (bounds.right - bounds.left + 1) > size.columns
  const [left, right] = window(bounds.left, bounds.right, here?.column, Math.floor(size.columns / (narrow ? 1 : 2)))
  const [top, bottom] = window(bounds.top, bounds.bottom, here?.row, size.rows)
  const words = signs[size.unicode ? 'unicode' : 'ascii']
  const signOf = (cell: GridCell | undefined): Sign => {
    if (cell === undefined) return { text: '  ', color: null }
    if (here !== undefined && here.column === cell.column && here.row === cell.row)
      return { text: words.agent, color: 'orange' }
    const mark = own.find((each) => cell.values[each.index] > 0)
    if (mark !== undefined) return markSign(mark.drawn, cell.values[mark.index], letters[mark.index], size)
    if (cell.goal) return { text: words.goal, color: 'accent' }
    if (cell.item && !cell.wall) return { text: words.item, color: 'blue' }
    if (cell.wall) return { text: words.wall, color: 'ink' }
    return cell.trail ? { text: words.trail, color: 'line' } : { text: words.floor, color: 'floor' }
  }
  return Array.from({ length: bottom - top + 1 }, (_, row) => {
    const spans: SpanRow = []
    for (let column = left; column <= right; column++) {
      const { text, color } = signOf(byPlace.get(`${column},${top + row}`))
      const shown = narrow ? text.slice(0, 1) : text
      const last = spans.at(-1)
      if (last !== undefined && last.color === color) last.text += shown
      else spans.push({ text: shown, color })
    }
    return spans
  })
}

/** As much of a range as fits, around `center` or its middle. */
function window(low: number, high: number, center: number | undefined, most: number): [number, number] {
  if (high - low + 1 <= most) return [low, high]
  const from = Math.round((center ?? (low + high) / 2) - most / 2)
  const first = Math.max(low, Math.min(from, high - most + 1))
  return [first, first + most - 1]
}

function markSign({ color, mark, glyph }: DrawnChannel, value: number, letter: string, size: TerminalSize): Sign {
  if (glyph !== undefined) return { text: `${glyph} `, color }
  if (!size.color || !size.unicode) return { text: `${letter} `, color }
  if (mark === 'square') return { text: shades[Math.min(3, Math.max(0, Math.ceil(value * 4) - 1))], color }
  return { text: markSigns[mark ?? 'square'], color }
}

/** A letter of its name for each channel, all different as far as names allow. */
function lettersOf({ channels }: ViewOf<'grid'>): string[] {
  const taken = new Set<string>()
  return channels.map((channel) => {
    const name = typeof channel === 'string' ? channel : channel.name
    const letters = Array.from(name.replaceAll(' ', ''))
    const letter = letters.find((each) => !taken.has(each)) ?? letters[0]
    taken.add(letter)
    return letter
  })
}

function transcriptRows(episode: Episode, view: ViewOf<'transcript'>, index: number, size: TerminalSize): SpanRow[] {
  const { columns, rows, unicode } = size
  const mark = unicode ? '→' : '>'
  const said = wrapText(transcriptTexts(episode).join('\n'), columns - 2, Math.max(2, Math.floor(rows / 3)))
  const calls: SpanRow[] = transcriptCalls(episode, view)
    .slice(0, index)
    .flatMap(({ action, reward, changes }) => {
      const score = signed(reward)
      const words = wrapText(action, columns - 4 - score.length, 3)
      const called = words.map(
        (line, i): SpanRow => [
          { text: i === 0 ? `${mark} ` : '  ', color: 'accent' },
          { text: i === 0 ? `${line}  ` : line, color: 'ink' },
          ...(i === 0 ? [{ text: score, color: rewardColor(reward) }] : []),
        ],
      )
      const next = changes.flatMap((change) => wrapText(change, columns - 4, 3)).slice(0, 8)
      return [...called, ...next.map((line): SpanRow => [{ text: `  ${line}`, color: 'dim' }])]
    })
  const room = Math.max(1, rows - said.length - 1)
  return [...said.map((line): SpanRow => [{ text: `  ${line}`, color: 'ink' }]), [], ...calls.slice(-room)]
}

function rewardColor(reward: number): PictureColor {
  return reward > 0 ? 'green' : reward < 0 ? 'failure' : 'dim'
}

const heights = { unicode: '▁▂▃▄▅▆▇█', ascii: '__..--=#' }

/** For each number its name, its course so far, and its value. */
function lineRows(episode: Episode, view: ViewOf<'lines'> | null, index: number, size: TerminalSize): SpanRow[] {
  const { lines, more } = linesOf(episode, view)
  const names = Math.min(24, Math.max(0, ...lines.map(({ name }) => name.length)))
  const room = Math.max(4, Math.min(60, size.columns - names - 16))
  const steps = heights[size.unicode ? 'unicode' : 'ascii']
  const drawn = lines.slice(0, size.rows).map(({ at, name, unit, low, high }): SpanRow => {
    const values = Array.from(
      { length: lastStep(episode) + 1 },
      (_, moment) => seenAt(episode, moment).observation[at] ?? 0,
    )
    const [least, most] = [low ?? Math.min(...values), high ?? Math.max(...values)]
    const shown = values.slice(Math.max(0, index + 1 - room), index + 1)
    const height = (value: number) => steps[Math.max(0, Math.min(7, Math.floor(share(value, least, most) * 8)))]
    const course = least === most ? steps[0].repeat(shown.length) : shown.map(height).join('')
    return [
      { text: `${name.slice(0, names).padEnd(names)}  `, color: 'dim' },
      { text: course.padEnd(room), color: 'blue' },
      { text: `  ${valueText(values[index] ?? 0, unit)}`, color: 'ink' },
    ]
  })
  return more > 0 && drawn.length < size.rows ? [...drawn, [{ text: `and ${more} more numbers`, color: 'dim' }]] : drawn
}
