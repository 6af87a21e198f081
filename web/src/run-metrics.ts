// The metrics of a run's iterations, for its pages and their islands.
import type { Evaluation, ProgressEvent } from '@agentgym/contract'
import type { ChartPoint } from '@agentgym/contract/charts'
import { type MetricUnit, metricLabel, metricUnit } from '@agentgym/contract/metrics'

export type RunMetric = {
  /** In a progress event: `return_mean`, `metrics.solved`, `learner.entropy`. */
  path: string
  title: string
  group: 'episodes' | 'learning' | 'speed'
  unit: MetricUnit
}

/** Means over fewer episodes than this say little; their curve is faint. */
const fewEpisodes = 20

const titles: Record<string, string> = {
  return_mean: 'Mean return',
  length_mean: 'Mean episode length',
  steps_per_second: 'Throughput (steps/s)',
  collect_seconds: 'Collecting (s per iteration)',
  update_seconds: 'Updating (s per iteration)',
  approximate_kl: 'Approximate KL',
  kl_to_reference: 'KL to reference',
  zero_variance_groups: 'Groups without variance',
  value_mean: 'Mean value',
}
const learnerShares = ['clip_fraction', 'zero_variance_groups', 'exploration_rate']
const common = ['return_mean', 'length_mean', 'steps_per_second', 'learner.policy_loss', 'learner.value_loss']

/** Every metric that the run has reported; before the first iteration, those that all algorithms have. */
export function runMetrics(points: readonly ProgressEvent[], targets: Record<string, number> = {}): RunMetric[] {
  if (points.length === 0) return [...common, ...Object.keys(targets).map(pathOf)].filter(isFirst).map(named)
  const paths = new Set<string>(['return_mean', 'length_mean'])
  for (const { metrics } of points) for (const name of Object.keys(metrics)) paths.add(`metrics.${name}`)
  for (const { learner } of points) for (const name of Object.keys(learner)) paths.add(`learner.${name}`)
  for (const path of ['steps_per_second', 'collect_seconds', 'update_seconds']) paths.add(path)
  return [...paths].filter((path) => points.some((point) => valueIn(point, path) !== null)).map(named)

  function named(path: string): RunMetric {
    const name = path.split('.').at(-1) ?? path
    const own = path.startsWith('metrics.') ? path.slice('metrics.'.length) : undefined
    const label = own === undefined ? (titles[name] ?? metricLabel(name)) : metricLabel(own)
    return {
      path,
      title: label.charAt(0).toUpperCase() + label.slice(1),
      group: groupOf(path),
      unit:
        own !== undefined ? metricUnit(own, targets[own] ?? null) : learnerShares.includes(name) ? 'share' : 'number',
    }
  }
}

const isFirst = (path: string, index: number, all: string[]) => all.indexOf(path) === index

function groupOf(path: string): RunMetric['group'] {
  if (path.startsWith('learner.')) return 'learning'
  return path.startsWith('metrics.') || path.endsWith('_mean') ? 'episodes' : 'speed'
}

/** Where a criterion's metric is in a progress event. */
export function pathOf(metric: string): string {
  return metric === 'return_mean' || metric === 'length_mean' ? metric : `metrics.${metric}`
}

/** A metric by environment steps, for a chart. */
export function seriesOf(points: readonly ProgressEvent[], path: string): ChartPoint[] {
  const isMean = groupOf(path) === 'episodes'
  return points.map((point) => {
    const y = valueIn(point, path)
    return isMean && point.episodes_total < fewEpisodes ? { x: point.steps, y, faint: true } : { x: point.steps, y }
  })
}

/** The same metric in an evaluation; null where it has none. */
export function evaluated(evaluation: Omit<Evaluation, 'seed'>, path: string): number | null {
  if (path === 'return_mean' || path === 'length_mean') return evaluation[path]
  const name = path.slice('metrics.'.length)
  return path.startsWith('metrics.') && Object.hasOwn(evaluation.metrics, name) ? evaluation.metrics[name] : null
}

function valueIn(point: ProgressEvent, path: string): number | null {
  const [group, ...rest] = path.split('.')
  const record: Record<string, unknown> = group === 'metrics' || group === 'learner' ? point[group] : point
  const name = rest.length === 0 ? group : rest.join('.')
  const value = Object.hasOwn(record, name) ? record[name] : null
  return typeof value === 'number' ? value : null
}
