import type { Order } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { findById } from '../registry/find-by-id.ts'
import { listOrders, readOrder } from './market-api.ts'

/** The order that a user named by its id or the beginning of it, bought or sold. Throws `order_not_found`. */
export async function findOrder(connection: Connection, text: string): Promise<Order> {
  return findById(text, {
    noun: 'order',
    listCommand: 'agentgym orders',
    missing: 'order_not_found',
    read: (id) => readOrder(connection, id),
    // Purchases first, then sales: a page of the one is followed by the first of the other.
    page: async (cursor) => {
      const [role, at] = cursor === undefined ? (['purchases', undefined] as const) : split(cursor)
      const { orders, next_cursor: next } = await listOrders(connection, { role, limit: 100, cursor: at })
      if (next !== null) return { found: orders, next: `${role} ${next}` }
      return { found: orders, next: role === 'purchases' ? 'sales ' : null }
    },
  })
}

function split(cursor: string): ['purchases' | 'sales', string | undefined] {
  const at = cursor.indexOf(' ')
  return [cursor.startsWith('sales') ? 'sales' : 'purchases', cursor.slice(at + 1) || undefined]
}
