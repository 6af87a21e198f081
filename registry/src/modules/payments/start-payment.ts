import { AgentGymError } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import type { PayableOrder } from '../orders/index.ts'
import { type PaymentRequest, type PaymentServices, providerName } from './payment-provider.ts'
import { findPayment, lockPayment, type PaymentView } from './payments.store.ts'
import { mailPayer, settlePayment } from './settle-payment.ts'

/**
 * Requests a recorded, pending payment from the provider and stores its URL. May be called again, because a process may
 * end between the provider's response and storing it.
 *
 * Throws `payment_provider_unavailable`; if the provider refuses, the payment fails.
 */
export async function beginPayment(services: PaymentServices, id: string): Promise<PaymentView> {
  const { database } = services
  const payment = await require(database.query, id)
  if (payment.state !== 'pending' || payment.provider_reference !== null) return payment
  const provider = await services.paymentProvider()
  if (payment.provider !== provider.name) return payment
  const request = await paymentRequest(services, payment)
  const started = await provider.startPayment(request).catch((error: unknown) => {
    if (error instanceof AgentGymError && error.code === 'payment_declined') return error
    throw error
  })
  const note = await database.transaction(async (query) => {
    const held = await lockPayment(query, id)
    if (held === undefined) return null
    if (started instanceof AgentGymError)
      return settlePayment(services, query, held, { kind: 'failed', message: started.message })
    await query
      .updateTable('payments')
      .set({ provider_reference: started.reference, checkout_url: started.checkoutUrl })
      .where('id', '=', id)
      .execute()
    return started.news === null ? null : settlePayment(services, query, held, started.news)
  })
  if (note !== null) mailPayer(services, note)
  return require(database.query, id)
}

/** The request to the provider, always the same for the same payment. */
export async function paymentRequest({ config, database }: Services, payment: PaymentView): Promise<PaymentRequest> {
  const { id, purpose, account, order_id: orderId } = payment
  const details = await database.query
    .selectFrom('accounts')
    .leftJoin('orders', (join) => join.on('orders.id', '=', orderId))
    .leftJoin('packages', 'packages.id', 'orders.package_id')
    .select(['accounts.email', 'packages.name', 'orders.expires_at'])
    .where('accounts.id', '=', payment.created_by)
    .executeTakeFirstOrThrow()
  return {
    id,
    amountMinor: payment.amount_minor,
    currency: payment.currency,
    description: purpose === 'order' ? `${details.name} for ${account} (AgentGym)` : `Balance of ${account} (AgentGym)`,
    email: details.email,
    returnUrl: purpose === 'order' ? `${config.publicUrl}/orders/${orderId}` : `${config.publicUrl}/balance`,
    expiresAt: checkoutEnd(payment, details.expires_at),
    testOutcome: payment.test_outcome,
  }
}

/** Providers keep a checkout open for at least half an hour. A payment after the order's end goes to the balance. */
const SHORTEST_CHECKOUT_MS = 31 * 60_000

/** Computed from recorded values only, so that a repeated request is identical. */
function checkoutEnd({ created_at }: PaymentView, orderEnds: Date | null): Date | null {
  if (orderEnds === null) return null
  return new Date(Math.max(orderEnds.getTime(), created_at.getTime() + SHORTEST_CHECKOUT_MS))
}

async function require(query: Queries, id: string): Promise<PaymentView> {
  const payment = await findPayment(query, id)
  if (payment === undefined) throw paymentNotFound(id)
  return payment
}

/** The same error for a missing payment and for another account's payment. */
export function paymentNotFound(id: string): AgentGymError {
  return new AgentGymError({
    code: 'payment_not_found',
    message: `Payment ${id} does not exist, or you have no access to it.`,
    hint: '`GET /v1/payments` lists your payments.',
    data: { id },
  })
}

/** The error for a payment that the provider has refused. */
export function paymentDeclined({ id, message }: Pick<PaymentView, 'id' | 'message'>): AgentGymError {
  return new AgentGymError({
    code: 'payment_declined',
    message: message ?? 'The payment was declined.',
    hint: 'You were not charged. Try another payment method or amount, with a new Idempotency-Key.',
    data: { payment: id },
  })
}

/** See `OrderPayments.create`. */
export async function createOrderPayment(
  query: Transaction<Schema>,
  services: Pick<Services, 'config'>,
  order: PayableOrder,
): Promise<void> {
  await query
    .insertInto('payments')
    .values({
      ...{ purpose: 'order', provider: providerName(services), order_id: order.id },
      ...{ account_id: order.buyer_id, created_by: order.placed_by },
      ...{ amount_minor: order.total_minor, currency: order.currency },
    })
    .execute()
}

/** See `OrderPayments.open`. */
export async function openOrderPayment(services: PaymentServices, orderId: string): Promise<void> {
  const id = await services.database.transaction((query) => openPaymentOf(services, query, orderId))
  if (id === null) return
  const payment = await beginPayment(services, id)
  if (payment.state === 'failed') throw paymentDeclined(payment)
}

/** The order's pending payment, or a new one to replace a failed one. Null if nothing is due. */
async function openPaymentOf(
  services: PaymentServices,
  query: Transaction<Schema>,
  orderId: string,
): Promise<string | null> {
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
  await createOrderPayment(query, services, order)
  return openPaymentOf(services, query, orderId)
}
