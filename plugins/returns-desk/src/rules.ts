/** What a shop would write without training: keywords for the matter, the product's name for the order, and a table of percentages. */
import type { ToolCall } from '@agentgym/scenario'
import { products, type Reason } from './returns.ts'

type Seen = {
  message: string
  damage: ArrayLike<number>
  orders: readonly { id: string; features: ArrayLike<number> }[]
}

const reasonWords: readonly [RegExp, Reason][] = [
  [/broken|crack|damage|photo/i, 'broken'],
  [/late|delay|waited/i, 'late'],
]

export function rulesFor({ message, damage, orders }: Seen): ToolCall<'find_orders' | 'refund' | 'replace'> {
  if (orders.length === 0) return { tool: 'find_orders' }
  const product = products.findIndex((name) => message.includes(name))
  const order = (orders.find(({ features }) => features[product] === 1) ?? orders[0]).id
  if (/wrong|another model/i.test(message)) return { tool: 'replace', arguments: { order } }
  const reason = reasonWords.find(([words]) => words.test(message))?.[1] ?? 'unwanted'
  const percent = { broken: Math.round(damage[0] * 100), late: 10, unwanted: 80 }[reason]
  return { tool: 'refund', arguments: { order, percent, reason } }
}
