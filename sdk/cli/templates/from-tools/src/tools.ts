/** What the agent chooses for each tool, and which records it copies ids from. */
import { choice, number, pointer } from '@agentgym/scenario'

export const parameters = {
  search_orders: {
    // query: not chosen here (free text).
  },
  refund_order: {
    order_id: pointer('orders'),
    percent: number({ low: 0, high: 100, integer: true }),
    reason: choice(['late', 'broken', 'wrong item']),
    // note: not chosen here (free text).
  },
  escalate: {
    team: choice(['billing', 'support']),
    urgent: choice(['true', 'false']),
  },
}
export type ToolName = keyof typeof parameters

/** Lists of records, and what one record of each is. */
export const entities = {
  orders: 'order',
}
export type ListName = keyof typeof entities

/** Lists that the agent sees from the start. */
export const shownAtStart: readonly ListName[] = []
/** The tool that shows a list. */
export const lookups: { readonly [Name in ListName]?: ToolName } = {
  orders: 'search_orders',
}
/** Tools that change nothing: a wrong call of one costs, and the episode goes on. */
export const readOnly: readonly ToolName[] = ['search_orders']
