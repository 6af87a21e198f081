import type { ProcessFigures } from '@agentgym/registry/processes'
import { expect, it } from 'vitest'
import { type Counting, FiguresOfGroup } from './figures-of-group.ts'

type Answer = () => Promise<ProcessFigures>

/** Figures of a process that has answered so many requests of each route. */
function figuresOf(requests: Record<string, number>, memory = 1): ProcessFigures {
  const values = Object.entries(requests).map(([route, value]) => ({ value, labels: { route } }))
  const described = { help: '', aggregator: 'sum', collect: () => {} }
  return [
    { ...described, name: 'requests', type: 'counter', values },
    { ...described, name: 'memory', type: 'gauge', values: [{ value: memory, labels: {} }] },
  ] as unknown as ProcessFigures
}

class Process implements Counting {
  answer: Answer = async () => figuresOf(this.requests)
  requests: Record<string, number> = {}
  readFigures = () => this.answer()
}

/** What Prometheus would get: each series summed up. */
function totals(figures: ProcessFigures[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { name, values } of figures.flat())
    for (const { labels, value } of values) {
      const series = `${name} ${labels.route ?? ''}`.trim()
      sums[series] = (sums[series] ?? 0) + value
    }
  return sums
}

async function read(group: FiguresOfGroup, processes: Process[]) {
  const { figures, answered } = await group.read(processes)
  return { ...totals(figures), answered }
}

const never: Answer = () => new Promise(() => {})

it('adds up who answers', async () => {
  const [one, two] = [new Process(), new Process()]
  one.requests = { '/a': 3 }
  two.requests = { '/a': 4, '/b': 1 }
  expect(await read(new FiguresOfGroup(), [one, two])).toEqual({
    'requests /a': 7,
    'requests /b': 1,
    memory: 2,
    answered: 2,
  })
})

it('what a process has told stays counted while it does not answer, and is counted once when it does again', async () => {
  const group = new FiguresOfGroup(50)
  const [one, two] = [new Process(), new Process()]
  two.requests = { '/a': 4 }
  await group.read([one, two])
  two.answer = never
  one.requests = { '/a': 1 }
  expect(await read(group, [one, two])).toEqual({ 'requests /a': 5, memory: 1, answered: 1 })
  two.answer = async () => figuresOf({ '/a': 6 })
  expect(await read(group, [one, two])).toEqual({ 'requests /a': 7, memory: 2, answered: 2 })
  two.answer = async () => Promise.reject(new Error('it cannot'))
  expect(await read(group, [one, two])).toEqual({ 'requests /a': 7, memory: 1, answered: 1 })
})

it('an answer that comes too late is used at the next scrape', async () => {
  const group = new FiguresOfGroup(20)
  const late = new Process()
  const { promise, resolve } = Promise.withResolvers<ProcessFigures>()
  late.answer = () => promise
  expect(await read(group, [late])).toEqual({ answered: 0 })
  resolve(figuresOf({ '/a': 9 }))
  await promise
  late.answer = never
  expect(await read(group, [late])).toEqual({ 'requests /a': 9, answered: 0 })
})

it('what processes had told stays counted after their end, however many have ended', async () => {
  const group = new FiguresOfGroup()
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

it('a process that ends during a scrape is in it once', async () => {
  const group = new FiguresOfGroup(100)
  const [ends, slow] = [new Process(), new Process()]
  ends.requests = { '/a': 5 }
  const { promise, resolve } = Promise.withResolvers<ProcessFigures>()
  slow.answer = () => promise
  const reading = read(group, [ends, slow])
  await new Promise(setImmediate)
  group.ended(ends)
  resolve(figuresOf({ '/a': 1 }))
  expect(await reading).toEqual({ 'requests /a': 6, memory: 1, answered: 1 })
})

it('two who scrape at once are told the same', async () => {
  const group = new FiguresOfGroup()
  const one = new Process()
  one.requests = { '/a': 2 }
  const expected = { 'requests /a': 2, memory: 1, answered: 1 }
  expect(await Promise.all([read(group, [one]), read(group, [one])])).toEqual([expected, expected])
})
