/**
 * The geometry of every learning curve: on the site's pages, in their live charts, in the terminal and in the SVG file beside
 * an agent. A subpath of its own (`@agentgym/contract/charts`), so that browsers load it without the schemas.
 */

/** One value of a series; null where nothing was measured. `faint`: of too few episodes to rely on. */
export type ChartPoint = { x: number; y: number | null; faint?: boolean }

/** The range of several series at each x. */
export type ChartBand = readonly { x: number; low: number; high: number }[]

export type ChartOptions = {
  /** A value that must be in sight, such as the return that counts as success. */
  target?: number | undefined
  /** The part of the x axis to show; all of it by default, from 0 on. */
  domain?: readonly [from: number, to: number] | undefined
  /** Default: linear. On a logarithmic value axis, values of 0 and less are gaps. */
  scale?: 'linear' | 'log' | undefined
  /** Drawn behind the lines, and in sight. */
  bands?: readonly ChartBand[] | undefined
  /** Single values that must be in sight, such as evaluations. */
  marks?: readonly ChartPoint[] | undefined
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
  /** Ends of the axes; those of a logarithmic value axis are exponents of ten. */
  domain: readonly [from: number, to: number]
  range: readonly [low: number, high: number]
  /** No series has a value. */
  empty: boolean
  xTicks: { value: number; at: number }[]
  yTicks: { value: number; at: number }[]
  /** Each series in stretches without a gap, and those of its faint points. */
  lines: PlotPoint[][][]
  faint: PlotPoint[][][]
  /** The outline of each band: along its upper edge, and back along the lower one. */
  bands: PlotPoint[][]
  marks: PlotPoint[]
}
type PlotPoint = { x: number; y: number }

const defaultMostPoints = 300

/** Scales, ticks and lines of some series over one pair of axes. */
export function chartGeometry(series: readonly (readonly ChartPoint[])[], options: ChartOptions): ChartGeometry {
  const { target, domain, scale, bands = [], marks = [], mostPoints = defaultMostPoints, margin = 0.05 } = options
  const level = (value: number) => (scale === 'log' ? Math.log10(value) : value)
  const isShown = (value: number) => scale !== 'log' || value > 0
  const shown = series.map((points) => levelled(domain === undefined ? points : within(points, domain), level, isShown))
  const inSight = ({ x }: { x: number }) => domain === undefined || (x >= domain[0] && x <= domain[1])
  const shownBands = bands.map((band) => band.filter((one) => inSight(one) && isShown(one.low)))
  const shownMarks = levelled(marks.filter(inSight), level, isShown)
  const values = shown.flatMap(valuesOf)
  const others = [
    ...valuesOf(shownMarks),
    ...shownBands.flatMap((band) => band.flatMap(({ low, high }) => [level(low), level(high)])),
    ...(target !== undefined && isShown(target) ? [level(target)] : []),
  ]
  const [low, high] = valueRange([...values, ...others], margin)
  const [left, right] = domain ?? [
    0,
    shown.reduce((most, points) => points.reduce((m, { x }) => Math.max(m, x), most), 1),
  ]
  const x = (value: number) => share(value, left, right)
  const at = (value: number) => share(value, low, high)
  const y = (value: number) => at(isShown(value) ? level(value) : low)
  const lines = shown.map((points) => stretches(thinPoints(points, mostPoints), x, at))
  const yTicks = scale === 'log' ? logTicks(low, high, options.yTicks) : axisTicks(low, high, options.yTicks)
  return {
    x,
    y,
    domain: [left, right],
    range: [low, high],
    empty: values.length === 0,
    xTicks: axisTicks(left, right, options.xTicks).map((value) => ({ value, at: x(value) })),
    yTicks: yTicks.map((value) => ({ value, at: y(value) })),
    lines: lines.map(({ solid }) => solid),
    faint: lines.map(({ faint }) => faint),
    bands: shownBands.map((band) => [
      ...band.map((one) => ({ x: x(one.x), y: y(one.high) })),
      ...band.toReversed().map((one) => ({ x: x(one.x), y: y(one.low) })),
    ]),
    marks: shownMarks.flatMap((mark) => (mark.y === null ? [] : [{ x: x(mark.x), y: at(mark.y) }])),
  }
}

function valuesOf(points: readonly ChartPoint[]): number[] {
  return points.flatMap(({ y }) => (y === null ? [] : [y]))
}

