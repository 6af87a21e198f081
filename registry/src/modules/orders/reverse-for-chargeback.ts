import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { lockOrder } from './order-state.ts'
import { reverseSale } from './reverse-sale.ts'

/**
 * What paid for an order was taken back by the buyer's bank: what is left of the order comes back to the buyer's balance from
 * those who had it, where the payment's reversal finds it, and the entitlement is revoked. Nothing happens to an order that
 * has ended, so it may be called again.
 */
export async function reverseForChargeback(
  query: Transaction<Schema>,
  orderId: string,
  { paymentId, reason }: { paymentId: string; reason: string },
): Promise<void> {
  const order = await lockOrder(query, orderId)
  if (order?.state !== 'paid' || order.refunded_minor === order.total_minor) return
  const amountMinor = BigInt(order.total_minor - order.refunded_minor)
  await reverseSale(query, order, { kind: 'chargeback', amountMinor, reason, givenBy: null })
  await recordAudit(query, {
    ...{ actor: null, ip: null, action: 'order.charge-back', subject: `order:${orderId}` },
    data: { payment: paymentId, reason },
  })
}
