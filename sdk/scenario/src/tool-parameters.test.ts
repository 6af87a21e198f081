import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { faultOf, startEngine } from '../test/start-engine.ts'
import { actionLeaves, describeScenario } from './engine/index.ts'
import { type AllowedOf, choice, defineToolScenario, dict, discrete, list, number, pointer, tool } from './index.ts'

type Item = { id: string; features: number[] }
type Desk = { items: Item[]; calls: unknown[] }

/** Tools of every kind of parameter over the given items; what they were called with is kept in the state. */
function desk(items: unknown, options: { allowed?: (state: Desk) => object; slots?: number } = {}) {
  const calls: unknown[] = []
  const keep = (name: string) => (_: Desk, args: object) => {
    calls.push([name, { ...args }])
    return {}
  }
  const definition = defineToolScenario({
    observation: dict({ shown: dict({ orders: list({ slots: options.slots ?? 3, features: 2 }) }) }),
    maxSteps: 50,
    start: (): Desk => ({ items: items as Item[], calls }),
    tools: {
      wait: { description: 'Waits', run: () => ({}) },
      refund: tool({
        description: 'Pays an order back',
        parameters: {
          order: pointer('shown.orders'),
          share: number({ low: 0, high: 100 }),
          reason: choice(['late', 'broken', 'lost'], { default: 'broken' }),
          times: number({ low: 1, high: 6, integer: true }),
        },
        ...(options.allowed === undefined ? {} : { allowed: options.allowed as never }),
        run: keep('refund'),
      }),
      rate: tool({ description: 'Rates', parameters: { stars: discrete({ n: 5, start: 1 }) }, run: keep('rate') }),
    },
    observe: (state) => ({ shown: { orders: state.items } }),
    outcome: () => 0,
  })
  return { definition, calls }
}

const item = (id: string, ...features: number[]): Item => ({ id, features })
const three = [item('A-1', 0, 1), item('B-2', 2, 3), item('C-3', 4, 5)]

test('the action is a choice of tools, with the parameters of each beside it', () => {
  const { action, masked, sizes } = describeScenario(desk(three).definition)
  expect(masked).toBe(true)
  expect(sizes).toMatchObject({ observation: 9, action: 6, mask: 3 + 3 + 3 + 5 })
  expect(actionLeaves(action).map(({ name, when, list, default: fixed }) => ({ name, when, list, fixed }))).toEqual([
    { name: 'tool', when: undefined, list: undefined, fixed: undefined },
    { name: 'refund.order', when: { column: 0, choice: 1 }, list: 'shown.orders', fixed: undefined },
    { name: 'refund.share', when: { column: 0, choice: 1 }, list: undefined, fixed: 50 },
    { name: 'refund.reason', when: { column: 0, choice: 1 }, list: undefined, fixed: 1 },
    { name: 'refund.times', when: { column: 0, choice: 1 }, list: undefined, fixed: 3 },
    { name: 'rate.stars', when: { column: 0, choice: 2 }, list: undefined, fixed: undefined },
  ])
})

test('a tool is given ids, words and numbers', () => {
  const { definition, calls } = desk(three)
  const { engine, buffers } = startEngine(definition)
  engine.reset()
  expect(Array.from(buffers.observations)).toEqual([1, 0, 1, 1, 2, 3, 1, 4, 5])
  for (const row of [
    [1, 2, 12.5, 0, 3.5, 0],
    [1, 0, 1e9, 2, -7, 4],
    [2, 2, 1, 1, 1, 4],
    [0, 0, 0, 0, 0, 0],
  ]) {
    buffers.actions.set(row)
    engine.step()
  }
  expect(calls).toEqual([
    ['refund', { order: 'C-3', share: 12.5, reason: 'late', times: 4 }],
    ['refund', { order: 'A-1', share: 100, reason: 'lost', times: 1 }],
    ['rate', { stars: 5 }],
  ])
})

test('the types of arguments follow from the parameters', () => {
  tool({
    description: 'Pays an order back',
    parameters: { order: pointer('orders'), share: number({ low: 0, high: 1 }), reason: choice(['late', 'broken']) },
    allowed: () => ({ reason: ['late'], order: ['A-1'] }),
    run(_: Desk, args) {
      expectTypeOf(args.order).toEqualTypeOf<string>()
      expectTypeOf(args.share).toEqualTypeOf<number>()
      expectTypeOf(args.reason).toEqualTypeOf<'late' | 'broken'>()
      return {}
    },
  })
  const parameters = { reason: choice(['late']), share: number({ low: 0, high: 1 }) }
  expectTypeOf<AllowedOf<typeof parameters>>().toEqualTypeOf<{ readonly reason?: readonly 'late'[] }>()
})

