import type { ChartBand, ChartPoint } from '@agentgym/contract/charts'
import { formatMetric, formatTarget, type MetricUnit } from '@agentgym/contract/metrics'
import { lineClass, linePlot } from '../pictures/line-plot.ts'
import { Picture } from '../pictures/picture.tsx'

export type ChartSeries = { name: string; points: ChartPoint[] }

type LineChartProps = {
  title: string
  /** What x counts: `environment steps`. */
  unit: string
  series: ChartSeries[]
  size?: 'large' | 'small'
  /** Of the values. */
  values?: MetricUnit
  /** Drawn as a dashed line, with its name. */
  target?: { value: number; name: string }
  /** Held-out evaluations, drawn as points. */
  evaluations?: ChartPoint[]
  /** The range of runs, drawn behind the line of the same index. */
  bands?: ChartBand[]
  /** What the bands show. */
  bandName?: string
  /** Metric of a progress event that a live page continues the chart with. */
  live?: string
  /** The pointer shows the values of each line, read from the picture. */
  pointed?: boolean
  level?: 2 | 3
}

/** Lines over one pair of axes, as wide as their column; labels keep their size on a phone. */
export function LineChart(props: LineChartProps) {
  const {
    title,
    unit,
    series,
    size = 'small',
    values = 'number',
    target,
    evaluations = [],
    bands,
    live,
    level = 3,
  } = props
  const Heading = level === 2 ? 'h2' : 'h3'
  const formatY = (value: number) => formatMetric(value, values)
  const drawn = series.map(({ points }) => points)
  const label = `${title}. ${series.map((one) => describe(one, formatY)).join(' ')}`
  const plot = linePlot(drawn, { size, target: target?.value, marks: evaluations, bands, formatY, label })
  return (
    <figure
      class={`chart chart-${size}`}
      data-chart={live}
      data-chart-target={target?.value}
      data-chart-values={values === 'share' ? values : undefined}
      data-chart-evaluations={live === undefined ? undefined : pairs(evaluations.map(({ x, y }) => [x, y ?? 0]))}
      data-chart-bands={live === undefined || bands === undefined ? undefined : bandPairs(bands)}
      data-chart-pointed={props.pointed && plot !== null ? pairs([plot.domain, plot.range]) : undefined}
    >
      <figcaption class="chart-head">
        <Heading class="chart-title">{title}</Heading>
        {(series.length > 1 || props.pointed) && <Legend series={series} />}
        <span class="chart-now">{series.length === 1 ? latest(series[0].points, formatY) : ''}</span>
      </figcaption>
      <div class="chart-body">
        {plot === null ? (
          <p class="chart-empty">No data yet</p>
        ) : (
          <>
            <Picture picture={plot.values} />
            <Picture picture={plot.lines} />
            <Picture picture={plot.steps} />
          </>
        )}
      </div>
      <p class="chart-unit">{unit}</p>
      {(target !== undefined || (size === 'large' && evaluations.length > 0) || props.bandName !== undefined) && (
        <p class="chart-keys">
          {target !== undefined && <Key shape="target">{`${target.name} ${formatTarget(target.value, values)}`}</Key>}
          {size === 'large' && evaluations.length > 0 && <Key shape="mark">Held-out evaluation</Key>}
          {props.bandName !== undefined && <Key shape="band">{props.bandName}</Key>}
        </p>
      )}
    </figure>
  )
}

function pairs(list: readonly (readonly number[])[]): string | undefined {
  return list.length === 0 ? undefined : JSON.stringify(list)
}

function bandPairs(bands: ChartBand[]): string | undefined {
  const digits = (value: number) => Number(value.toPrecision(4))
  return JSON.stringify(bands.map((band) => band.map(({ x, low, high }) => [Math.round(x), digits(low), digits(high)])))
}

/** One line needs no name beside the chart's title, only a place for the value at the pointer. */
function Legend({ series }: { series: ChartSeries[] }) {
  const named = series.length > 1
  return (
    <ul class="chart-legend">
      {series.map(({ name }, index) => (
        <li>
          {named && (
            <svg width="24" height="8" aria-hidden="true">
              <line class={lineClass(index)} x1="0" x2="24" y1="4" y2="4" />
            </svg>
          )}
          <span>
            {named && name}
            <span class="chart-legend-value" />
          </span>
        </li>
      ))}
    </ul>
  )
}

function Key({ shape, children }: { shape: 'target' | 'mark' | 'band'; children: string }) {
  return (
    <span class="chart-key">
      <svg width="24" height="8" aria-hidden="true">
        {shape === 'target' && <line class="chart-target" x1="0" x2="24" y1="4" y2="4" />}
        {shape === 'mark' && <path class="chart-mark" d="M12 4h0" />}
        {shape === 'band' && <rect class="chart-band chart-line-1" width="24" height="8" />}
      </svg>
      {children}
    </span>
  )
}

type Format = (value: number) => string

function latest(points: ChartPoint[], format: Format): string {
  const last = points.findLast(({ y }) => y !== null)
  return last === undefined || last.y === null ? '' : format(last.y)
}

function describe({ name, points }: ChartSeries, format: Format): string {
  const known = points.filter(({ y }) => y !== null)
  const [first, last] = [known.at(0), known.at(-1)]
  if (first === undefined || last === undefined) return `${name} has no data yet.`
  const at = ({ x, y }: ChartPoint) => `${format(y ?? 0)} at ${Math.round(x).toLocaleString('en')}`
  return `${name} from ${at(first)} to ${at(last)}.`
}
