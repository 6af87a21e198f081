import { AgentGymError, type createOrderRequestSchema, type Order } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { type Actor, requireActor } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { type Answer, withIdempotencyKey } from '../../core/idempotency/idempotency.ts'
import type { Services } from '../../core/services.ts'
import { findParty } from '../accounts/index.ts'
import { sourceOfArrival } from '../packages/index.ts'
import { repayDebtsOfSale } from './debts.ts'
import { grantEntitlement, insertOrder, newOrder } from './new-order.ts'
import type { OrderRow } from './order-state.ts'
import {
  findOrderSubject,
  type OrderSubject,
  requireExpectedPrice,
  requireOthers,
  requireTerms,
} from './order-subject.ts'
import { findOrderView, orderOf } from './orders.store.ts'
import { lockSaleAccounts, makeSale, recordSale, saleOf } from './sale.ts'
import { requireWithinCaps } from './spend-caps.ts'

/** Interface for payments, a module above orders. */
export type OrderPayments = {
  /** Records that the order will be paid at the provider, in the transaction that places it. */
  create(query: Transaction<Schema>, order: PayableOrder): Promise<void>
  /**
   * Gets the payment URL from the provider; the order may be paid by the time this resolves. Call it after the
   * transaction that places the order, and again for each repeated request: an order whose payment failed gets a new
   * payment. Throws `payment_declined`, `payment_provider_unavailable`.
   */
  open(orderId: string): Promise<void>
}

export type PayableOrder = Pick<OrderRow, 'id' | 'buyer_id' | 'placed_by' | 'total_minor' | 'currency'>
export type OrderServices = Services & { orderPayments: OrderPayments }

export type OrderRequest = z.output<typeof createOrderRequestSchema>
export type Placing = { actor: Actor | null; request: OrderRequest; idempotencyKey: string; ip: string | null }
export type Placed = { status: 200 | 201; order: Order }

/** Minutes until an order to be paid at the provider expires. */
const paymentMinutes = 60

/**
 * Buys a package. Order, entitlement, transfers, audit entry and the stored answer are one transaction. A request for a
 * license that the buyer already has, or is about to pay for, returns that order with status 200. Orders paid at the
 * provider await their payment.
 *
 * Throws `unauthenticated`, `forbidden`, `account_not_found`, `package_not_found`, `package_taken_down`, `version_not_found`,
 * `version_yanked`, `not_for_sale`, `self_purchase`, `price_changed`, `insufficient_funds`, `spend_cap_exceeded`,
 * `idempotency_key_reused`, `rate_limited`.
 */
export async function placeOrder(services: OrderServices, placing: Placing): Promise<Placed> {
  const { database } = services
  const actor = requireActor(placing.actor, 'market:buy')
  const { request, idempotencyKey: key } = placing
  if (request.pay_with === 'provider')
    await limitRate(database, `pay-order:${actor.accountId}`, { limit: 60, windowSeconds: 60 })
  const { status, answer } = await database.transaction((query) =>
    withIdempotencyKey(query, { actorId: actor.accountId, key, action: 'order.place', request }, () =>
      buy(services, query, { ...placing, actor }),
    ),
  )
  if (answer.state === 'awaiting_payment') await services.orderPayments.open(answer.id)
  const order = answer.state === 'awaiting_payment' ? await readOrder(database.query, answer.id) : answer
  return { status: status === 200 ? 200 : 201, order }
}

async function buy(
  services: OrderServices,
  query: Transaction<Schema>,
  { actor, request, ip }: Placing & { actor: Actor },
): Promise<Answer<Order>> {
  const { database, config } = services
  const buyer = await findParty(query, actor, request.account, { permission: 'publish', scope: 'market:buy' })
  // One order per buyer at a time, so that each sees the purchases and spending of the previous one.
  await database.lock(query, `orders:${buyer.id}`)
  const subject = await findOrderSubject(query, {
    ...{ actor, buyerId: buyer.id, currency: config.training.currency },
    ...{ name: request.package, range: request.range ?? '' },
  })
  if (subject.heldOrder !== null) return { status: 200, answer: await readOrder(query, subject.heldOrder) }
  requireOthers(subject)
  requireExpectedPrice(subject, request.expected_price)
  requireTerms(subject)
  if (subject.price.kind === 'per_run') throw paidForEachRun(subject)
  const awaiting = request.pay_with === 'provider' ? await findAwaitingPayment(query, buyer.id, subject) : undefined
  if (awaiting !== undefined) return { status: 200, answer: await readOrder(query, awaiting) }

  const { amountMinor, currency } = subject.price
  const isFree = amountMinor === 0
  const paid = isFree || request.pay_with === 'balance'
  const payWith = paid ? 'balance' : 'provider'
  const source = await sourceOfArrival(query, { accountId: actor.accountId, packageId: subject.packageId })
  const order = await newOrder(query, config, { actor, buyer, subject, payWith, runId: null, source })
  if (!isFree) {
    // Locked until the order counts toward the balance and the caps.
    await lockSaleAccounts(query, saleOf(order))
    await requireWithinCaps(query, { accountId: buyer.id, tokenId: actor.tokenId, amountMinor, currency })
  }
  if (paid && !isFree) await makeSale(query, saleOf(order), 'posted')
  await insertOrder(query, order, { actor, buyer, subject, paid, minutes: paymentMinutes, ip })
  if (paid) await grantEntitlement(query, order)
  if (paid && !isFree) {
    await recordSale(query, order)
    await repayDebtsOfSale(query, order)
  }
  if (!paid) await services.orderPayments.create(query, order)
  return { status: 201, answer: await readOrder(query, order.id) }
}

/** The buyer's unpaid order for the same license at the same price. */
async function findAwaitingPayment(
  query: Transaction<Schema>,
  buyerId: string,
  { packageId, version, price }: OrderSubject,
): Promise<string | undefined> {
  const row = await query
    .selectFrom('orders')
    .select('id')
    .where('buyer_id', '=', buyerId)
    .where('package_id', '=', packageId)
    .where('major', '=', version.major)
    .where('total_minor', '=', price.amountMinor)
    .where('currency', '=', price.currency)
    .where('state', '=', 'awaiting_payment')
    .where('pay_with', '=', 'provider')
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy('created_at')
    .executeTakeFirst()
  return row?.id
}

async function readOrder(query: Queries, id: string): Promise<Order> {
  const view = await findOrderView(query, id)
  if (view === undefined) throw new Error(`order ${id} does not exist`)
  return orderOf(view)
}

function paidForEachRun({ name }: OrderSubject): AgentGymError {
  return new AgentGymError({
    code: 'not_for_sale',
    message: `${name} is paid per run; there is no license to buy.`,
    hint: `\`agentgym train ${name} --remote\` starts a run, which is charged when it starts training.`,
    data: { name },
  })
}