describe('masks', () => {
  const columns = { tool: 0, order: 3, reason: 6, stars: 9 }
  const maskOf = (...given: Parameters<typeof desk>) => {
    const { engine, buffers } = startEngine(desk(...given).definition)
    engine.reset()
    const row = Array.from(buffers.masks)
    return { tool: row.slice(0, 3), order: row.slice(3, 6), reason: row.slice(columns.reason, columns.stars) }
  }

  test('follow the items that are shown', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 6 }), { maxLength: 3 }), (ids) => {
        const { tool, order } = maskOf(ids.map((id) => item(id, 0, 0)))
        expect(tool).toEqual([1, ids.length > 0 ? 1 : 0, 1])
        // While the tool cannot be called, nothing of its arguments matters.
        expect(order).toEqual([0, 1, 2].map((slot) => (ids.length === 0 || slot < ids.length ? 1 : 0)))
      }),
    )
  })

  test('and what the tool allows', () => {
    expect(maskOf(three, { allowed: () => ({ order: ['C-3', 'A-1'], reason: ['lost'] }) })).toEqual({
      tool: [1, 1, 1],
      order: [1, 0, 1],
      reason: [0, 0, 1],
    })
    expect(maskOf(three, { allowed: () => ({ reason: [] }) }).tool).toEqual([1, 0, 1])
  })

  test.each([
    ['an id that is not shown', { order: ['X'] }, '"X"'],
    ['NaN', { order: [Number.NaN] }, 'NaN'],
    ['an unknown parameter', { orders: ['A-1'] }, '"orders"'],
    ['a number', { share: [1] }, 'cannot be masked'],
    ['something else', null, 'null'],
  ])('refuse %s', (_, allowed, words) => {
    const fault = faultOf(() => maskOf(three, { allowed: () => allowed as object }))
    expect(fault.code).toBe('scenario_threw')
    expect(fault.message).toContain('tools.refund.allowed')
    expect(fault.message).toContain(words)
  })
})

describe('lists', () => {
  test.each([
    ['too many items', [...three, item('D-4', 0, 0)], 'has 4 items where the list has 3 slots'],
    ['an id twice', [item('A-1', 0, 0), item('A-1', 1, 1)], 'unique'],
    ['no id', [{ features: [0, 0] }], 'id undefined'],
    ['NaN', [item('A-1', 0, Number.NaN)], 'NaN'],
    ['a missing feature', [item('A-1', 0)], '1 numbers where the space has 2'],
    ['no array', new Set(three), 'a list of items'],
  ])('refuse %s', (_, items, words) => {
    const fault = faultOf(() => startEngine(desk(items).definition).engine.reset())
    expect(fault.code).toBe('observation_invalid')
    expect(`${fault.message} ${fault.hint}`).toContain(words)
  })

  test('come out as they went in: a row a slot, and zeros for the rest', () => {
    const items = fc.uniqueArray(
      fc.record({ id: fc.string({ minLength: 1, maxLength: 5 }), features: fc.tuple(fc.float(), fc.float()) }),
      { selector: ({ id }) => id, maxLength: 4 },
    )
    fc.assert(
      fc.property(items, (given) => {
        const finite = given.filter(({ features }) => features.every(Number.isFinite))
        const { engine, buffers } = startEngine(desk(finite, { slots: 4 }).definition)
        engine.reset()
        const rows = finite.flatMap(({ features }) => [1, ...features.map(Math.fround)])
        expect(Array.from(buffers.observations)).toEqual([...rows, ...Array(12 - rows.length).fill(0)])
      }),
    )
  })
})

test.each([
  [() => choice(['a', 'a']), 'twice'],
  [() => choice(['a'], { default: 'b' as 'a' }), '"b"'],
  [() => number({ low: 1, high: 1 }), 'low below high'],
  [() => number({ low: 0, high: Number.POSITIVE_INFINITY }), 'finite'],
  [() => number({ low: 0.5, high: 2, integer: true }), 'integers'],
  [() => number({ low: 0, high: 2, default: 3 }), 'from 0 to 2'],
  [() => pointer('nothing'), '"nothing"'],
])('%s is refused', (make, words) => {
  const define = () =>
    defineToolScenario({
      observation: dict({ orders: list({ slots: 2, features: 1 }) }),
      maxSteps: 1,
      start: () => ({}),
      tools: { refund: tool({ description: 'Pays', parameters: { only: make() }, run: (_: object) => ({}) }) },
      observe: () => ({ orders: [] }),
      outcome: () => 0,
    })
  expect(define).toThrow(words)
})
