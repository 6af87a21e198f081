import type { LearningCurve } from '@agentgym/contract'
import { axisTicks } from './axis-ticks.ts'
import { share } from './scene.ts'
import { shownNumber } from './shown-number.ts'
import { stepCount } from './step-count.ts'
import { picture, points, type SvgElement, svg } from './svg-element.ts'
import { valueRange } from './value-range.ts'

const WIDTH = 480
const HEIGHT = 260
const PLOT = { left: 56, right: WIDTH - 16, top: 16, bottom: HEIGHT - 44 }

export type CurveOptions = {
  /** What the picture is of; null where words beside it say so. */
  title?: string | null
  /** The return that counts as success, drawn as a dashed line. */
  target?: number
}

/** How a run learned: mean return by environment steps, with axes. */
export function learningCurve(
  curve: LearningCurve,
  { title = 'Learning curve', target }: CurveOptions = {},
): SvgElement {
  const all = [...curve.map(({ return_mean }) => return_mean), ...(target === undefined ? [] : [target])]
  const [low, high] = valueRange(all)
  const steps = Math.max(1, curve.at(-1)?.steps ?? 1)
  const x = (at: number) => PLOT.left + share(at, 0, steps) * (PLOT.right - PLOT.left)
  const y = (value: number) => PLOT.bottom - share(value, low, high) * (PLOT.bottom - PLOT.top)
  return picture(
    WIDTH,
    HEIGHT,
    { title, description: describe(curve, target) },
    ...axisTicks(low, high, 4).map((value) => horizontal(y(value), shownNumber(value))),
    ...axisTicks(0, steps, 6).map((at) => vertical(x(at), stepCount(at))),
    svg('line', { class: 'pic-axis', x1: PLOT.left, y1: PLOT.bottom, x2: PLOT.right, y2: PLOT.bottom }),
    svg(
      'text',
      { class: 'pic-label pic-text-middle', x: (PLOT.left + PLOT.right) / 2, y: HEIGHT - 8 },
      'environment steps',
    ),
    target === undefined
      ? null
      : svg('line', { class: 'pic-target', x1: PLOT.left, y1: y(target), x2: PLOT.right, y2: y(target) }),
    target === undefined
      ? null
      : svg('text', { class: 'pic-label', x: PLOT.left + 6, y: y(target) - 6 }, `success ${shownNumber(target)}`),
    svg('polyline', {
      class: 'pic-curve',
      points: points(curve.map((point) => [x(point.steps), y(point.return_mean)])),
    }),
    ...curve
      .slice(-1)
      .map((point) => svg('circle', { class: 'pic-curve-end', cx: x(point.steps), cy: y(point.return_mean), r: 4 })),
  )
}

const SPARK = { width: 96, height: 32, margin: 4 }

/** The same without axes, for the lines of a table; or as a thumbnail, four by three. */
export function sparkline(
  curve: LearningCurve,
  { title = 'Learning curve', thumbnail = false }: { title?: string | null; thumbnail?: boolean } = {},
): SvgElement {
  const { width, height, margin } = thumbnail ? { width: 320, height: 240, margin: 28 } : SPARK
  const values = curve.map(({ return_mean }) => return_mean)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const steps = Math.max(1, curve.at(-1)?.steps ?? 1)
  const x = (at: number) => margin + share(at, 0, steps) * (width - 2 * margin)
  const y = (value: number) => height - margin - share(value, low, high) * (height - 2 * margin)
  const end = curve.at(-1)
  return picture(
    width,
    height,
    { title, description: describe(curve, undefined) },
    thumbnail
      ? svg('line', {
          class: 'pic-axis',
          x1: margin,
          y1: height - margin + 8,
          x2: width - margin,
          y2: height - margin + 8,
        })
      : null,
    svg('polyline', {
      class: thumbnail ? 'pic-curve pic-curve-bold' : 'pic-curve',
      points: points(curve.map((point) => [x(point.steps), y(point.return_mean)])),
    }),
    end === undefined
      ? null
      : svg('circle', { class: 'pic-curve-end', cx: x(end.steps), cy: y(end.return_mean), r: thumbnail ? 9 : 2.5 }),
  )
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
  if (first === undefined || last === undefined) return 'No episode ended.'
  const at = ({ steps, return_mean }: LearningCurve[number]) =>
    `${shownNumber(return_mean)} at ${steps.toLocaleString('en')} steps`
  const best = curve.reduce((best, point) => (point.return_mean > best.return_mean ? point : best))
  const success = target === undefined ? '' : ` Success asks for ${shownNumber(target)}.`
  return `Mean return from ${at(first)} to ${at(last)}; the highest is ${at(best)}.${success}`
}
