/**
 * A returns desk: look up a customer's orders, then refund or replace the one that the message is about. The agent chooses
 * what to do, and every argument of it: the order by its id, the percentage, the reason.
 */
import {
  box,
  choice,
  defineToolScenario,
  dict,
  list,
  number,
  oneHot,
  pointer,
  taskRng,
  text,
  tool,
} from '@agentgym/scenario'
import { duePercent, products, type Return, reasons, writeReturn } from './returns.ts'
import { rulesFor } from './rules.ts'

const MAX_CALLS = 4
const TRAIN_RETURNS = 10_000
const HELD_OUT_RETURNS = 1_000_000_000
/** A refund this near to what is due, in percent of the price, is right. */
const TOLERANCE = 10

type Desk = {
  request: Return
  /** Whether the orders have been looked up. */
  found: boolean
  handled: { rightTool: boolean; rightOrder: boolean; rightReason: boolean; percentOff: number } | null
}

export default defineToolScenario({
  observation: dict({
    message: text({ maxTokens: 20, vocabulary: 512 }),
    /** Share of the article that is broken in the photo; 0 without one. */
    damage: box({ shape: [1], low: 0, high: 1 }),
    /** The product, the price and the age in days; nothing before the orders are looked up. */
    orders: list({ slots: products.length, features: products.length + 2 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_RETURNS, eval: HELD_OUT_RETURNS },

  start({ task }): Desk {
    return { request: writeReturn(taskRng(task, TRAIN_RETURNS)), found: false, handled: null }
  },

  tools: {
    find_orders: tool({
      description: 'Look up the orders of the customer',
      run(desk: Desk) {
        const right = !desk.found
        desk.found = true
        return { right, reward: right ? 0.1 : -0.1 }
      },
    }),
    refund: tool({
      description: 'Pay a part of the price of an order back. Cannot be undone',
      parameters: {
        order: pointer('orders'),
        percent: number({ low: 0, high: 100, integer: true }),
        reason: choice(reasons),
      },
      run(desk: Desk, { order, percent, reason }) {
        const { request } = desk
        return handle(desk, {
          rightTool: request.matter !== 'wrong variant',
          rightOrder: order === request.wanted,
          rightReason: reason === request.matter,
          percentOff: Math.abs(percent - duePercent(request)),
        })
      },
    }),
    replace: tool({
      description: 'Send the article of an order again, in the variant that was ordered',
      parameters: { order: pointer('orders') },
      run(desk: Desk, { order }) {
        const { matter, wanted } = desk.request
        const rightTool = matter === 'wrong variant'
        return handle(desk, { rightTool, rightOrder: order === wanted, rightReason: rightTool, percentOff: 0 })
      },
    }),
  },

  observe({ request, found }) {
    const orders = found ? request.orders : []
    return {
      message: request.message,
      damage: [request.damage],
      orders: orders.map(({ id, product, price, ageDays }) => ({
        id,
        features: [...oneHot(products, product), price / 100, ageDays / 15],
      })),
    }
  },

  outcome: (desk) => (isSolved(desk) ? 1 : 0),
  metrics: ({ handled }) => ({
    right_tool: handled?.rightTool ? 1 : 0,
    right_order: handled?.rightOrder ? 1 : 0,
    right_reason: handled?.rightReason ? 1 : 0,
    percent_off: handled?.percentOff ?? 100,
  }),

  rules: rulesFor,

  /** Knows what the message means. */
  oracle({ request, found }) {
    const { matter, wanted } = request
    if (!found) return { tool: 'find_orders' }
    if (matter === 'wrong variant') return { tool: 'replace', arguments: { order: wanted } }
    return { tool: 'refund', arguments: { order: wanted, percent: duePercent(request), reason: matter } }
  },
})

/** Ends the case. Each argument that is right pays by itself; the right tool is the condition. */
function handle(desk: Desk, handled: NonNullable<Desk['handled']>) {
  desk.handled = handled
  const { rightTool, rightOrder, rightReason, percentOff } = handled
  // Steeper where it is nearly right.
  const near = 0.2 * (1 - percentOff / 100) + 0.4 * Math.max(0, 1 - percentOff / 20)
  const reward = rightTool ? 0.3 + 0.3 * Number(rightOrder) + 0.2 * Number(rightReason) + near : 0
  return { right: rightTool, reward, done: true }
}

function isSolved({ handled }: Desk): boolean {
  if (handled === null) return false
  return handled.rightTool && handled.rightOrder && handled.rightReason && handled.percentOff <= TOLERANCE
}
