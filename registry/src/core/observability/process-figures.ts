import { AggregatorRegistry, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Connections } from '../database/database.ts'
import type { Services } from '../services.ts'
import { version } from '../version.ts'

/** What one process counts, as data that can go to another one: a metric each, with its samples. */
export type ProcessFigures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** What the processes that share a port count, and how many of them said so just now: the others' figures are older. */
export type GroupFigures = { figures: ProcessFigures[]; answered: number }

type Sample = ProcessFigures[number]['values'][number] & { metricName?: string }

/** All that this process counts itself: requests, iterations and calls, its connections to the database, Node's own. */
export function processRegistries({ metrics, database }: Pick<Services, 'metrics' | 'database'>): Registry[] {
  return [metrics.registry, connectionMetrics(() => database.connections()), nodeMetrics()]
}

export async function readFigures(registries: Registry[]): Promise<ProcessFigures> {
  return (await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()))).flat()
}

/** The figures of several processes as one process would give them: most are added up, see `aggregator` of each metric. */
export function groupRegistries({ figures, answered }: GroupFigures): Registry[] {
  const scraped = new Registry()
  new Gauge({
    name: 'agentgym_processes_scraped',
    help: 'Processes that share this port and gave their figures for this scrape.',
    registers: [scraped],
  }).set(answered)
  return [AggregatorRegistry.aggregate(figures), scraped]
}

/** In Prometheus's text format. */
export async function exposition(registries: Registry[]): Promise<string> {
  const texts = await Promise.all(registries.map((registry) => registry.metrics()))
  // The library writes what is no number as no other reader spells it.
  return texts.join('').replaceAll(/ Nan$/gm, ' NaN')
}

/** What is left of a process that does not answer: what it has counted stays counted, how things stand there is unknown. */
export function countsOf(figures: ProcessFigures): ProcessFigures {
  return figures.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
}

/** Counts of two processes (`countsOf`) as of one. */
export function addCounts(left: ProcessFigures, right: ProcessFigures): ProcessFigures {
  const sums = new Map(left.map((metric) => [metric.name, metric]))
  for (const metric of right) {
    const values = new Map<string, Sample>()
    for (const sample of [...(sums.get(metric.name)?.values ?? []), ...metric.values]) {
      const key = seriesOf(sample)
      values.set(key, { ...sample, value: (values.get(key)?.value ?? 0) + sample.value })
    }
    sums.set(metric.name, { ...metric, values: [...values.values()] })
  }
  return [...sums.values()]
}

function seriesOf({ metricName, labels }: Sample): string {
  return JSON.stringify([metricName, ...Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1))])
}

function connectionMetrics(read: () => Connections): Registry {
  const registry = new Registry()
  const registers = [registry]
  const help = {
    active: 'Connections to the database in use by this process.',
    idle: 'Connections to the database that this process holds unused.',
    waiting: 'Who waits in this process for a connection to the database.',
  }
  for (const state of ['active', 'idle', 'waiting'] as const)
    new Gauge({
      name: `db_connections_${state}`,
      help: help[state],
      registers,
      collect() {
        this.set(read()[state])
      },
    })
  new Gauge({
    name: 'agentgym_build_info',
    help: 'Version of the server; always 1.',
    labelNames: ['version'],
    // Processes are added up, but not this.
    aggregator: 'first',
    registers,
  })
    .labels(version)
    .set(1)
  return registry
}

let ofNode: Registry | undefined

/** CPU, memory, event loop, garbage collection: of the process, so once, however many servers run in it. */
function nodeMetrics(): Registry {
  if (ofNode === undefined) {
    ofNode = new Registry()
    collectDefaultMetrics({ register: ofNode })
  }
  return ofNode
}
