import type { Order } from '@agentgym/contract'
import { sql } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { changeOrder, lockOrder, orderNotFound, orderStateConflict } from './order-state.ts'
import { findOrderView, orderOf } from './orders.store.ts'
import { requireBuyersOrder } from './read-orders.ts'

/**
 * Cancels an order that awaits payment; a repeated call changes nothing. A later payment for it stays on the buyer's
 * balance. Throws `order_not_found`, `order_state_conflict`.
 */
export async function cancelOrder(
  { database }: Pick<Services, 'database'>,
  { actor, id, ip }: { actor: Actor | null; id: string; ip: string | null },
): Promise<Order> {
  return database.transaction(async (query) => {
    const known = await requireBuyersOrder(query, actor, id)
    const order = await lockOrder(query, id)
    if (order === undefined) throw orderNotFound(id)
    if (order.run_id !== null) throw orderStateConflict(order, 'canceled: cancel the run it pays for')
    if (order.state !== 'cancelled') {
      if (order.state !== 'awaiting_payment') throw orderStateConflict(order, 'cancelled')
      await changeOrder(query, order, { state: 'cancelled' })
      await recordAudit(query, { actor: known, ip, action: 'order.cancel', subject: `order:${id}` })
    }
    const view = await findOrderView(query, id)
    if (view === undefined) throw orderNotFound(id)
    return orderOf(view)
  })
}

/** Expires unpaid orders. A scheduled task of payments notifies the provider, as for canceled orders. */
export async function expireOrders({ database }: Pick<Services, 'database'>): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from orders where state = 'awaiting_payment' and expires_at <= now() order by expires_at limit 1000`.execute(
    database.query,
  )
  for (const { id } of rows)
    await database.transaction(async (query) => {
      const order = await lockOrder(query, id)
      if (order?.state === 'awaiting_payment') await changeOrder(query, order, { state: 'expired' })
    })
}

export function orderTasks(services: Pick<Services, 'database'>): ScheduledTask[] {
  return [{ name: 'market.expire-orders', everyMs: 60_000, run: () => expireOrders(services) }]
}
