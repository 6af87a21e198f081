import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import scenario from './index.ts'
import { duePercent, type Return, reasons, writeReturn } from './returns.ts'

const RETURNS = 300

type Action = { tool: number; refund?: { order: number; percent: number; reason: number }; replace?: { order: number } }
const find: Action = { tool: 0 }

/** What the desk owes, with the wanted order's slot. */
function rightAction(request: Return, slot: number): Action {
  if (request.matter === 'wrong variant') return { tool: 2, replace: { order: slot } }
  const reason = reasons.indexOf(request.matter)
  return { tool: 1, refund: { order: slot, percent: duePercent(request), reason } }
}

/** Means over held-out returns, each looked up and then handled. */
async function means(handle: (request: Return, slot: number, rng: () => number) => Action) {
  const sums: Record<string, number> = {}
  const random = createRng(1)
  for (let index = 0; index < RETURNS; index += 1) {
    const context = { rng: createRng(index), task: { split: 'eval', index } } as const
    const episode = await scenario.reset(context)
    const { request } = episode.state
    const slot = request.orders.findIndex(({ id }) => id === request.wanted)
    for (const action of [find, handle(request, slot, random)]) {
      scenario.observe(episode)
      scenario.step(episode, action as never, context)
    }
    for (const [name, value] of Object.entries(scenario.metrics?.(episode) ?? {}))
      sums[name] = (sums[name] ?? 0) + value
  }
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / RETURNS]))
}

test('the rules solve every return in two calls', async () => {
  expect(await means(rightAction)).toMatchObject({
    ...{ solved: 1, tool_calls: 2, tool_reliability: 1 },
    ...{ right_tool: 1, right_order: 1, right_reason: 1, percent_off: 0 },
  })
})

test('the right tools with arguments by chance solve next to none', async () => {
  const metrics = await means((request, _, random) => {
    const order = Math.floor(random() * request.orders.length)
    if (request.matter === 'wrong variant') return { tool: 2, replace: { order } }
    return { tool: 1, refund: { order, percent: Math.floor(random() * 101), reason: Math.floor(random() * 3) } }
  })
  expect(metrics.right_tool).toBe(1)
  expect(metrics.solved).toBeLessThan(0.15)
})

test('before the orders are looked up, none can be refunded or replaced', async () => {
  const context = { rng: createRng(1), task: { split: 'train', index: 5 } } as const
  const episode = await scenario.reset(context)
  scenario.observe(episode)
  expect(scenario.actionMask?.(episode)).toMatchObject({ tool: [true, false, false] })
  scenario.step(episode, find as never, context)
  scenario.observe(episode)
  const { orders } = episode.state.request
  const slots = Array.from({ length: 6 }, (_, slot) => slot < orders.length)
  expect(scenario.actionMask?.(episode)).toMatchObject({ tool: [true, true, true], refund: { order: slots } })
})

test('returns are the same for a number, and orders of a customer have ids of their own', () => {
  for (let seed = 0; seed < 500; seed += 1) {
    const written = writeReturn(createRng(seed))
    expect(writeReturn(createRng(seed))).toEqual(written)
    expect(new Set(written.orders.map(({ id }) => id)).size).toBe(written.orders.length)
    expect(written.orders.some(({ id, product }) => id === written.wanted && written.message.includes(product))).toBe(
      true,
    )
  }
})

test('is solved by keyword rules, whose wording is known; random calls hardly ever do', () => {
  expect(meansOf(scenario, 'rules', 192)).toMatchObject({ solved: 1 })
})