function levelled(
  points: readonly ChartPoint[],
  level: (value: number) => number,
  isShown: (value: number) => boolean,
) {
  return points.map((point) => ({ ...point, y: point.y === null || !isShown(point.y) ? null : level(point.y) }))
}

/** Powers of ten; within less than two of them round numbers. `low` and `high` are exponents. */
function logTicks(low: number, high: number, count: number): number[] {
  const powers = axisTicks(low, high, count).filter(Number.isInteger)
  if (powers.length > 1) return powers.map((power) => Number(`1e${power}`))
  return axisTicks(10 ** low, 10 ** high, count)
}

/** With one point beyond each end, so that the line runs out of the plot. */
function within(points: readonly ChartPoint[], [from, to]: readonly [number, number]): ChartPoint[] {
  const first = points.findIndex(({ x }) => x >= from)
  const last = points.findLastIndex(({ x }) => x <= to)
  return first === -1 || last === -1 ? [] : points.slice(first, last + 1)
}

/** A faint stretch and the solid one beside it share a point. */
function stretches(points: readonly ChartPoint[], x: (value: number) => number, y: (value: number) => number) {
  const lines: { solid: PlotPoint[][]; faint: PlotPoint[][] } = { solid: [], faint: [] }
  let open: PlotPoint[] | undefined
  let last: ChartPoint | undefined
  for (const point of points) {
    if (point.y === null) {
      open = undefined
      continue
    }
    const placed = { x: x(point.x), y: y(point.y) }
    if (open === undefined || (last?.faint ?? false) !== (point.faint ?? false)) {
      const shared = open?.at(-1)
      open = shared === undefined ? [] : [shared]
      lines[point.faint ? 'faint' : 'solid'].push(open)
    }
    open.push(placed)
    last = point
  }
  return lines
}

/**
 * An exponential moving average that starts at the first value, as TensorBoard draws it. `weight` is that of the past, 0 to
 * below 1; 0 changes nothing.
 */
export function smoothPoints(points: readonly ChartPoint[], weight: number): readonly ChartPoint[] {
  if (weight <= 0) return points
  let sum = 0
  let count = 0
  return points.map((point) => {
    if (point.y === null) return point
    sum = sum * weight + (1 - weight) * point.y
    count += 1
    // A level line stays level.
    return { ...point, y: Number((sum / (1 - weight ** count)).toPrecision(12)) }
  })
}

/**
 * Lowest and highest value of several series and their mean at `count` places, up to where the shortest of them ends. Between
 * points, values lie on a straight line.
 */
export function bandOf(
  series: readonly (readonly ChartPoint[])[],
  count = 60,
): (ChartBand[number] & { mean: number })[] {
  const known = series.map((points) => points.filter(({ y }) => y !== null)).filter(({ length }) => length > 0)
  if (known.length === 0) return []
  const from = Math.max(...known.map((points) => points[0].x))
  const to = Math.min(...known.map((points) => points[points.length - 1].x))
  if (!(to > from)) return []
  return Array.from({ length: count }, (_, index) => {
    const x = from + ((to - from) * index) / (count - 1)
    const values = known.map((points) => valueAt(points, x))
    const mean = values.reduce((sum, value) => sum + value / values.length, 0)
    return { x, low: Math.min(...values), high: Math.max(...values), mean }
  })
}

function valueAt(points: readonly ChartPoint[], x: number): number {
  const next = Math.max(
    1,
    points.findIndex((point) => point.x >= x),
  )
  const [before, after] = [points[next - 1], points[Math.min(next, points.length - 1)]]
  const part = share(x, before.x, after.x)
  return (before.y ?? 0) * (1 - part) + (after.y ?? 0) * part
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
    const { x, faint } = group[group.length - 1]
    groups.push(faint ? { x, y: mean, faint } : { x, y: mean })
  }
  return [...groups, ...points.slice(-1)]
}

/**
 * The value axis: `margin` of the span is left free above and below. A level line lies in the middle, and one at 0 at the
 * bottom: most of what is counted has no values below. Values too large to be added up are cut to ±1e300.
 */
export function valueRange(values: readonly number[], margin = 0.05): [low: number, high: number] {
  if (values.length === 0) return [0, 1]
  let [low, high] = [1e300, -1e300]
  for (const value of values) {
    low = Math.min(low, Math.max(-1e300, value))
    high = Math.max(high, Math.min(1e300, value))
  }
  if (low === 0 && high === 0) return [-margin, 1]
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
