import type { ChannelRole, GridChannel, PictureColor } from '@agentgym/contract'
import type { Episode, ViewOf } from './episode.ts'
import { lastStep, seenAt } from './episode.ts'
import { FRAME_HEIGHT, FRAME_WIDTH, hundredths, points, type SvgElement, svg } from './svg.ts'

const MARGIN = 16

/** The known part of a grid, with the path so far. */
export function gridFrame(episode: Episode, view: ViewOf<'grid'>, index: number): (SvgElement | null)[] {
  const { cells, way, bounds } = exploredMap(episode, view, index)
  const columns = bounds.right - bounds.left + 1
  const rows = bounds.bottom - bounds.top + 1
  const size = Math.min((FRAME_WIDTH - 2 * MARGIN) / columns, (FRAME_HEIGHT - 2 * MARGIN) / rows, 40)
  const left = (FRAME_WIDTH - columns * size) / 2
  const top = (FRAME_HEIGHT - rows * size) / 2
  const x = (column: number) => left + (column - bounds.left) * size
  const y = (row: number) => top + (row - bounds.top) * size
  const squares = (wanted: (cell: GridCell) => boolean, gap: number) =>
    cells
      .filter(wanted)
      .map(({ column, row }) => {
        const side = hundredths(size - 2 * gap)
        return `M${hundredths(x(column) + gap)} ${hundredths(y(row) + gap)}h${side}v${side}h${-side}z`
      })
      .join('')
  const centre = (cell: { column: number; row: number }): [number, number] => [
    x(cell.column) + size / 2,
    y(cell.row) + size / 2,
  ]
  const here = way.at(-1)
  return [
    svg('path', { class: 'pic-floor', d: squares((cell) => !cell.wall, 0) }),
    svg('path', { class: 'pic-wall', d: squares((cell) => cell.wall, 0) }),
    svg('path', { class: 'pic-trail', d: squares((cell) => cell.trail && !cell.wall, size * 0.32) }),
    svg('path', { class: 'pic-item', d: squares((cell) => cell.item && !cell.wall, size * 0.25) }),
    way.length > 1 ? svg('polyline', { class: 'pic-way', points: points(way.map(centre)) }) : null,
    ...cells.filter((cell) => cell.goal).map((cell) => diamond('pic-goal', centre(cell), size * 0.36)),
    here === undefined ? null : agent(centre(here), size * 0.3),
    ...ownMarks(view.channels, true).flatMap(({ drawn, index }) => marks(drawn, cells, index, size, centre)),
    ...ownMarks(view.channels, false).flatMap(({ drawn, index }) => marks(drawn, cells, index, size, centre)),
  ]
}

type OwnChannel = Exclude<GridChannel, string>

/** How a channel of the author's own kind is drawn; null if it is not. */
function drawnChannel({ color, mark, glyph }: OwnChannel): DrawnChannel | null {
  if (color === undefined && mark === undefined && glyph === undefined) return null
  return { color: color ?? 'ink', mark: mark ?? (glyph === undefined ? 'square' : null), glyph }
}

/** Channels of the author's own kinds: those that fill their cells lie below the others. */
export function ownMarks(channels: readonly GridChannel[], filling: boolean): { drawn: DrawnChannel; index: number }[] {
  return channels.flatMap((channel, index) => {
    const drawn = typeof channel === 'string' ? null : drawnChannel(channel)
    return drawn === null || (drawn.mark === 'square') !== filling ? [] : [{ drawn, index }]
  })
}

export type DrawnChannel = {
  color: PictureColor
  mark: NonNullable<OwnChannel['mark']> | null
  glyph: string | undefined
}

/** Of a cell that its mark leaves free on each side. */
const gaps = { square: 0.04, block: 0.25, dot: 0.36 } as const

function marks(
  { color, mark, glyph }: DrawnChannel,
  cells: readonly GridCell[],
  channel: number,
  size: number,
  centre: (cell: Square) => [number, number],
): SvgElement[] {
  return cells
    .filter(({ values }) => values[channel] > 0)
    .flatMap((cell) => {
      const [cx, cy] = centre(cell)
      const opacity = Math.min(1, cell.values[channel])
      const fill = { class: `pic-fill-${color}`, 'fill-opacity': opacity < 1 ? opacity : undefined }
      const text = { class: `pic-glyph pic-fill-${mark === null ? color : 'paper'}`, x: cx, y: cy + size * 0.22 }
      return [
        ...(mark === null ? [] : [markShape(mark, [cx, cy], size, color, fill)]),
        ...(glyph === undefined ? [] : [svg('text', { ...text, 'font-size': size * 0.62 }, glyph)]),
      ]
    })
}

function markShape(
  mark: NonNullable<DrawnChannel['mark']>,
  [cx, cy]: [number, number],
  size: number,
  color: PictureColor,
  fill: Record<string, string | number | undefined>,
): SvgElement {
  if (mark === 'circle') return svg('circle', { ...fill, cx, cy, r: size * 0.38 })
  if (mark === 'ring')
    return svg('circle', { class: `pic-line-${color}`, cx, cy, r: size * 0.34, 'stroke-width': size * 0.1 })
  if (mark === 'diamond') return diamond(`pic-fill-${color}`, [cx, cy], size * 0.4)
  const side = size * (1 - 2 * gaps[mark])
  return svg('rect', { ...fill, x: cx - side / 2, y: cy - side / 2, width: side, height: side, rx: side * 0.08 })
}

