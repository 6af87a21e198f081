import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { parseExposition } from '../../app/testing/parse-exposition.ts'
import { Dependencies } from '../dependencies/dependencies.ts'
import {
  addCounts,
  countsOf,
  createProcessMetrics,
  exposition,
  groupRegistries,
  type MetricsSnapshot,
  processRegistries,
  readMetrics,
} from './process-metrics.ts'

const connections = { active: 1, idle: 2, waiting: 0 }
type Database = Parameters<typeof processRegistries>[0]['database']

/** Registries of a process of its own, but for Node's figures, which are this process's. */
function startCounting() {
  const metrics = createProcessMetrics()
  const working = async () => {}
  const dependencies = new Dependencies({ database: working, storage: working }, { warn() {}, error() {} })
  const database = { connections: () => connections } as Database
  const registries = processRegistries({ metrics, database, dependencies })
  return { metrics, read: async () => structuredClone(await readMetrics(registries)) }
}

async function exposed(figures: MetricsSnapshot[], answered = figures.length) {
  const families = parseExposition(await exposition(groupRegistries({ figures, answered })))
  return (name: string, labels: Record<string, string> = {}) =>
    [...families.values()]
      .flatMap(({ samples }) => samples)
      .find((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value))
      ?.value
}

describe('several processes combined', () => {
  it('sums counters, including series of a single process, and histograms', async () => {
    const [one, two] = [startCounting(), startCounting()]
    one.metrics.request({ method: 'GET', route: '/a', status: 200 }, 0.02)
    two.metrics.request({ method: 'GET', route: '/a', status: 200 }, 0.2)
    two.metrics.request({ method: 'GET', route: '/b', status: 404 }, 3)
    two.metrics.hostedCall('answered', 0.3)
    // The reader holds every histogram to its own rules.
    const value = await exposed([await one.read(), await two.read()])
    expect(value('http_requests_total', { route: '/a' })).toBe(2)
    expect(value('http_requests_total', { route: '/b' })).toBe(1)
    expect(value('http_request_duration_seconds_bucket', { route: '/a', le: '0.025' })).toBe(1)
    expect(value('http_request_duration_seconds_count', { route: '/a' })).toBe(2)
    expect(value('hosted_call_duration_seconds_count', { outcome: 'answered' })).toBe(1)
    expect(value('db_connections_idle')).toBe(4)
    expect(value('agentgym_processes_scraped')).toBe(2)
  })

  it('does not sum values that are the same everywhere', async () => {
    const value = await exposed([await startCounting().read(), await startCounting().read()], 2)
    expect(value('agentgym_build_info')).toBe(1)
    expect(value('nodejs_version_info')).toBe(1)
  })
})

describe('counts of an ended process', () => {
  it('contain no gauges', async () => {
    const registry = new Registry()
    const registers = [registry]
    new Counter({ name: 'counted', help: '-', registers }).inc(2)
    new Gauge({ name: 'level', help: '-', registers }).set(3)
    new Histogram({ name: 'times', help: '-', buckets: [1], registers }).observe(0.5)
    expect(countsOf(await readMetrics(registers)).map(({ name }) => name)).toEqual(['counted', 'times'])
  })

  it('are summed like those of running processes', async () => {
    const [one, two, three] = [startCounting(), startCounting(), startCounting()]
    one.metrics.request({ method: 'GET', route: '/a', status: 200 }, 0.02)
    two.metrics.request({ status: 200, route: '/a', method: 'GET' }, 0.4)
    two.metrics.iterations([1, 2, 1_000])
    three.metrics.request({ method: 'PUT', route: '/a', status: 200 }, 12)
    const own = new Set(['http_requests_total', 'http_request_duration_seconds', 'training_iteration_duration_seconds'])
    const counts = async ({ read }: typeof one) => (await read()).filter(({ name }) => own.has(name))
    const [a, b, c] = [await counts(one), await counts(two), await counts(three)]
    const text = async (figures: MetricsSnapshot[]) =>
      (await groupRegistries({ figures, answered: 0 })[0].metrics()).split('\n').toSorted()
    expect(await text([addCounts(addCounts([], a), addCounts(b, c))])).toEqual(await text([a, b, c]))
    expect((await text([a, b, c])).length).toBeGreaterThan(40)
  })
})
