import type { ProgressEvent } from '@agentgym/contract'
import { csvLine } from '../../../core/http/csv.ts'

/** Maximum number of columns for a scenario's own metrics, which can have any number and names. */
export const MAX_METRICS = 200

type Cell = number | null | undefined
type Column = { header: string; cell(point: ProgressEvent): Cell }

const counts = [
  'iteration',
  'steps',
  'steps_total',
  'steps_per_second',
  'seconds',
  'collect_seconds',
  'update_seconds',
  'episodes',
  'episodes_total',
  'return_mean',
  'length_mean',
] as const

/** In the order of the columns. */
export const learnerMetrics = [
  'policy_loss',
  'value_loss',
  'entropy',
  'approximate_kl',
  'clip_fraction',
  'explained_variance',
  'kl_to_reference',
  'zero_variance_groups',
  'gradient_norm',
  'learning_rate',
  'value_mean',
  'exploration_rate',
  'entropy_coefficient',
] as const satisfies (keyof ProgressEvent['learner'])[]

/**
 * A run's curve as CSV with a header, one line per iteration; null is an empty cell.
 *
 * `metrics` names the columns of the scenario's own metrics, each prefixed with `metrics.`: the header comes before the
 * first line, and a metric may appear late.
 */
export async function* metricsCsv(
  points: AsyncIterable<ProgressEvent> | Iterable<ProgressEvent>,
  metrics: readonly string[],
): AsyncGenerator<string> {
  const columns: Column[] = [
    ...counts.map((header) => ({ header, cell: (point: ProgressEvent) => point[header] })),
    ...learnerMetrics.map((name) => ({
      header: `learner.${name}`,
      cell: ({ learner }: ProgressEvent) => learner[name] ?? null,
    })),
    ...metrics.slice(0, MAX_METRICS).map((name) => ({
      header: `metrics.${name}`,
      cell: ({ metrics }: ProgressEvent) => (Object.hasOwn(metrics, name) ? metrics[name] : null),
    })),
  ]
  yield csvLine(columns.map(({ header }) => header))
  for await (const point of points) yield csvLine(columns.map(({ cell }) => cell(point)))
}

/** A run's curve as JSON lines: one progress event per line. */
export async function* metricsJsonLines(
  points: AsyncIterable<ProgressEvent> | Iterable<ProgressEvent>,
): AsyncGenerator<string> {
  for await (const point of points) yield `${JSON.stringify(point)}\n`
}