function agent([cx, cy]: [number, number], r: number): SvgElement {
  return svg('circle', { class: 'pic-agent', cx, cy, r })
}

function diamond(name: string, [x, y]: [number, number], r: number): SvgElement {
  const corners: [number, number][] = [
    [x, y - r],
    [x + r, y],
    [x, y + r],
    [x - r, y],
  ]
  return svg('polygon', { class: name, points: points(corners) })
}

type Square = { column: number; row: number }
/** What its roles show, and the value of each channel. */
export type GridCell = Square & { wall: boolean; goal: boolean; trail: boolean; item: boolean; values: number[] }

type ExploredMap = {
  cells: GridCell[]
  /** Positions of the agent, the last one current; empty if unknown. */
  way: Square[]
  /** Extent over the whole episode, so that the view does not jump during playback. */
  bounds: { left: number; right: number; top: number; bottom: number }
}

type Channels = Record<ChannelRole, boolean> & { values: number[] }

/**
 * The known part of a grid at step `index`. Windows around the agent are joined by the moves of its actions; a failed
 * move is detected by walls that would not match.
 */
export function exploredMap(episode: Episode, view: ViewOf<'grid'>, index: number): ExploredMap {
  if (view.moves === undefined) return plainMap(episode, view, index)
  const known = new Map<string, GridCell>()
  const way: Square[] = [{ column: 0, row: 0 }]
  const bounds = { left: 0, right: 0, top: 0, bottom: 0 }
  let shown: GridCell[] = []
  let passed = 1
  for (let moment = 0; moment <= lastStep(episode); moment++) {
    const window = windowOf(seenAt(episode, moment).observation, view)
    if (moment > 0) way.push(moved(way[way.length - 1], view.moves[episode.steps[moment - 1].action[0]], window, known))
    const here = way[way.length - 1]
    for (const cell of window) {
      const placed = { ...cell, column: here.column + cell.column, row: here.row + cell.row, trail: false }
      known.set(key(placed), placed)
      bounds.left = Math.min(bounds.left, placed.column)
      bounds.right = Math.max(bounds.right, placed.column)
      bounds.top = Math.min(bounds.top, placed.row)
      bounds.bottom = Math.max(bounds.bottom, placed.row)
    }
    if (moment !== index) continue
    shown = [...known.values()]
    passed = way.length
  }
  return { cells: shown, way: way.slice(0, passed), bounds }
}

/** The displacement of a move: none, if the next observation only matches the known grid at the old position. */
function moved(
  from: Square,
  move: readonly number[] | undefined,
  window: GridCell[],
  known: ReadonlyMap<string, GridCell>,
): Square {
  const to = { column: from.column + (move?.[0] ?? 0), row: from.row + (move?.[1] ?? 0) }
  const disagreements = (at: Square) =>
    window.filter((cell) => {
      const before = known.get(key({ column: at.column + cell.column, row: at.row + cell.row }))
      return before !== undefined && before.wall !== cell.wall
    }).length
  return disagreements(to) > 0 && disagreements(from) === 0 ? from : to
}

/** A single observation: the whole grid, or a window around the agent. */
function plainMap(episode: Episode, view: ViewOf<'grid'>, index: number): ExploredMap {
  const [, rows, columns] = view.shape
  const { observation } = seenAt(episode, index)
  const cells = windowOf(observation, view)
  const bounds = { left: -middle(columns), right: columns - 1 - middle(columns), top: -middle(rows), bottom: 0 }
  bounds.bottom = rows - 1 + bounds.top
  if (view.channels.every((channel) => typeof channel === 'object')) return { cells, way: [], bounds }
  if (!view.channels.includes('agent')) return { cells, way: [{ column: 0, row: 0 }], bounds }
  const agents = cells.filter((cell) => channelsAt(observation, view, cell).agent)
  return { cells, way: agents.slice(0, 1), bounds }
}

/** Cells relative to the center. */
function windowOf(observation: readonly number[], view: ViewOf<'grid'>): GridCell[] {
  const [, rows, columns] = view.shape
  return Array.from({ length: rows * columns }, (_, square) => {
    const at = { column: (square % columns) - middle(columns), row: Math.floor(square / columns) - middle(rows) }
    const { wall, goal, trail, item, values } = channelsAt(observation, view, at)
    return { ...at, wall, goal, trail, item, values }
  })
}

function channelsAt(observation: readonly number[], view: ViewOf<'grid'>, { column, row }: Square): Channels {
  const [, rows, columns] = view.shape
  const square = (row + middle(rows)) * columns + column + middle(columns)
  const channels: Channels = { wall: false, trail: false, goal: false, agent: false, item: false, values: [] }
  view.channels.forEach((channel, index) => {
    const value = observation[view.at + index * rows * columns + square] ?? 0
    channels.values.push(value)
    if (value > 0 && typeof channel === 'string') channels[channel] = true
  })
  return channels
}

function middle(size: number): number {
  return Math.floor(size / 2)
}

function key({ column, row }: Square): string {
  return `${column},${row}`
}
