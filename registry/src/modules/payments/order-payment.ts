import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { beginPayment, paymentDeclined } from './begin-payment.ts'
import { providerName } from './open-provider.ts'

type OrderPayment = {
  orderId: string
  accountId: string
  createdBy: string
  amountMinor: bigint
  currency: string
}

/** Writes down that an order is to be paid at the provider, in the transaction that places it. */
export async function createOrderPayment(
  query: Transaction<Schema>,
  services: Pick<Services, 'config'>,
  { orderId, accountId, createdBy, amountMinor, currency }: OrderPayment,
): Promise<void> {
  await query
    .insertInto('payments')
    .values({
      ...{ purpose: 'order', provider: providerName(services), order_id: orderId },
      ...{ account_id: accountId, created_by: createdBy, amount_minor: Number(amountMinor), currency },
    })
    .execute()
}

/**
 * Asks the provider where an order can be paid; the order may be paid by the time this resolves. To be called after the
 * transaction that places it, and again by whoever asks again: an order whose payment came to nothing gets another one.
 *
 * Throws `payment_declined`, `payment_provider_unavailable`.
 */
export async function openOrderPayment(services: Services, orderId: string): Promise<void> {
  const id = await services.database.transaction((query) => openPaymentOf(services, query, orderId))
  if (id === null) return
  const payment = await beginPayment(services, id)
  if (payment.state === 'failed') throw paymentDeclined(payment)
}

/** The order's payment that is under way, or a new one in the place of one that has failed. Null where nothing is to be paid. */
async function openPaymentOf(services: Services, query: Transaction<Schema>, orderId: string): Promise<string | null> {
  const order = await query.selectFrom('orders').selectAll().where('id', '=', orderId).forUpdate().executeTakeFirst()
  if (order?.state !== 'awaiting_payment') return null
  const last = await query
    .selectFrom('payments')
    .select(['id', 'state'])
    .where('order_id', '=', orderId)
    .orderBy(sql`state = 'pending'`, 'desc')
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last?.state === 'pending') return last.id
  await createOrderPayment(query, services, {
    ...{ orderId, accountId: order.buyer_id, createdBy: order.placed_by },
    ...{ amountMinor: BigInt(order.total_minor), currency: order.currency },
  })
  return openPaymentOf(services, query, orderId)
}
