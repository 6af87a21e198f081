import { formatValue, share } from '@agentgym/contract/charts'
import { picture, type SvgElement, svg } from '@agentgym/pictures'

const WIDTH = 400
const HEIGHT = 120
const EDGE = 16
/** Where dots stand on, and where the mean is drawn. */
const FLOOR = 84
const MEAN = 96
const COLUMNS = 50

type Paired = {
  /** Of each episode: the return minus that of the other agent. */
  differences: readonly number[]
  mean: number
  /** Of 95%; null for a single episode. */
  confidence: { low: number; high: number } | null
  title: string
}

/** A dot for each episode where its difference is, and the mean with its interval below, about a line at zero. */
export function pairedPlot({ differences, mean, confidence, title }: Paired): SvgElement {
  const values = [...differences, 0, confidence?.low ?? mean, confidence?.high ?? mean]
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const x = (value: number) => EDGE + (high === low ? 0.5 : share(value, low, high)) * (WIDTH - 2 * EDGE)
  const columns = stacked(differences.map((value) => Math.round(((x(value) - EDGE) / (WIDTH - 2 * EDGE)) * COLUMNS)))
  const tallest = Math.max(1, ...columns.map(({ height }) => height + 1))
  const rise = Math.min(8, (FLOOR - 12) / tallest)
  const dots = columns.map(({ column, height }) =>
    svg('circle', {
      class: 'pic-curve-end',
      cx: EDGE + (column / COLUMNS) * (WIDTH - 2 * EDGE),
      cy: FLOOR - 4 - height * rise,
      r: 3,
    }),
  )
  return picture(
    WIDTH,
    HEIGHT,
    { title },
    svg('line', { class: 'pic-axis', x1: EDGE, x2: WIDTH - EDGE, y1: FLOOR, y2: FLOOR }),
    svg('line', { class: 'pic-cursor', x1: x(0), x2: x(0), y1: 4, y2: MEAN + 8 }),
    ...dots,
    confidence === null
      ? null
      : svg('line', { class: 'pic-way', x1: x(confidence.low), x2: x(confidence.high), y1: MEAN, y2: MEAN }),
    svg('circle', { class: 'pic-tip', cx: x(mean), cy: MEAN, r: 4 }),
    svg('text', { class: 'pic-label', x: EDGE, y: HEIGHT - 4 }, formatValue(low)),
    svg('text', { class: 'pic-label pic-text-end', x: WIDTH - EDGE, y: HEIGHT - 4 }, formatValue(high)),
  )
}

/** Values of the same column stand on each other, in the order of the episodes. */
function stacked(columns: readonly number[]): { column: number; height: number }[] {
  const heights = new Map<number, number>()
  return columns.map((column) => {
    const height = heights.get(column) ?? 0
    heights.set(column, height + 1)
    return { column, height }
  })
}
