import type { SampleEpisode } from '@agentgym/contract'
import { exploredMap, type GridCell } from './explored-map.ts'
import { FRAME_HEIGHT, FRAME_WIDTH, type ViewOf } from './scene.ts'
import { hundredths, points, type SvgElement, svg } from './svg-element.ts'

const MARGIN = 16

/** What is known of a grid, with the way so far. */
export function gridFrame(episode: SampleEpisode, view: ViewOf<'grid'>, index: number): (SvgElement | null)[] {
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
    ...cells.filter((cell) => cell.goal).map((cell) => diamond(centre(cell), size * 0.36)),
    here === undefined ? null : agent(centre(here), size * 0.3),
  ]
}

function agent([cx, cy]: [number, number], r: number): SvgElement {
  return svg('circle', { class: 'pic-agent', cx, cy, r })
}

function diamond([x, y]: [number, number], r: number): SvgElement {
  const corners: [number, number][] = [
    [x, y - r],
    [x + r, y],
    [x, y + r],
    [x - r, y],
  ]
  return svg('polygon', { class: 'pic-goal', points: points(corners) })
}
