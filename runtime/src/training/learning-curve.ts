import { chartGeometry, formatSteps, formatValue } from '@agentgym/contract/charts'
import type { CurvePoint } from './run-statistics.ts'

const WIDTH = 720
const HEIGHT = 360
const PLOT = { left: 72, right: WIDTH - 24, top: 56, bottom: HEIGHT - 56 }
const MIDDLE = { x: (PLOT.left + PLOT.right) / 2, y: (PLOT.top + PLOT.bottom) / 2 }
/** Okabe–Ito blue and vermilion. */
const [RETURN, TARGET] = ['#0072B2', '#D55E00']
const [INK, TITLE, GRID] = ['#4a4a4a', '#1a1a1a', '#ececec']

type Attributes = Record<string, string | number>

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
  const x = (at: number) => rounded(PLOT.left + at * (PLOT.right - PLOT.left))
  const y = (at: number) => rounded(PLOT.bottom - at * (PLOT.bottom - PLOT.top))
  const lines = geometry.lines.flat().map((line) => line.map((point) => ({ x: x(point.x), y: y(point.y) })))
  const elements = [
    element('rect', { width: WIDTH, height: HEIGHT, fill: '#ffffff' }),
    text(title, { x: 16, y: 26, 'font-size': 14, 'font-weight': 600, fill: TITLE }),
    ...geometry.yTicks.flatMap(({ value, at }) => [
      element('line', { x1: PLOT.left, y1: y(at), x2: PLOT.right, y2: y(at), stroke: GRID }),
      text(formatValue(value), { x: PLOT.left - 8, y: y(at) + 4, 'text-anchor': 'end' }),
    ]),
    element('line', { x1: PLOT.left, y1: PLOT.bottom, x2: PLOT.right, y2: PLOT.bottom, stroke: INK }),
    ...geometry.xTicks.flatMap(({ value, at }) => [
      element('line', { x1: x(at), y1: PLOT.bottom, x2: x(at), y2: PLOT.bottom + 5, stroke: INK }),
      text(formatSteps(value), { x: x(at), y: PLOT.bottom + 20, 'text-anchor': 'middle' }),
    ]),
    text('environment steps', { x: MIDDLE.x, y: HEIGHT - 14, 'text-anchor': 'middle' }),
    text('return, mean of the last 100 episodes', {
      ...{ x: 16, y: MIDDLE.y, 'text-anchor': 'middle' },
      transform: `rotate(-90 16 ${MIDDLE.y})`,
    }),
    ...(target === null ? [] : targetLine(target, y(geometry.y(target)))),
    ...lines.map((line) =>
      element('polyline', {
        points: line.map((point) => `${point.x},${point.y}`).join(' '),
        ...{ fill: 'none', stroke: RETURN, 'stroke-width': 2, 'stroke-linejoin': 'round' },
      }),
    ),
    // A line of one point would not be seen.
    ...(points.length === 1 ? [element('circle', { cx: lines[0][0].x, cy: lines[0][0].y, r: 3, fill: RETURN })] : []),
  ]
  const frame = { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` }
  const font = { 'font-family': 'Inter, system-ui, sans-serif', 'font-size': 12, fill: INK }
  const opened = `<svg xmlns="http://www.w3.org/2000/svg"${attributesOf({ ...frame, ...font })}>`
  return [opened, ...elements, '</svg>', ''].join('\n')
}

function targetLine(target: number, y: number): string[] {
  const dashes = { stroke: TARGET, 'stroke-width': 1.5, 'stroke-dasharray': '6 4' }
  return [
    element('line', { x1: PLOT.left, y1: y, x2: PLOT.right, y2: y, ...dashes }),
    text(`target ${formatValue(target)}`, { x: PLOT.left + 6, y: y - 6, fill: TARGET }),
  ]
}

/** Hundredths of a pixel. */
function rounded(pixels: number): number {
  return Math.round(pixels * 100) / 100
}

function element(name: string, attributes: Attributes): string {
  return `<${name}${attributesOf(attributes)}/>`
}

function text(content: string, attributes: Attributes): string {
  return `<text${attributesOf(attributes)}>${escaped(content)}</text>`
}

function attributesOf(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('')
}

/** Text as XML takes it, without the control characters that it does not. */
function escaped(content: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
  return content
    .toWellFormed()
    .replace(/[\p{Cc}\uFFFE\uFFFF]/gu, ' ')
    .replace(/[&<>]/g, (character) => entities[character])
}
