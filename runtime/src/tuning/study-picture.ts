import { chartGeometry } from '@agentgym/contract/charts'
import { plotAxes, plotScale } from '../plot-axes.ts'
import { element, HEIGHT, INK, rounded, svg, text, WIDTH } from '../svg.ts'
import type { Importance } from './importance.ts'

/** A candidate's score at each rung that it reached. */
export type CandidateCurve = { candidate: number; points: { steps: number; score: number }[] }

export type StudyPicture = {
  title: string
  /** What the score is, such as `return`. */
  metric: string
  curves: readonly CandidateCurve[]
  best: number
  /** The settings that the scenario has; null if they were not tried. */
  current: number | null
  importance: readonly Importance[]
}

const PLOT = { left: 72, right: 430, top: 56, bottom: HEIGHT - 56 }
const BARS = { left: 600, right: WIDTH - 24, top: 56, row: 22, shown: 11 }
/** Okabe–Ito blue and vermilion; the others stay in the background. */
const [BEST, CURRENT, OTHER] = ['#0072B2', '#D55E00', '#b5b5b5']

/** Draws a study as SVG: the score of every candidate over its steps, and what each setting explains. Same input, same bytes. */
export function drawStudy({ title, metric, curves, best, current, importance }: StudyPicture): string {
  const end = Math.max(1, ...curves.flatMap(({ points }) => points.map(({ steps }) => steps)))
  const geometry = chartGeometry(
    curves.map(({ points }) => points.map(({ steps, score }) => ({ x: steps, y: score }))),
    { domain: [0, end], xTicks: 4, yTicks: 5 },
  )
  const { x, y } = plotScale(PLOT)
  const layer = ({ candidate }: CandidateCurve) => (candidate === best ? 2 : candidate === current ? 1 : 0)
  const curvesInOrder = curves.toSorted((a, b) => layer(a) - layer(b) || a.candidate - b.candidate)
  return svg([
    ...plotAxes(geometry, PLOT, { title, value: `${metric}, held-out episodes` }),
    ...curvesInOrder.flatMap(({ candidate, points }) => {
      const stroke = candidate === best ? BEST : candidate === current ? CURRENT : OTHER
      const width = stroke === OTHER ? 1 : 2
      const places = points.map(({ steps, score }) => ({ x: x(geometry.x(steps)), y: y(geometry.y(score)) }))
      return [
        element('polyline', {
          points: places.map((place) => `${place.x},${place.y}`).join(' '),
          ...{ fill: 'none', stroke, 'stroke-width': width, 'stroke-linejoin': 'round' },
          ...(candidate === current ? { 'stroke-dasharray': '6 4' } : {}),
        }),
        ...places.map((place) => element('circle', { cx: place.x, cy: place.y, r: width + 0.5, fill: stroke })),
      ]
    }),
    ...legend(current !== null && current !== best),
    ...bars(importance),
  ])
}

function legend(withCurrent: boolean): string[] {
  const entries: { label: string; color: string; dashes: Record<string, string> }[] = [
    { label: 'best', color: BEST, dashes: {} },
    ...(withCurrent ? [{ label: 'current settings', color: CURRENT, dashes: { 'stroke-dasharray': '6 4' } }] : []),
    { label: 'other candidates', color: OTHER, dashes: {} },
  ]
  return entries.flatMap(({ label, color, dashes }, i) => {
    const left = PLOT.left + [0, 70, 206][withCurrent ? i : 2 * i]
    return [
      element('line', { x1: left, y1: 44, x2: left + 18, y2: 44, stroke: color, 'stroke-width': 2, ...dashes }),
      text(label, { x: left + 24, y: 48, fill: INK }),
    ]
  })
}

function bars(importance: readonly Importance[]): string[] {
  if (importance.length === 0) return []
  const most = Math.max(0.01, ...importance.map(({ share }) => share))
  return [
    text('variance explained by a setting', { x: PLOT.right + 40, y: 48, fill: INK }),
    ...importance.slice(0, BARS.shown).flatMap(({ setting, share }, i) => {
      const top = BARS.top + 8 + i * BARS.row
      const width = rounded((share / most) * (BARS.right - BARS.left - 36))
      return [
        text(setting, { x: BARS.left - 8, y: top + 11, 'text-anchor': 'end' }),
        element('rect', { x: BARS.left, y: top, width, height: 14, fill: BEST }),
        text(`${Math.round(share * 100)}%`, { x: BARS.left + width + 6, y: top + 11 }),
      ]
    }),
  ]
}
