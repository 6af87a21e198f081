import type { LearningCurve } from '@agentgym/contract'
import {
  type ChartGeometry,
  type ChartOptions,
  chartGeometry,
  formatSteps,
  formatValue,
} from '@agentgym/contract/charts'
import { picture, points, type SvgElement, svg } from '@agentgym/pictures'

const WIDTH = 480
const HEIGHT = 260
const PLOT = { left: 56, right: WIDTH - 16, top: 16, bottom: HEIGHT - 44 }

export type CurveOptions = {
  /** Accessible title; null if adjacent text has it. */
  title?: string | null
  /** The target return, drawn as a dashed line. */
  target?: number
}

/** A learning curve: mean return by environment steps, with axes. */
export function learningCurve(
  curve: LearningCurve,
  { title = 'Learning curve', target }: CurveOptions = {},
): SvgElement {
  const geometry = geometryOf(curve, { target, xTicks: 6, yTicks: 4 })
  const x = (at: number) => PLOT.left + at * (PLOT.right - PLOT.left)
  const y = (at: number) => PLOT.bottom - at * (PLOT.bottom - PLOT.top)
  const line = geometry.lines.flat(2)
  const success = target === undefined ? null : y(geometry.y(target))
  return picture(
    WIDTH,
    HEIGHT,
    { title, description: describe(curve, target) },
    ...geometry.yTicks.map(({ value, at }) => horizontal(y(at), formatValue(value))),
    ...geometry.xTicks.map(({ value, at }) => vertical(x(at), formatSteps(value))),
    svg('line', { class: 'pic-axis', x1: PLOT.left, y1: PLOT.bottom, x2: PLOT.right, y2: PLOT.bottom }),
    svg(
      'text',
      { class: 'pic-label pic-text-middle', x: (PLOT.left + PLOT.right) / 2, y: HEIGHT - 8 },
      'environment steps',
    ),
    success === null
      ? null
      : svg('line', { class: 'pic-target', x1: PLOT.left, y1: success, x2: PLOT.right, y2: success }),
    success === null
      ? null
      : svg('text', { class: 'pic-label', x: PLOT.left + 6, y: success - 6 }, `success ${formatValue(target ?? 0)}`),
    svg('polyline', { class: 'pic-curve', points: points(line.map((point) => [x(point.x), y(point.y)])) }),
    ...line.slice(-1).map((end) => svg('circle', { class: 'pic-curve-end', cx: x(end.x), cy: y(end.y), r: 4 })),
  )
}

const SPARK = { width: 96, height: 32, margin: 4 }

/** The same without axes, for table rows. */
export function sparkline(
  curve: LearningCurve,
  { title = 'Learning curve' }: { title?: string | null } = {},
): SvgElement {
  const { width, height, margin } = SPARK
  const line = geometryOf(curve, { xTicks: 0, yTicks: 0, margin: 0 }).lines.flat(2)
  const x = (at: number) => margin + at * (width - 2 * margin)
  const y = (at: number) => height - margin - at * (height - 2 * margin)
  const end = line.at(-1)
  return picture(
    width,
    height,
    { title, description: describe(curve, undefined) },
    svg('polyline', { class: 'pic-curve', points: points(line.map((point) => [x(point.x), y(point.y)])) }),
    end === undefined ? null : svg('circle', { class: 'pic-curve-end', cx: x(end.x), cy: y(end.y), r: 2.5 }),
  )
}

function geometryOf(curve: LearningCurve, options: ChartOptions): ChartGeometry {
  const points = curve.map(({ steps, return_mean }) => ({ x: steps, y: return_mean }))
  return chartGeometry([points], options)
}

function horizontal(y: number, label: string): SvgElement {
  return svg(
    'g',
    {},
    svg('line', { class: 'pic-faint', x1: PLOT.left, y1: y, x2: PLOT.right, y2: y }),
    svg('text', { class: 'pic-label pic-text-end', x: PLOT.left - 8, y: y + 4 }, label),
  )
}

function vertical(x: number, label: string): SvgElement {
  return svg('text', { class: 'pic-label pic-text-middle', x, y: PLOT.bottom + 18 }, label)
}

function describe(curve: LearningCurve, target: number | undefined): string {
  const [first, last] = [curve.at(0), curve.at(-1)]
  if (first === undefined || last === undefined) return 'No completed episodes.'
  const at = ({ steps, return_mean }: LearningCurve[number]) =>
    `${formatValue(return_mean)} at ${steps.toLocaleString('en')} steps`
  const best = curve.reduce((best, point) => (point.return_mean > best.return_mean ? point : best))
  const success = target === undefined ? '' : ` Success target: ${formatValue(target)}.`
  return `Mean return from ${at(first)} to ${at(last)}; the highest is ${at(best)}.${success}`
}
