import { AgentGymError, formatAmount, type Order, type refundRequestSchema } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor } from '../../core/access/authorise.ts'
import type { Schema } from '../../core/database/schema.ts'
import { withIdempotencyKey } from '../../core/idempotency/idempotency.ts'
import type { Services } from '../../core/services.ts'
import { orderOf, refundableByBuyer } from './describe-order.ts'
import { requireStanding, type Standing } from './order-access.ts'
import { lockOrder, type OrderRow, orderNotFound, orderStateConflict } from './order-state.ts'
import { findOrderView } from './orders.store.ts'
import { reverseSale } from './reverse-sale.ts'

type Refunding = {
  actor: Actor | null
  id: string
  request: z.output<typeof refundRequestSchema>
  idempotencyKey: string
  ip: string | null
}

/**
 * Gives an order's price back, or a part of it, onto the buyer's balance. Sellers and operators may at any time; the buyer all
 * of it within 14 days, while it is not used. Once a key.
 *
 * Throws `order_not_found` (the same for others' orders), `order_state_conflict`, `refund_exceeds`, `refund_refused`,
 * `idempotency_key_reused`, `forbidden`.
 */
export async function refundOrder({ database }: Pick<Services, 'database'>, refunding: Refunding): Promise<Order> {
  const { id, request, idempotencyKey: key } = refunding
  const { answer } = await database.transaction(async (query) => {
    const standing = await requireStanding(query, refunding.actor, id)
    const keyed = { actorId: standing.actor.accountId, key, action: 'order.refund', request: { ...request, order: id } }
    return withIdempotencyKey(query, keyed, async () => ({
      status: 200,
      answer: await give(query, standing, refunding),
    }))
  })
  return answer
}

async function give(query: Transaction<Schema>, standing: Standing, { id, request, ip }: Refunding): Promise<Order> {
  const order = await lockOrder(query, id)
  if (order === undefined) throw orderNotFound(id)
  const left = order.total_minor - order.refunded_minor
  const amount = request.amount_minor ?? left
  const by = await requireRefundable(query, standing, order, { amount, left })
  if (order.state !== 'paid') throw orderStateConflict(order, 'refunded')
  if (left === 0) throw refused(order, 'It cost nothing.')
  if (amount > left) throw exceeds(order, { amount, left })
  const { actor } = standing
  const { reason } = request
  await reverseSale(query, order, {
    ...{ kind: 'refund', amountMinor: BigInt(amount), reason, givenBy: actor.accountId },
  })
  await recordAudit(query, {
    ...{ actor, ip, action: 'order.refund', subject: `order:${id}` },
    data: { amount_minor: amount, currency: order.currency, reason, by },
  })
  const view = await findOrderView(query, id)
  if (view === undefined) throw orderNotFound(id)
  return orderOf(view)
}

/** As whom somebody gives it. Throws `forbidden`, `refund_refused`. */
async function requireRefundable(
  query: Transaction<Schema>,
  { actor, buys, sells, operates }: Standing,
  order: OrderRow,
  { amount, left }: { amount: number; left: number },
): Promise<'seller' | 'operator' | 'buyer'> {
  // An operator who bought it is a buyer like any other.
  if (sells || (operates && !buys)) {
    requireActor(actor, 'market:sell')
    return sells ? 'seller' : 'operator'
  }
  requireActor(actor, 'market:buy')
  if (order.state !== 'paid') throw orderStateConflict(order, 'refunded')
  // Held: a download at the same moment comes before this, and then it is used, or after it, and is refused.
  const entitlement = await query
    .selectFrom('entitlements')
    .select('used_at')
    .where('order_id', '=', order.id)
    .forUpdate()
    .executeTakeFirst()
  const refundable = refundableByBuyer({ ...order, used_at: entitlement?.used_at ?? null })
  if (!refundable.by_buyer) throw refused(order, refundable.why)
  if (amount < left) throw refused(order, 'Only sellers give a part of it back; you get all of it or nothing.')
  return 'buyer'
}

function refused({ id }: OrderRow, why: string): AgentGymError {
  return new AgentGymError({
    code: 'refund_refused',
    message: `The order is not refunded. ${why}`,
    hint: 'Ask the seller, or report the package if it is not what it claims to be.',
    data: { id },
  })
}

function exceeds(
  { id, currency, total_minor: total }: OrderRow,
  { amount, left }: { amount: number; left: number },
): AgentGymError {
  return new AgentGymError({
    code: 'refund_exceeds',
    message: `${formatAmount(amount, currency)} is more than what is left of the order: ${formatAmount(left, currency)} of ${formatAmount(total, currency)}.`,
    hint: 'Leave the amount out to give back all that is left.',
    data: { id, left_minor: left },
  })
}
