import { type ChartPoint, chartGeometry, formatSteps, formatValue } from '@agentgym/contract/charts'
import { type SvgElement, svg } from '@agentgym/pictures'

export type LinePlotOptions = {
  size: 'large' | 'small'
  target?: number | undefined
  /** The part of the x axis to show; all of it by default. */
  domain?: readonly [from: number, to: number] | undefined
  /** What the lines show, for screen readers. */
  label: string
}

/** The three pictures of a chart: value labels on the left, lines, and step labels below. */
export type LinePlot = { values: SvgElement; lines: SvgElement; steps: SvgElement }

/** The plot is stretched to the page's width, its lines are not: `vector-effect` keeps their thickness. */
const SIZE = 1000

/** Lines over one pair of axes, the same on the server and in the live chart; null if there is nothing to draw. */
export function linePlot(series: readonly (readonly ChartPoint[])[], options: LinePlotOptions): LinePlot | null {
  const { size, target, domain, label } = options
  const large = size === 'large'
  const ticks = { xTicks: large ? 6 : 3, yTicks: large ? 5 : 3 }
  const geometry = chartGeometry(series, { target, domain, ...ticks })
  if (geometry.empty) return null
  const across = (name: string, at: number) => {
    const y = rounded((1 - at) * SIZE)
    return svg('line', { class: name, x1: 0, x2: SIZE, y1: y, y2: y })
  }
  return {
    values: svg(
      'svg',
      { class: 'chart-values', height: '100%', 'aria-hidden': 'true' },
      ...geometry.yTicks.map(({ value, at }) =>
        svg('text', { class: 'pic-label pic-text-end', x: '100%', y: percent(1 - at), dy: 4 }, formatValue(value)),
      ),
    ),
    lines: svg(
      'svg',
      {
        class: 'chart-plot',
        viewBox: `0 0 ${SIZE} ${SIZE}`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': label,
      },
      ...geometry.yTicks.map(({ at }) => across('chart-grid', at)),
      target === undefined ? null : across('chart-target', geometry.y(target)),
      ...geometry.lines.map((stretches, index) => svg('path', { class: lineClass(index), d: pathOf(stretches) })),
    ),
    steps: svg(
      'svg',
      { class: 'chart-steps', height: 18, 'aria-hidden': 'true' },
      ...geometry.xTicks
        // The last label would be cut off.
        .filter(({ at }) => at < 0.97)
        .map(({ value, at }) =>
          svg(
            'text',
            { class: at === 0 ? 'pic-label' : 'pic-label pic-text-middle', x: percent(at), y: 14 },
            formatSteps(value),
          ),
        ),
    ),
  }
}

/** A color and a dash for each of five lines. */
export function lineClass(index: number): string {
  return `chart-line chart-line-${(index % 5) + 1}`
}

function pathOf(stretches: readonly (readonly { x: number; y: number }[])[]): string {
  const corner = ({ x, y }: { x: number; y: number }) => `${rounded(x * SIZE)} ${rounded((1 - y) * SIZE)}`
  return stretches.map((points) => `M${points.map(corner).join('L')}`).join('')
}

function percent(at: number): string {
  return `${rounded(at * 100)}%`
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
