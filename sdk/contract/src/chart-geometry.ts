/**
 * The geometry of every learning curve: on the site's pages, in their live charts, in the terminal and in the SVG file beside
 * an agent. A subpath of its own (`@agentgym/contract/charts`), so that browsers load it without the schemas.
 */

/** One value of a series; null where nothing was measured. */
export type ChartPoint = { x: number; y: number | null }

export type ChartOptions = {
  /** A value that must be in sight, such as the return that counts as success. */
  target?: number | undefined
  /** The part of the x axis to show; all of it by default, from 0 on. */
  domain?: readonly [from: number, to: number] | undefined
  /** About how many labels each axis has. */
  xTicks: number
  yTicks: number
  /** Longer series are thinned to this many points. */
  mostPoints?: number
  /** Share of the value axis left free above and below. */
  margin?: number
}

/** Coordinates are shares of the plot: x from left to right, y from bottom to top, 0 to 1. */
export type ChartGeometry = {
  x(value: number): number
  y(value: number): number
  /** No series has a value. */
  empty: boolean
  xTicks: { value: number; at: number }[]
  yTicks: { value: number; at: number }[]
  /** Each series in stretches without a gap. */
  lines: { x: number; y: number }[][][]
}

const defaultMostPoints = 300

/** Scales, ticks and lines of some series over one pair of axes. */
export function chartGeometry(series: readonly (readonly ChartPoint[])[], options: ChartOptions): ChartGeometry {
  const { target, domain, mostPoints = defaultMostPoints, margin = 0.05 } = options
  const shown = domain === undefined ? series : series.map((points) => within(points, domain))
  const values = shown.flatMap((points) => points.flatMap(({ y }) => (y === null ? [] : [y])))
  const [low, high] = valueRange(target === undefined ? values : [...values, target], margin)
  const [left, right] = domain ?? [
    0,
    shown.reduce((most, points) => points.reduce((m, { x }) => Math.max(m, x), most), 1),
  ]
  const x = (value: number) => share(value, left, right)
  const y = (value: number) => share(value, low, high)
  return {
    x,
    y,
    empty: values.length === 0,
    xTicks: axisTicks(left, right, options.xTicks).map((value) => ({ value, at: x(value) })),
    yTicks: axisTicks(low, high, options.yTicks).map((value) => ({ value, at: y(value) })),
    lines: shown.map((points) => stretches(thinPoints(points, mostPoints), x, y)),
  }
}

/** With one point beyond each end, so that the line runs out of the plot. */
function within(points: readonly ChartPoint[], [from, to]: readonly [number, number]): ChartPoint[] {
  const first = points.findIndex(({ x }) => x >= from)
  const last = points.findLastIndex(({ x }) => x <= to)
  return first === -1 || last === -1 ? [] : points.slice(first, last + 1)
}

function stretches(points: readonly ChartPoint[], x: (value: number) => number, y: (value: number) => number) {
  const lines: { x: number; y: number }[][] = []
  let open = false
  for (const point of points) {
    if (point.y === null) {
      open = false
      continue
    }
    if (!open) lines.push([])
    open = true
    lines[lines.length - 1].push({ x: x(point.x), y: y(point.y) })
  }
  return lines
}

/** Means of neighbors, once there are more points than a screen can show. The last one stays as it is. */
export function thinPoints(points: readonly ChartPoint[], most: number): readonly ChartPoint[] {
  if (points.length <= most) return points
  const size = Math.ceil((points.length - 1) / (most - 1))
  const groups: ChartPoint[] = []
  for (let at = 0; at < points.length - 1; at += size) {
    const group = points.slice(at, Math.min(at + size, points.length - 1))
    const values = group.flatMap(({ y }) => (y === null ? [] : [y]))
    const mean = values.length === 0 ? null : values.reduce((sum, value) => sum + value / values.length, 0)
    groups.push({ x: group[group.length - 1].x, y: mean })
  }
  return [...groups, ...points.slice(-1)]
}

/**
 * The value axis: `margin` of the span is left free above and below, and a level line lies in the middle. Values too large to
 * be added up are cut to ±1e300.
 */
export function valueRange(values: readonly number[], margin = 0.05): [low: number, high: number] {
  if (values.length === 0) return [0, 1]
  let [low, high] = [1e300, -1e300]
  for (const value of values) {
    low = Math.min(low, Math.max(-1e300, value))
    high = Math.max(high, Math.min(1e300, value))
  }
  const room = low === high ? Math.max(1, Math.abs(low) * 0.1) : (high - low) * margin
  return [low - room, high + room]
}

/** About `count` round numbers from `low` to `high`: 1, 2 or 5 times a power of ten apart. */
export function axisTicks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / Math.max(1, count)
  if (!(rough > 0) || !Number.isFinite(rough)) return [low]
  const power = 10 ** Math.floor(Math.log10(rough))
  // Steps below the smallest number.
  if (power === 0) return [low]
  const step = ([1, 2, 5].find((multiple) => multiple * power >= rough) ?? 10) * power
  const first = Math.ceil(low / step - 1e-9)
  const last = Math.floor(high / step + 1e-9)
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)))
}

/** Where `value` lies between `from` and `to`: 0 to 1, and 0.5 where they are equal. */
export function share(value: number, from: number, to: number): number {
  if (!(to > from)) return 0.5
  const width = to - from
  // By halves where the difference is too large for a number; not always, because the smallest number has no half.
  const part = Number.isFinite(width) ? (value - from) / width : (value / 2 - from / 2) / (to / 2 - from / 2)
  return Math.min(1, Math.max(0, part))
}

// Made once: with options, toLocaleString makes one for every number, and a chart has dozens.
const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 6 })

/** A number in few characters: at most four significant digits, thousands grouped, a real minus sign. */
export function formatValue(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e7 || size < 1e-3) return withMinus(value.toExponential(1).replace('e+', 'e'))
  return withMinus(grouped.format(Number(value.toPrecision(4))))
}

function withMinus(text: string): string {
  return text.replace('-', '−')
}

/** Environment steps as an axis shows them: 1,200,000 is `1.2M`. */
export function formatSteps(steps: number): string {
  if (steps >= 1e6) return `${formatValue(steps / 1e6)}M`
  return steps >= 1e3 ? `${formatValue(steps / 1e3)}k` : String(steps)
}
