import { type ChartGeometry, formatSteps, formatValue } from '@agentgym/contract/charts'
import { element, GRID, HEIGHT, INK, rounded, TITLE, text, WIDTH } from './svg.ts'

/** Where the curves are, in pixels. */
export type Plot = { left: number; right: number; top: number; bottom: number }

/** From a share of the plot's width or height, as `chartGeometry` gives it, to pixels. */
export type PlotScale = { x(share: number): number; y(share: number): number }

export function plotScale({ left, right, top, bottom }: Plot): PlotScale {
  return {
    x: (share) => rounded(left + share * (right - left)),
    y: (share) => rounded(bottom - share * (bottom - top)),
  }
}

/** Background, title and both axes of a picture of values over environment steps. */
export function plotAxes(geometry: ChartGeometry, plot: Plot, labels: { title: string; value: string }): string[] {
  const { left, right, top, bottom } = plot
  const { x, y } = plotScale(plot)
  const middle = (top + bottom) / 2
  return [
    element('rect', { width: WIDTH, height: HEIGHT, fill: '#ffffff' }),
    text(labels.title, { x: 16, y: 26, 'font-size': 14, 'font-weight': 600, fill: TITLE }),
    ...geometry.yTicks.flatMap(({ value, at }) => [
      element('line', { x1: left, y1: y(at), x2: right, y2: y(at), stroke: GRID }),
      text(formatValue(value), { x: left - 8, y: y(at) + 4, 'text-anchor': 'end' }),
    ]),
    element('line', { x1: left, y1: bottom, x2: right, y2: bottom, stroke: INK }),
    ...geometry.xTicks.flatMap(({ value, at }) => [
      element('line', { x1: x(at), y1: bottom, x2: x(at), y2: bottom + 5, stroke: INK }),
      text(formatSteps(value), { x: x(at), y: bottom + 20, 'text-anchor': 'middle' }),
    ]),
    text('environment steps', { x: (left + right) / 2, y: HEIGHT - 14, 'text-anchor': 'middle' }),
    text(labels.value, { ...{ x: 16, y: middle, 'text-anchor': 'middle' }, transform: `rotate(-90 16 ${middle})` }),
  ]
}
