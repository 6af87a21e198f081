import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { durationBuckets, type FinalState, type ScrapedFigures } from './scraped-figures.ts'

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
  registry.registerMetric(new RunDurations(figures))

  const length = gauge('queue_length', 'Jobs that wait for a worker, by kind.', 'kind')
  const leased = gauge('queue_leased', 'Jobs that a worker has, by kind.', 'kind')
  for (const [kind, jobs] of Object.entries(figures.queue)) {
    length.set({ kind }, jobs.waiting)
    leased.set({ kind }, jobs.leased)
  }

  gauge('workers_connected', 'Workers heard of within the last two minutes.').set(figures.workersConnected)
  for (const share of ['cpu', 'gpu', 'memory'] as const) {
    const usage = gauge(`worker_${share}_usage`, `Share of a worker's ${share} in use, 0 to 1.`, 'worker')
    for (const [name, worker] of figures.usage)
      if (worker[share] !== null) usage.set({ worker: shown(name) }, worker[share])
  }
  return registry
}

/** A histogram whose buckets have been counted already, which is more than the library's own takes. */
class RunDurations extends Histogram<'state' | 'le'> {
  readonly #figures: ScrapedFigures
  /** The shorter way that the library takes where it is there; it would go past `get`. */
  readonly getForPromString = undefined

  constructor(figures: ScrapedFigures) {
    super({
      name: 'training_job_duration_seconds',
      help: 'Time from the first lease of a run to its end, by how it ended.',
      labelNames: ['state'],
      buckets: durationBuckets,
      registers: [],
    })
    this.#figures = figures
  }

  override async get() {
    const name = 'training_job_duration_seconds'
    const values = Object.entries(this.#figures.ended).flatMap(([state, { durations }]) => [
      ...durationBuckets.map((le, index) => ({
        metricName: `${name}_bucket`,
        labels: { state, le },
        value: durations.atMost[index],
      })),
      { metricName: `${name}_bucket`, labels: { state, le: '+Inf' }, value: durations.runs },
      { metricName: `${name}_sum`, labels: { state }, value: durations.seconds },
      { metricName: `${name}_count`, labels: { state }, value: durations.runs },
    ])
    return { ...(await super.get()), values }
  }
}

/** A worker's name as a label; one that is not as the contract says is somebody's who went past it. */
function shown(name: string): string {
  return name.replace(/[^\w .:@()-]/g, '?').slice(0, 80)
}
