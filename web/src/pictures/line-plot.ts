import {
  type ChartBand,
  type ChartGeometry,
  type ChartPoint,
  chartGeometry,
  formatSteps,
  formatValue,
} from '@agentgym/contract/charts'
import { type SvgElement, svg } from '@agentgym/pictures'

export type LinePlotOptions = {
  size: 'large' | 'small'
  target?: number | undefined
  /** The part of the x axis to show; all of it by default. */
  domain?: readonly [from: number, to: number] | undefined
  scale?: 'linear' | 'log' | undefined
  /** One for each line at most. */
  bands?: readonly ChartBand[] | undefined
  /** Held-out evaluations. */
  marks?: readonly ChartPoint[] | undefined
  /** Lines behind the others, such as values that these smooth. */
  behind?: readonly (readonly ChartPoint[])[] | undefined
  formatX?: ((value: number) => string) | undefined
  formatY?: ((value: number) => string) | undefined
  /** What the lines show, for screen readers. */
  label: string
}

/** The three pictures of a chart: value labels on the left, lines, and step labels below. */
export type LinePlot = { values: SvgElement; lines: SvgElement; steps: SvgElement } & Pick<
  ChartGeometry,
  'domain' | 'range'
>

/** The plot is stretched to the page's width, its lines are not: `vector-effect` keeps their thickness. */
const SIZE = 1000

/** Lines over one pair of axes, the same on the server and in the live chart; null if there is nothing to draw. */
export function linePlot(series: readonly (readonly ChartPoint[])[], options: LinePlotOptions): LinePlot | null {
  const { size, target, behind = [], formatX = formatSteps, formatY = formatValue, label } = options
  const large = size === 'large'
  const ticks = { xTicks: large ? 6 : 3, yTicks: large ? 5 : 3 }
  const geometry = chartGeometry([...series, ...behind], { ...options, ...ticks, mostPoints: large ? 300 : 120 })
  if (geometry.empty) return null
  const across = (name: string, at: number) => {
    const y = rounded((1 - at) * SIZE)
    return svg('line', { class: name, x1: 0, x2: SIZE, y1: y, y2: y })
  }
  const line = (stretches: readonly (readonly PlotPoint[])[], name: string) =>
    stretches.length === 0 ? null : svg('path', { class: name, d: pathOf(stretches) })
  return {
    domain: geometry.domain,
    range: geometry.range,
    values: svg(
      'svg',
      { class: 'chart-values', height: '100%', 'aria-hidden': 'true' },
      ...geometry.yTicks.map(({ value, at }) =>
        svg('text', { class: 'pic-label pic-text-end', x: '100%', y: percent(1 - at), dy: 4 }, formatY(value)),
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
      ...geometry.bands.map((outline, index) =>
        outline.length === 0
          ? null
          : svg('path', { class: `chart-band ${lineColor(index)}`, d: `${pathOf([outline])}Z` }),
      ),
      target === undefined ? null : across('chart-target', geometry.y(target)),
      ...geometry.lines
        .slice(series.length)
        .map((stretches, index) => line(stretches, `${lineClass(index)} chart-faint`)),
      ...geometry.faint
        .slice(0, series.length)
        .map((stretches, index) => line(stretches, `${lineClass(index)} chart-faint`)),
      ...geometry.lines.slice(0, series.length).map((stretches, index) => line(stretches, lineClass(index))),
      // Lines without length have round ends, which stay round in a stretched picture.
      geometry.marks.length === 0
        ? null
        : svg('path', { class: 'chart-mark', d: geometry.marks.map((mark) => `M${corner(mark)}h0`).join('') }),
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
            formatX(value),
          ),
        ),
    ),
  }
}

type PlotPoint = { x: number; y: number }

/** A color and a dash for each of five lines. */
export function lineClass(index: number): string {
  return `chart-line ${lineColor(index)}`
}

function lineColor(index: number): string {
  return `chart-line-${(index % 5) + 1}`
}

function pathOf(stretches: readonly (readonly PlotPoint[])[]): string {
  return stretches.map((points) => `M${points.map(corner).join('L')}`).join('')
}

function corner({ x, y }: PlotPoint): string {
  return `${rounded(x * SIZE)} ${rounded((1 - y) * SIZE)}`
}

function percent(at: number): string {
  return `${rounded(at * 100)}%`
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
