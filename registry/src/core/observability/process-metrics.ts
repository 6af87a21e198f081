import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Connections, Database } from '../database/database.ts'
import type { ReadReplica } from '../database/read-replica.ts'
import type { Dependencies } from '../dependencies/dependencies.ts'
import { dependencyNames } from '../dependencies/outage.ts'
import { version } from '../version.ts'

/** Counters of one process, updated as things happen. Prometheus sums the processes, and detects restarts. */
export type ProcessMetrics = {
  registry: Registry
  /** `route` is the route's pattern, never a path, because clients can send any number of paths. */
  request(request: { method: string; route: string; status: number }, seconds: number): void
  /** Durations of new iterations in seconds. Call it once they are committed. */
  iterations(seconds: number[]): void
  /** A call of an agent: `answered`, `dropped`, or its error code. */
  hostedCall(outcome: string, seconds: number): void
  /** `failures` more of a scheduled task. Call it with 0 once the task is known. */
  taskFailed(task: string, failures: number): void
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export function createProcessMetrics(): ProcessMetrics {
  const registry = new Registry()
  const registers = [registry]
  const labelNames = ['method', 'route', 'status'] as const
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Responses, by method, route and status.',
    labelNames,
    registers,
  })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to the first byte of a response.',
    labelNames,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  })
  const iterations = new Histogram({
    name: 'training_iteration_duration_seconds',
    help: 'Duration of a training iteration (collecting and learning), measured by its worker.',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  })
  const calls = new Histogram({
    name: 'hosted_call_duration_seconds',
    help: 'Time from a call of an agent to its outcome: `answered`, `dropped` by its client, or an error code.',
    labelNames: ['outcome'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const taskFailures = new Counter({
    name: 'scheduled_task_failures_total',
    help: 'Failed runs of scheduled tasks in this process, by task.',
    labelNames: ['task'] as const,
    registers,
  })
  // Present from the first scrape on: if a series began with its first call, every rate would miss that call.
  calls.zero({ outcome: 'answered' })
  return {
    registry,
    request: ({ method, route, status }, seconds) => {
      const labels = { method: methods.has(method) ? method : 'other', route, status: String(status) }
      requests.inc(labels)
      durations.observe(labels, seconds)
    },
    iterations: (seconds) => {
      for (const each of seconds) iterations.observe(each)
    },
    hostedCall: (outcome, seconds) => calls.observe({ outcome }, seconds),
    taskFailed: (task, failures) => taskFailures.inc({ task }, failures),
  }
}

/** Metrics of one process as data that can be sent to another. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/**
 * The metrics of the processes that share a port, and how many of them just responded. The others' values are older.
 */
export type GroupSnapshot = { figures: MetricsSnapshot[]; answered: number }

type Sample = MetricsSnapshot[number]['values'][number] & { metricName?: string }

type Counted = { metrics: ProcessMetrics; database: Database; dependencies: Dependencies; replica?: ReadReplica }

/**
 * All that this process counts itself: requests, iterations and calls, its connections to the database, what it depends
 * on, Node's own.
 */
export function processRegistries({ metrics, database, dependencies, replica }: Counted): Registry[] {
  const connections = connectionMetrics(() => database.connections())
  return [metrics.registry, connections, dependencyMetrics(dependencies), replicaMetrics(replica), nodeMetrics()]
}

export async function readMetrics(registries: Registry[]): Promise<MetricsSnapshot> {
  return (await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()))).flat()
}

/** The metrics of several processes as those of one: most are summed, see `aggregator` of each metric. */
export function groupRegistries({ figures, answered }: GroupSnapshot): Registry[] {
  const scraped = new Registry()
  new Gauge({
    name: 'agentgym_processes_scraped',
    help: 'Processes sharing this port that contributed to this scrape.',
    registers: [scraped],
  }).set(answered)
  return [AggregatorRegistry.aggregate(figures), scraped]
}

/** In Prometheus's text format. */
export async function exposition(registries: Registry[]): Promise<string> {
  const texts = await Promise.all(registries.map((registry) => registry.metrics()))
  // The library's spelling of NaN is not accepted by any reader.
  return texts.join('').replaceAll(/ Nan$/gm, ' NaN')
}

/** The values of a process that does not respond: its counters remain, its gauges are unknown. */
export function countsOf(figures: MetricsSnapshot): MetricsSnapshot {
  return figures.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
}

/** Counts of two processes (`countsOf`) as of one. */
export function addCounts(left: MetricsSnapshot, right: MetricsSnapshot): MetricsSnapshot {
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
    active: 'Database connections in use by this process.',
    idle: 'Idle database connections of this process.',
    waiting: 'Requests in this process waiting for a database connection.',
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
    // Not summed over processes.
    aggregator: 'first',
    registers,
  })
    .labels(version)
    .set(1)
  return registry
}

function replicaMetrics(replica: ReadReplica | undefined): Registry {
  const registry = new Registry()
  new Gauge({
    name: 'agentgym_replica_lag_seconds',
    help: 'How far the read replica is behind at most, as this process knows; +Inf: it cannot be read; 0 without one.',
    // One process that cannot read it shows.
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.set(replica === undefined ? 0 : replica.lagMs() / 1_000)
    },
  })
  return registry
}

function dependencyMetrics(dependencies: Dependencies): Registry {
  const registry = new Registry()
  const registers = [registry]
  const labelNames = ['dependency'] as const
  new Gauge({
    name: 'agentgym_dependency_up',
    help: 'Whether this process can use a dependency (`database`, `storage`), by a probe every 5 s: 1 or 0.',
    labelNames,
    // The minimum, so that one process without a connection shows.
    aggregator: 'min',
    registers,
    collect() {
      for (const dependency of dependencyNames) this.set({ dependency }, dependencies.isUp(dependency) ? 1 : 0)
    },
  })
  new Counter({
    name: 'agentgym_dependency_errors_total',
    help: 'Operations of this process that failed because a dependency could not be used.',
    labelNames,
    registers,
    collect() {
      this.reset()
      for (const dependency of dependencyNames) this.inc({ dependency }, dependencies.errors(dependency))
    },
  })
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

/** A group of processes that share one port, as seen by one of them. Provided by the supervisor. */
export type ProcessGroup = {
  /** Number of this process from 1, shown in its log lines. */
  process: number
  /**
   * The port that others of the group already serve. This process accepts connections there only once it is ready, so
   * none waits for its start or is lost if it fails. Null for the first process, which may choose a free port.
   */
  servedPort: number | null
  /** Metrics of all processes of the group. */
  figures(): Promise<GroupSnapshot>
}
