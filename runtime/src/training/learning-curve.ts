import { chartGeometry, formatValue } from '@agentgym/contract/charts'
import { plotAxes, plotScale } from '../plot-axes.ts'
import { element, HEIGHT, INK, svg, text, WIDTH } from '../svg.ts'
import type { CurvePoint } from './run-statistics.ts'

const PLOT = { left: 72, right: WIDTH - 24, top: 56, bottom: HEIGHT - 56 }
const { x, y } = plotScale(PLOT)
const VALUE = 'return, mean of the last 100 episodes'
/** Okabe–Ito blue and vermilion. */
const [RETURN, TARGET] = ['#0072B2', '#D55E00']

/** Draws the learning curve as SVG: the return as a line, the target as a dashed one. Same input, same bytes. */
export function drawLearningCurve(curve: CurvePoint[], options: { title: string; target: number | null }): string {
  const { title, target } = options
  const points = curve.flatMap(({ steps, return_mean: y }) => (y === null ? [] : [{ x: steps, y }]))
  const geometry = chartGeometry([points], {
    target: target ?? undefined,
    domain: [0, Math.max(1, curve.at(-1)?.steps ?? 1)],
    xTicks: 6,
    yTicks: 5,
  })
  const lines = geometry.lines.flat().map((line) => line.map((point) => ({ x: x(point.x), y: y(point.y) })))
  return svg([
    ...plotAxes(geometry, PLOT, { title, value: VALUE }),
    ...(target === null ? [] : targetLine(target, y(geometry.y(target)))),
    ...lines.map((line) =>
      element('polyline', {
        points: line.map((point) => `${point.x},${point.y}`).join(' '),
        ...{ fill: 'none', stroke: RETURN, 'stroke-width': 2, 'stroke-linejoin': 'round' },
      }),
    ),
    // A line of one point would not be seen.
    ...(points.length === 1 ? [element('circle', { cx: lines[0][0].x, cy: lines[0][0].y, r: 3, fill: RETURN })] : []),
  ])
}

function targetLine(target: number, y: number): string[] {
  const dashes = { stroke: TARGET, 'stroke-width': 1.5, 'stroke-dasharray': '6 4' }
  return [
    element('line', { x1: PLOT.left, y1: y, x2: PLOT.right, y2: y, ...dashes }),
    text(`target ${formatValue(target)}`, { x: PLOT.left + 6, y: y - 6, fill: TARGET }),
  ]
}

/** Runs of one experiment, which differ in their seed. */
export type SeedCurves = { label: string; curves: { steps: number; return_mean: number }[][] }

/** Okabe–Ito without yellow and black. */
const PALETTE = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00']
const BAND_POINTS = 200
const LEGEND_ROW = 18
const LEGEND_WIDTH = 210

/**
 * Draws experiments over one pair of axes as SVG: the mean over the seeds as a line, from the lowest to the highest as a
 * band. A run that ended early keeps its last value. Same input, same bytes.
 */
export function drawSeedCurves(
  experiments: readonly SeedCurves[],
  options: { title: string; target: number | null },
): string {
  const end = Math.max(1, ...experiments.flatMap(({ curves }) => curves.map((curve) => curve.at(-1)?.steps ?? 0)))
  const bands = experiments.map(({ curves }) => bandOf(curves, end))
  const series = bands.flatMap((band) => [
    band.map(({ steps, mean }) => ({ x: steps, y: mean })),
    band.map(({ steps, low }) => ({ x: steps, y: low })),
    band.map(({ steps, high }) => ({ x: steps, y: high })),
  ])
  const geometry = chartGeometry(series, {
    target: options.target ?? undefined,
    domain: [0, end],
    xTicks: 6,
    yTicks: 5,
  })
  const line = (index: number) => geometry.lines[index].flat().map((point) => `${x(point.x)},${y(point.y)}`)
  const drawn = experiments.flatMap(({ label, curves }, index) => {
    const color = PALETTE[index % PALETTE.length]
    const [mean, low, high] = [0, 1, 2].map((offset) => line(3 * index + offset))
    const seeds = curves.length === 1 ? '1 seed' : `${curves.length} seeds`
    // At the bottom right, where learning curves seldom are.
    const row = PLOT.bottom - 14 - (experiments.length - 1 - index) * LEGEND_ROW
    const left = PLOT.right - LEGEND_WIDTH
    return [
      element('polygon', { points: [...low, ...high.reverse()].join(' '), fill: color, 'fill-opacity': 0.18 }),
      element('polyline', {
        points: mean.join(' '),
        ...{ fill: 'none', stroke: color, 'stroke-width': 2, 'stroke-linejoin': 'round' },
      }),
      element('line', { x1: left, y1: row, x2: left + 18, y2: row, stroke: color, 'stroke-width': 3 }),
      text(`${label}, ${seeds}`, { x: left + 24, y: row + 4, fill: INK }),
    ]
  })
  const target = options.target === null ? [] : targetLine(options.target, y(geometry.y(options.target)))
  return svg([...plotAxes(geometry, PLOT, { title: options.title, value: VALUE }), ...target, ...drawn])
}

type BandPoint = { steps: number; mean: number; low: number; high: number }

/** From the first step at which every seed has a value. */
function bandOf(curves: SeedCurves['curves'], end: number): BandPoint[] {
  const known = curves.filter((curve) => curve.length > 0)
  if (known.length === 0) return []
  const start = Math.max(...known.map((curve) => curve[0].steps))
  return Array.from({ length: BAND_POINTS }, (_, i) => {
    const steps = start + ((end - start) * i) / (BAND_POINTS - 1)
    const values = known.map((curve) => valueAt(curve, steps))
    const mean = values.reduce((sum, value) => sum + value / values.length, 0)
    return { steps, mean, low: Math.min(...values), high: Math.max(...values) }
  })
}

function valueAt(curve: SeedCurves['curves'][number], steps: number): number {
  const next = curve.findIndex((point) => point.steps >= steps)
  if (next === -1) return curve[curve.length - 1].return_mean
  if (next === 0) return curve[0].return_mean
  const [before, after] = [curve[next - 1], curve[next]]
  const share = (steps - before.steps) / (after.steps - before.steps)
  return before.return_mean + share * (after.return_mean - before.return_mean)
}
