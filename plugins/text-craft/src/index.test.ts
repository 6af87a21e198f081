import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { type Book, callsNeeded, drawBook, ITEMS } from './book.ts'
import scenario from './index.ts'

/** Recipes one after the other, at most. */
function depthOf({ items }: Book, name: string): number {
  const inputs = items.find((item) => item.name === name)?.inputs ?? []
  return inputs.length === 0 ? 0 : 1 + Math.max(...inputs.map((input) => depthOf({ items } as Book, input)))
}

/** A bench, and a way to call its tools by name. */
async function openBench(index: number) {
  const context = { rng: createRng(index), task: { split: 'train', index } } as const
  const episode = await scenario.reset(context)
  const names = ['read', 'gather', 'craft']
  return {
    bench: episode.state,
    items: () => scenario.observe(episode).items,
    call(name: string, item: string) {
      const slot = scenario.observe(episode).items.findIndex(({ id }) => id === item)
      return scenario.step(episode, { tool: names.indexOf(name), [name]: { item: slot } } as never, context)
    },
  }
}

test('who reads, gathers and crafts in order solves every task; chance solves none', () => {
  expect(meansOf(scenario, 'oracle', 192)).toMatchObject({
    solved: 1,
    tool_reliability: 1,
    spare_calls: 4,
  })
  for (const player of ['random', 'first'] as const) expect(meansOf(scenario, player, 192).solved).toBeLessThan(0.02)
})

test('a book has one way to its goal, of the depth that it says', () => {
  const depths = new Set<number>()
  for (let seed = 0; seed < 500; seed += 1) {
    const book = drawBook(createRng(seed))
    expect(drawBook(createRng(seed))).toEqual(book)
    expect(book.items).toHaveLength(ITEMS)
    expect(new Set(book.items.map(({ name }) => name)).size).toBe(ITEMS)
    expect(depthOf(book, book.goal)).toBe(book.depth)
    expect(callsNeeded(book)).toBeLessThanOrEqual(scenario.maxSteps - 4)
    depths.add(book.depth)
  }
  expect([...depths].sort()).toEqual([2, 3, 4])
})

test('a recipe is followed only after it has been read, and uses up what it names', async () => {
  const { bench, call } = await openBench(3)
  const { items, goal } = bench.book
  // Something of the way that is made of gathered things alone.
  const made = items.find(({ name, inputs }) => {
    const raw =
      inputs.length > 0 && inputs.every((input) => items.find((item) => item.name === input)?.inputs.length === 0)
    return raw && name !== goal
  })
  if (made === undefined) throw new Error('no such item in book 3')
  bench.callsLeft = 100
  for (const input of made.inputs) await call('gather', input)
  const gathered = [...bench.inventory]
  await call('craft', made.name)
  expect(bench.inventory).toEqual(gathered)
  await call('gather', made.name)
  expect(bench.inventory).toEqual(gathered)
  await call('read', made.name)
  expect(bench.message).toContain(made.inputs.join(', '))
  await call('craft', made.name)
  expect(bench.inventory).toEqual([made.name])
})

test('an item is marked as needed once a recipe names it, and no longer when it is there', async () => {
  const { bench, items, call } = await openBench(5)
  const { goal } = bench.book
  const needed = () => items().flatMap(({ id, features }) => (features[1] === 1 ? [id] : []))
  expect(needed()).toEqual([goal])
  await call('read', goal)
  const inputs = bench.book.items.find(({ name }) => name === goal)?.inputs ?? []
  expect(needed().sort()).toEqual([goal, ...inputs].sort())
  bench.inventory.push(inputs[0])
  expect(needed()).not.toContain(inputs[0])
})

test('calls run out', async () => {
  const { bench, call } = await openBench(7)
  bench.callsLeft = 1
  expect(await call('read', bench.book.goal)).toMatchObject({ terminated: true })
})

test('no book is in both splits', async () => {
  const seen = async (split: 'train' | 'eval') => {
    const books: string[] = []
    for (let index = 0; index < 3000; index += 1) {
      const { state } = await scenario.reset({ rng: createRng(1), task: { split, index } })
      books.push(JSON.stringify(state.book))
    }
    return books
  }
  const trained = new Set(await seen('train'))
  const held = await seen('eval')
  expect(new Set(held).size).toBe(held.length)
  expect(held.filter((book) => trained.has(book))).toEqual([])
})
