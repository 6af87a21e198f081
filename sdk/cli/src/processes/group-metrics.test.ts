import type { MetricsSnapshot } from '@agentgym/registry/processes'
import { expect, it } from 'vitest'
import { GroupMetrics, type MetricsSource } from './group-metrics.ts'

type Response = () => Promise<MetricsSnapshot>

/** Metrics of a process that has served so many requests of each route. */
function metricsOf(requests: Record<string, number>, memory = 1): MetricsSnapshot {
  const values = Object.entries(requests).map(([route, value]) => ({ value, labels: { route } }))
  const described = { help: '', aggregator: 'sum', collect: () => {} }
  return [
    { ...described, name: 'requests', type: 'counter', values },
    { ...described, name: 'memory', type: 'gauge', values: [{ value: memory, labels: {} }] },
  ] as unknown as MetricsSnapshot
}

class Process implements MetricsSource {
  respond: Response = async () => metricsOf(this.requests)
  requests: Record<string, number> = {}
  readMetrics = () => this.respond()
}

/** What Prometheus would get: each series summed up. */
function totals(figures: MetricsSnapshot[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { name, values } of figures.flat())
    for (const { labels, value } of values) {
      const series = `${name} ${labels.route ?? ''}`.trim()
      sums[series] = (sums[series] ?? 0) + value
    }
  return sums
}

async function read(group: GroupMetrics, processes: Process[]) {
  const { figures, answered } = await group.read(processes)
  return { ...totals(figures), answered }
}

const never: Response = () => new Promise(() => {})

it('adds up the processes that respond', async () => {
  const [one, two] = [new Process(), new Process()]
  one.requests = { '/a': 3 }
  two.requests = { '/a': 4, '/b': 1 }
  expect(await read(new GroupMetrics(), [one, two])).toEqual({
    'requests /a': 7,
    'requests /b': 1,
    memory: 2,
    answered: 2,
  })
})

it('keeps the last counters of an unresponsive process, without double counting later', async () => {
  const group = new GroupMetrics(50)
  const [one, two] = [new Process(), new Process()]
  two.requests = { '/a': 4 }
  await group.read([one, two])
  two.respond = never
  one.requests = { '/a': 1 }
  expect(await read(group, [one, two])).toEqual({ 'requests /a': 5, memory: 1, answered: 1 })
  two.respond = async () => metricsOf({ '/a': 6 })
  expect(await read(group, [one, two])).toEqual({ 'requests /a': 7, memory: 2, answered: 2 })
  two.respond = async () => Promise.reject(new Error('it cannot'))
  expect(await read(group, [one, two])).toEqual({ 'requests /a': 7, memory: 1, answered: 1 })
})

it('uses a late response at the next scrape', async () => {
  const group = new GroupMetrics(20)
  const late = new Process()
  const { promise, resolve } = Promise.withResolvers<MetricsSnapshot>()
  late.respond = () => promise
  expect(await read(group, [late])).toEqual({ answered: 0 })
  resolve(metricsOf({ '/a': 9 }))
  await promise
  late.respond = never
  expect(await read(group, [late])).toEqual({ 'requests /a': 9, answered: 0 })
})

it('keeps the counters of ended processes, however many', async () => {
  const group = new GroupMetrics()
  const stays = new Process()
  stays.requests = { '/a': 1 }
  for (let number = 1; number <= 50; number++) {
    const ends = new Process()
    ends.requests = { '/a': 2, [`/${number % 2}`]: 1 }
    await group.read([stays, ends])
    group.ended(ends)
    group.ended(ends)
  }
  group.ended(new Process())
  const { figures, answered } = await group.read([stays])
  expect({ ...totals(figures), answered }).toEqual({
    'requests /a': 101,
    'requests /0': 25,
    'requests /1': 25,
    memory: 1,
    answered: 1,
  })
  // Not one part an ended process: that would grow for ever.
  expect(figures).toHaveLength(2)
})

it('counts a process that ends during a scrape once', async () => {
  const group = new GroupMetrics(100)
  const [ends, slow] = [new Process(), new Process()]
  ends.requests = { '/a': 5 }
  const { promise, resolve } = Promise.withResolvers<MetricsSnapshot>()
  slow.respond = () => promise
  const reading = read(group, [ends, slow])
  await new Promise(setImmediate)
  group.ended(ends)
  resolve(metricsOf({ '/a': 1 }))
  expect(await reading).toEqual({ 'requests /a': 6, memory: 1, answered: 1 })
})

it('returns the same for two concurrent scrapes', async () => {
  const group = new GroupMetrics()
  const one = new Process()
  one.requests = { '/a': 2 }
  const expected = { 'requests /a': 2, memory: 1, answered: 1 }
  expect(await Promise.all([read(group, [one]), read(group, [one])])).toEqual([expected, expected])
})
