import { type ChartPoint, formatValue } from '@agentgym/contract/charts'
import { lineClass, linePlot } from '../pictures/line-plot.ts'
import { Picture } from '../pictures/picture.tsx'

export type ChartSeries = { name: string; points: ChartPoint[] }

type LineChartProps = {
  title: string
  /** What x counts: `environment steps`. */
  unit: string
  series: ChartSeries[]
  size?: 'large' | 'small'
  /** Drawn as a dashed line, with its name. */
  target?: { value: number; name: string }
  /** Field of a progress event that a live page continues the chart with. */
  live?: string
  level?: 2 | 3
}

/** Lines over one pair of axes, as wide as their column; labels keep their size on a phone. */
export function LineChart(props: LineChartProps) {
  const { title, unit, series, size = 'small', target, live, level = 3 } = props
  const Heading = level === 2 ? 'h2' : 'h3'
  const plot = linePlot(
    series.map(({ points }) => points),
    { size, target: target?.value, label: `${title}. ${series.map(describe).join(' ')}` },
  )
  return (
    <figure class={`chart chart-${size}`} data-chart={live} data-chart-target={target?.value}>
      <figcaption class="chart-head">
        <Heading class="chart-title">{title}</Heading>
        {series.length > 1 && <Legend series={series} />}
        <span class="chart-now">{series.length === 1 ? latest(series[0].points) : ''}</span>
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

function TargetKey({ name, value }: { name: string; value: number }) {
  return (
    <p class="chart-key">
      <svg width="24" height="8" aria-hidden="true">
        <line class="chart-target" x1="0" x2="24" y1="4" y2="4" />
      </svg>
      {name} {formatValue(value)}
    </p>
  )
}

function latest(points: ChartPoint[]): string {
  const last = points.findLast(({ y }) => y !== null)
  return last === undefined || last.y === null ? '' : formatValue(last.y)
}

function describe({ name, points }: ChartSeries): string {
  const known = points.filter(({ y }) => y !== null)
  const [first, last] = [known.at(0), known.at(-1)]
  if (first === undefined || last === undefined) return `${name} has no data yet.`
  const at = ({ x, y }: ChartPoint) => `${formatValue(y ?? 0)} at ${x.toLocaleString('en')}`
  return `${name} from ${at(first)} to ${at(last)}.`
}
