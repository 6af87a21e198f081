import { axisTicks } from '../pictures/axis-ticks.ts'
import { shownNumber } from '../pictures/shown-number.ts'
import { stepCount } from '../pictures/step-count.ts'
import { valueRange } from '../pictures/value-range.ts'

export type ChartPoint = { x: number; y: number | null }
export type ChartSeries = { name: string; points: ChartPoint[] }

type LineChartProps = {
  title: string
  /** What x counts: `environment steps`. */
  unit: string
  series: ChartSeries[]
  size?: 'large' | 'small'
  /** Drawn dashed across, with its name. */
  target?: { value: number; name: string }
  /** Field of a progress event that an island goes on drawing from. */
  live?: string
  level?: 2 | 3
}

const MOST_POINTS = 300
/** The plot is stretched to the page's width, its lines are not: `vector-effect` keeps them as thick as they are. */
const PLOT = 1000

/** Lines over one axis. As large as its column; labels keep their size on a phone. */
export function LineChart(props: LineChartProps) {
  const { title, unit, series, size = 'small', target, live, level = 3 } = props
  const Heading = level === 2 ? 'h2' : 'h3'
  const shown = series.map((one) => ({ ...one, points: thinned(one.points) }))
  return (
    <figure class={`chart chart-${size}`} data-chart={live} data-chart-target={target?.value} data-chart-unit={unit}>
      <figcaption class="chart-head">
        <Heading class="chart-title">{title}</Heading>
        {series.length > 1 && <Legend series={series} />}
        <span class="chart-now">{series.length === 1 ? latest(series[0].points) : ''}</span>
      </figcaption>
      <Plot series={shown} size={size} target={target} label={`${title}. ${series.map(words).join(' ')}`} />
      <p class="chart-unit">{unit}</p>
      {target !== undefined && <TargetKey {...target} />}
    </figure>
  )
}

function Legend({ series }: { series: ChartSeries[] }) {
  return (
    <ul class="chart-legend">
      {series.map(({ name }, index) => (
        <li>
          <svg width="24" height="8" aria-hidden="true">
            <line class={lineClass(index)} x1="0" x2="24" y1="4" y2="4" />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  )
}

type PlotProps = Required<Pick<LineChartProps, 'series' | 'size'>> & {
  target: LineChartProps['target']
  label: string
}

function Plot({ series, size, target, label }: PlotProps) {
  const ends = series.flatMap(({ points }) => points.map(({ x }) => x))
  const values = series.flatMap(({ points }) => points.flatMap(({ y }) => (y === null ? [] : [y])))
  if (values.length === 0)
    return (
      <div class="chart-body">
        <p class="chart-empty">No figures yet.</p>
      </div>
    )
  const [low, high] = valueRange(target === undefined ? values : [...values, target.value])
  const right = Math.max(1, ...ends)
  const x = (value: number) => (value / right) * PLOT
  // What is beyond any axis lies at its end.
  const y = (value: number) => PLOT - Math.min(1, Math.max(0, (value - low) / (high - low))) * PLOT
  const ticks = axisTicks(low, high, size === 'large' ? 5 : 3)
  const steps = axisTicks(0, right, size === 'large' ? 6 : 3).filter((at) => at < right * 0.97)
  return (
    <>
      <div class="chart-body">
        <svg class="chart-values" height="100%" aria-hidden="true">
          {ticks.map((tick) => (
            <text class="pic-label pic-text-end" x="100%" y={percent(y(tick))} dy="4">
              {shownNumber(tick)}
            </text>
          ))}
        </svg>
        <svg
          class="chart-plot"
          viewBox={`0 0 ${PLOT} ${PLOT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
        >
          {ticks.map((tick) => (
            <line class="chart-grid" x1="0" x2={PLOT} y1={rounded(y(tick))} y2={rounded(y(tick))} />
          ))}
          {target !== undefined && (
            <line class="chart-target" x1="0" x2={PLOT} y1={rounded(y(target.value))} y2={rounded(y(target.value))} />
          )}
          {series.map(({ points }, index) => (
            <path class={lineClass(index)} d={pathOf(points, x, y)} />
          ))}
        </svg>
      </div>
      <svg class="chart-steps" height="18" aria-hidden="true">
        {steps.map((at) => (
          <text class={at === 0 ? 'pic-label' : 'pic-label pic-text-middle'} x={percent(x(at))} y="14">
            {stepCount(at)}
          </text>
        ))}
      </svg>
    </>
  )
}

function TargetKey({ name, value }: { name: string; value: number }) {
  return (
    <p class="chart-key">
      <svg width="24" height="8" aria-hidden="true">
        <line class="chart-target" x1="0" x2="24" y1="4" y2="4" />
      </svg>
      {name} {shownNumber(value)}
    </p>
  )
}

function lineClass(index: number): string {
  return `chart-line chart-line-${(index % 5) + 1}`
}

function percent(place: number): string {
  return `${rounded(place / 10)}%`
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}

/** A gap where there is no value. */
function pathOf(points: ChartPoint[], x: (value: number) => number, y: (value: number) => number): string {
  let pen = 'M'
  let path = ''
  for (const point of points) {
    if (point.y === null) pen = 'M'
    else {
      path += `${pen}${rounded(x(point.x))} ${rounded(y(point.y))}`
      pen = 'L'
    }
  }
  return path
}

/** Means of neighbours, once there are more than a screen can show. The last one stays as it is. */
function thinned(points: ChartPoint[]): ChartPoint[] {
  if (points.length <= MOST_POINTS) return points
  const size = Math.ceil((points.length - 1) / (MOST_POINTS - 1))
  const groups: ChartPoint[] = []
  for (let at = 0; at < points.length - 1; at += size) {
    const group = points.slice(at, Math.min(at + size, points.length - 1))
    const values = group.flatMap(({ y }) => (y === null ? [] : [y]))
    const mean = values.length === 0 ? null : values.reduce((sum, value) => sum + value / values.length, 0)
    groups.push({ x: group[group.length - 1].x, y: mean })
  }
  return [...groups, ...points.slice(-1)]
}

function latest(points: ChartPoint[]): string {
  const last = points.findLast(({ y }) => y !== null)
  return last === undefined || last.y === null ? '' : shownNumber(last.y)
}

function words({ name, points }: ChartSeries): string {
  const known = points.filter(({ y }) => y !== null)
  const [first, last] = [known.at(0), known.at(-1)]
  if (first === undefined || last === undefined) return `${name} has no figures yet.`
  const at = ({ x, y }: ChartPoint) => `${shownNumber(y ?? 0)} at ${x.toLocaleString('en')}`
  return `${name} from ${at(first)} to ${at(last)}.`
}
