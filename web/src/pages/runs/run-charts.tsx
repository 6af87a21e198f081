import type { ProgressEvent, SuccessCriteria } from '@agentgym/contract'
import { bandOf, type ChartPoint } from '@agentgym/contract/charts'
import { metricLabel } from '@agentgym/contract/metrics'
import { LineChart } from '../../components/line-chart.tsx'
import { evaluated, pathOf, type RunMetric, runMetrics, seriesOf } from '../../run-metrics.ts'
import type { ReadRun } from './read-run.ts'

type Charted = Pick<ReadRun, 'points' | 'evaluations' | 'targets' | 'siblings'> & {
  /** Whether the visitor's browser may read the metrics, which the controls need. */
  live: boolean
}

/** The metric of the first target, else the mean return, with held-out evaluations and the range of other seeds. */
export function MainChart({ read }: { read: Charted }) {
  const { points, targets } = read
  const [metric = 'return_mean'] = Object.keys(targets)
  const path = pathOf(metric)
  const known = runMetrics(points, targets).find((one) => one.path === path)
  return <MetricChart read={read} metric={known ?? unmeasured(metric, targets)} size="large" />
}

/** Of a metric that no episode has reported yet. */
function unmeasured(metric: string, targets: SuccessCriteria): RunMetric {
  const found = runMetrics([], targets).find(({ path }) => path === pathOf(metric))
  return found ?? { path: pathOf(metric), title: metricLabel(metric), group: 'episodes', unit: 'number' }
}

const groups: { group: RunMetric['group']; title: string }[] = [
  { group: 'episodes', title: 'Episodes' },
  { group: 'learning', title: 'Learning' },
  { group: 'speed', title: 'Speed' },
]

/** Every other metric of the run, in panels, below the controls of all charts. */
export function RunPanels({ read, exports }: { read: Charted; exports?: string }) {
  const { points, targets } = read
  const main = pathOf(Object.keys(targets).at(0) ?? 'return_mean')
  const metrics = runMetrics(points, targets).filter(({ path }) => path !== main)
  return (
    <section class="run-panels" aria-labelledby="metrics">
      <header class="section-head">
        <h2 id="metrics">Metrics</h2>
        {exports !== undefined && (
          <p class="run-files">
            Download: <a href={`${exports}/metrics.csv`}>CSV</a>,{' '}
            <a href={`${exports}/metrics.tfevents`}>TensorBoard</a>
          </p>
        )}
      </header>
      {read.live && <ChartTools />}
      {groups.map(({ group, title }) => {
        const shown = metrics.filter((metric) => metric.group === group)
        return (
          shown.length > 0 && (
            <details class="run-panel-group" open={group !== 'speed'}>
              <summary>
                <h3>{title}</h3>
              </summary>
              <div class="run-charts">
                {shown.map((metric) => (
                  <MetricChart read={read} metric={metric} />
                ))}
              </div>
            </details>
          )
        )
      })}
    </section>
  )
}

/** For the island, which shows them. */
function ChartTools() {
  return (
    <fieldset class="chart-tools" data-chart-tools hidden>
      <legend class="visually-hidden">All charts</legend>
      <label>
        Smoothing
        <input type="range" name="smoothing" min="0" max="0.98" step="0.01" value="0" />
      </label>
      <label>
        <input type="checkbox" name="log" /> Log scale
      </label>
      <label>
        X axis
        <select name="x">
          <option value="steps">Steps</option>
          <option value="seconds">Wall clock</option>
        </select>
      </label>
      <button class="button button-quiet button-small" type="button" data-chart-reset disabled>
        Reset zoom
      </button>
      <span class="dim chart-tools-hint">Drag across a chart to zoom in</span>
    </fieldset>
  )
}

type MetricChartProps = { read: Charted; metric: RunMetric; size?: 'large' | 'small' }

function MetricChart({ read, metric, size = 'small' }: MetricChartProps) {
  const { points, targets, siblings, live } = read
  const { path, title, unit, group } = metric
  const target = Object.entries(targets).find(([name]) => pathOf(name) === path)?.[1]
  const series = seriesOf(points, path)
  const large = size === 'large'
  const band = large && siblings.length > 0 ? seedBand(series, siblings, path) : []
  return (
    <LineChart
      title={title}
      unit="environment steps"
      size={size}
      level={large ? 2 : 3}
      live={live ? path : undefined}
      pointed={!live}
      values={unit}
      target={target === undefined ? undefined : { value: target, name: 'Target' }}
      evaluations={group === 'episodes' ? marksOf(read.evaluations, path) : []}
      bands={band.length === 0 ? undefined : [band]}
      bandName={band.length === 0 ? undefined : `Range of ${siblings.length + 1} seeds`}
      series={[{ name: title, points: series }]}
    />
  )
}

/** Held-out evaluations by environment steps. */
function marksOf(evaluations: Charted['evaluations'], path: string): ChartPoint[] {
  return evaluations.map(({ steps, evaluation }) => ({ x: steps, y: evaluated(evaluation, path) }))
}

function seedBand(own: ChartPoint[], siblings: ProgressEvent[][], path: string) {
  return bandOf([own, ...siblings.map((points) => seriesOf(points, path))], 40)
}
