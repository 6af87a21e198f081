import { Counter, Gauge, type Histogram, Registry } from 'prom-client'
import { durationBuckets, type FinalState, type ScrapedFigures } from '../core/observability/scraped-figures.ts'

/**
 * The figures that the database knows, as Prometheus reads them; undefined where it did not answer. Every replica tells
 * the same, so they are combined by `max`, never added up.
 */
export function databaseMetrics(figures: ScrapedFigures | undefined): Registry {
  const registry = new Registry()
  const registers = [registry]
  const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge<Label>({ name, help, labelNames, registers })
  gauge('db_up', 'Whether the database answered this scrape, 1 or 0.').set(figures === undefined ? 0 : 1)
  if (figures === undefined) return registry

  gauge('training_jobs_active', 'Runs that are being trained.').set(figures.runsActive)
  const counted: [FinalState, string][] = [
    ['completed', 'Runs that came to a trained agent.'],
    ['failed', 'Runs that failed.'],
    ['cancelled', 'Runs that were cancelled.'],
  ]
  for (const [state, help] of counted)
    new Counter({ name: `training_jobs_${state}_total`, help, registers }).inc(figures.ended[state].runs)
  registry.registerMetric(runDurations(figures))

  const length = gauge('queue_length', 'Jobs that wait for a worker, by kind.', 'kind')
  const leased = gauge('queue_leased', 'Jobs that a worker has, by kind.', 'kind')
  for (const [kind, jobs] of Object.entries(figures.queue)) {
    length.set({ kind }, jobs.waiting)
    leased.set({ kind }, jobs.leased)
  }

  gauge('workers_connected', 'Workers heard of within the last two minutes.').set(figures.workersConnected)
  for (const share of ['cpu', 'gpu', 'memory'] as const) {
    const usage = gauge(`worker_${share}_usage`, `Share of a worker's ${share} in use, 0 to 1.`, 'worker')
    for (const [name, worker] of figures.usage) if (worker[share] !== null) usage.set({ worker: name }, worker[share])
  }
  return registry
}

/**
 * A histogram whose buckets have been counted already, which is more than the library's own takes. Of a metric the registry
 * reads its name, and what `get` gives.
 */
function runDurations({ ended }: ScrapedFigures): Histogram {
  const name = 'training_job_duration_seconds'
  const values = Object.entries(ended).flatMap(([state, { durations }]) => [
    ...durationBuckets.map((le, index) => ({
      metricName: `${name}_bucket`,
      labels: { state, le },
      value: durations.atMost[index],
    })),
    { metricName: `${name}_bucket`, labels: { state, le: '+Inf' }, value: durations.runs },
    { metricName: `${name}_sum`, labels: { state }, value: durations.seconds },
    { metricName: `${name}_count`, labels: { state }, value: durations.runs },
  ])
  const help = 'Time from the first lease of a run to its end, by how it ended.'
  return { name, get: async () => ({ name, help, type: 'histogram', values }) } as unknown as Histogram
}
