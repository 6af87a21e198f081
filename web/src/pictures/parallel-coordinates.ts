import { share } from '@agentgym/contract/charts'
import { picture, points, type SvgElement, svg } from '@agentgym/pictures'

export type Axis = {
  name: string
  scale: 'linear' | 'log'
  /** What is written at its ends, or at its places. */
  labels: { at: number; text: string }[]
  /** Ends of the axis. */
  low: number
  high: number
}
/** One value for each axis. `strength`: 0 for the weakest line to 1 for the strongest. */
type ParallelLine = { values: number[]; strength: number; best: boolean }

const WIDTH_OF_AXIS = 150
const HEIGHT = 300
const PLOT = { top: 40, bottom: HEIGHT - 12 }

/** A line for each run through an axis for each setting and one for the score; the best one is drawn last and strongest. */
export function parallelCoordinates(axes: Axis[], lines: ParallelLine[], description: string): SvgElement {
  const width = WIDTH_OF_AXIS * axes.length
  const x = (axis: number) => WIDTH_OF_AXIS * (axis + 0.5)
  const y = ({ scale, low, high }: Axis, value: number) => {
    const level = scale === 'log' ? Math.log10 : Number
    return PLOT.bottom - share(level(value), level(low), level(high)) * (PLOT.bottom - PLOT.top)
  }
  const drawn = lines.toSorted((a, b) => Number(a.best) - Number(b.best) || a.strength - b.strength)
  const whole = picture(
    width,
    HEIGHT,
    { title: 'Settings and scores of all runs', description },
    ...drawn.map(({ values, strength, best }) =>
      svg('polyline', {
        class: best ? 'sweep-line sweep-best' : `sweep-line sweep-line-${Math.min(4, Math.floor(strength * 5))}`,
        points: points(values.map((value, index) => [x(index), y(axes[index], value)])),
      }),
    ),
    ...axes.map((axis, index) =>
      svg(
        'g',
        {},
        svg('line', { class: 'pic-axis', x1: x(index), x2: x(index), y1: PLOT.top, y2: PLOT.bottom }),
        svg('text', { class: 'pic-label pic-text-middle sweep-name', x: x(index), y: 16 }, axis.name),
        ...axis.labels.map(({ at, text }) =>
          svg('text', { class: 'pic-label sweep-label', x: x(index) + 6, y: y(axis, at) + 4 }, text),
        ),
      ),
    ),
  )
  // As wide as it has axes; its page scrolls.
  return { ...whole, attributes: { ...whole.attributes, width, height: HEIGHT } }
}
