import { randomUUID } from 'node:crypto'
import { AgentGymError, type createOrderRequestSchema, type Order } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import type { Actor } from '../../core/access/actor.ts'
import { requireActor } from '../../core/access/authorise.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { once } from '../../core/idempotency/once.ts'
import type { Services } from '../../core/services.ts'
import { findParty, type Party } from '../accounts/order-parties.ts'
import { requireWithinCaps } from '../caps/require-within-caps.ts'
import { isRefusedAhead } from '../ledger/post-ahead.ts'
import { createOrderPayment, openOrderPayment } from '../payments/order-payment.ts'
import { repayDebt } from './debts.ts'
import { orderOf } from './describe-order.ts'
import { insertOrder, insertOrderAhead, isLicenceTaken } from './insert-order.ts'
import { type NewOrder, partsOf, saleOf } from './new-order.ts'
import { findOrderSubject, type OrderSubject, requireExpectedPrice, requireOthers } from './order-subject.ts'
import { findOrderView } from './orders.store.ts'
import { holdSale, makeSale, makeSaleAhead, type SaleAccounts } from './sale-transfers.ts'

export type OrderRequest = z.output<typeof createOrderRequestSchema>
export type Placing = { actor: Actor | null; request: OrderRequest; idempotencyKey: string; ip: string | null }
export type Placed = { status: 200 | 201; order: Order }

/** For so long an order waits to be paid at the provider. */
const paymentMinutes = 60

/**
 * Buys: order, entitlement, transfers, audit entry and the key's answer are one transaction, or nothing is. What the buyer has
 * already, or is about to pay for, is answered with that order and status 200. An order that is paid at the provider waits for
 * it.
 *
 * Throws `unauthenticated`, `forbidden`, `account_not_found`, `package_not_found`, `package_taken_down`, `version_not_found`,
 * `version_yanked`, `not_for_sale`, `self_purchase`, `price_changed`, `insufficient_funds`, `spend_cap_exceeded`,
 * `idempotency_key_reused`, `rate_limited`.
 */
export async function placeOrder(services: Services, placing: Placing): Promise<Placed> {
  const { database } = services
  const actor = requireActor(placing.actor, 'market:buy')
  const { request, idempotencyKey: key } = placing
  if (request.pay_with === 'provider')
    await limitRate(database, `pay-order:${actor.accountId}`, { limit: 60, windowSeconds: 60 })
  const keyed = { actorId: actor.accountId, key, action: 'order.place', request }
  const place = (unseen: boolean) =>
    database.transaction((query) =>
      once(
        query,
        keyed,
        (wanted) => buy(services, query, { ...placing, actor, ...wanted, unseen }),
        () => findWanted(services, query, { ...placing, actor }),
      ),
    )
  // Unseen first: most who buy have the money, and not the licence. Whoever is refused is told why by looking.
  const { status, answer } = await place(true).catch((error: unknown) => {
    if (!isRefusedAhead(error) && !isLicenceTaken(error)) throw error
    return place(false)
  })
  const placed = { status: status === 200 ? 200 : 201, order: answer } as const
  return answer.state === 'awaiting_payment' ? { ...placed, order: await withCheckout(services, answer.id) } : placed
}

type Known = Placing & { actor: Actor }
type Wanted = { buyer: Party; subject: OrderSubject }

async function findWanted(services: Services, query: Transaction<Schema>, { actor, request }: Known): Promise<Wanted> {
  const buyer = await findParty(query, actor, request.account, { permission: 'publish', scope: 'market:buy' })
  const subject = await findOrderSubject(query, {
    ...{ actor, buyerId: buyer.id, currency: services.config.training.currency },
    ...{ name: request.package, range: request.range ?? '' },
  })
  return { buyer, subject }
}

/** `unseen`: where nothing stands against it the money is moved without looking at the balance; the database does. */
type Buying = Known & Wanted & { unseen: boolean }

async function buy(
  services: Services,
  query: Transaction<Schema>,
  { buyer, subject, unseen, ...placing }: Buying,
): Promise<{ status: 200 | 201; answer: Order }> {
  const { request } = placing
  if (subject.heldOrder !== null) return existing(query, subject.heldOrder)
  requireOthers(subject)
  requireExpectedPrice(subject, request.expected_price)
  if (subject.price.kind === 'per_run') throw paidForEachRun(subject)
  const waiting = request.pay_with === 'provider' && (await awaitingPayment(query, buyer.id, subject))
  if (waiting) return existing(query, waiting)
  const order = await orderFor(services, query, { placing, buyer, subject })
  const accounts = unseen ? accountsOf(order) : null
  if (accounts === null) return { status: 201, answer: await take(services, query, order) }
  await makeSaleAhead(query, saleOf(order), accounts)
  return { status: 201, answer: orderOf(await insertOrderAhead(query, order)) }
}

async function existing(query: Transaction<Schema>, id: string): Promise<{ status: 200; answer: Order }> {
  const view = await findOrderView(query, id)
  if (view === undefined) throw new Error(`the order ${id} of an entitlement is not there`)
  return { status: 200, answer: orderOf(view) }
}

/** The buyer's order for the same at the same price, which waits to be paid. */
async function awaitingPayment(
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

async function orderFor(
  { config }: Pick<Services, 'config'>,
  query: Transaction<Schema>,
  { placing, buyer, subject }: { placing: Known; buyer: Party; subject: OrderSubject },
): Promise<NewOrder> {
  const { actor, request, ip } = placing
  const { parts, royalty } = await partsOf(config, query, subject)
  // What is free is paid for as soon as it is ordered.
  const payWith = subject.price.amountMinor === 0 ? 'balance' : request.pay_with
  return { id: randomUUID(), actor, buyer, subject, parts, royalty, payWith, runId: null, ip }
}

/** Of an order that is paid from the balance under no cap to nobody who owes; null for others, and where one is not open yet. */
function accountsOf({ subject, royalty, payWith }: NewOrder): SaleAccounts | null {
  const { balance, earnings, fees } = subject.accounts
  if (payWith !== 'balance' || subject.price.amountMinor === 0 || subject.capped) return null
  if (subject.sellerOwes || royalty?.authorOwes || balance === null || earnings === null || fees === null) return null
  if (royalty !== null && royalty.account === null) return null
  return { balance, earnings, fees, royalty: royalty?.account ?? null }
}

/** Takes the money, or asks for it, and writes the order down. */
async function take({ config }: Services, query: Transaction<Schema>, order: NewOrder): Promise<Order> {
  const { id, actor, buyer, subject, royalty, payWith } = order
  const { amountMinor, currency } = subject.price
  if (subject.capped && amountMinor > 0) {
    // Held from here on, so that two orders at once do not both find room under a cap.
    await holdSale(query, saleOf(order))
    await requireWithinCaps(query, { accountId: buyer.id, tokenId: actor.tokenId, amountMinor, currency })
  }
  if (payWith === 'balance' && amountMinor > 0) await makeSale(query, saleOf(order), 'posted')
  const view = await insertOrder(query, order, { paid: payWith === 'balance', minutes: paymentMinutes })
  if (payWith === 'provider')
    await createOrderPayment(
      query,
      { config },
      { orderId: id, accountId: buyer.id, createdBy: actor.accountId, amountMinor: BigInt(amountMinor), currency },
    )
  else if (amountMinor > 0) {
    const owing = [subject.sellerOwes && subject.seller.id, royalty?.authorOwes && royalty.to]
    for (const accountId of owing) if (accountId) await repayDebt(query, { accountId, currency, reference: id })
  }
  return orderOf(view)
}

/** Asks the provider where to pay, which may have paid by then, and tells the order as it is. */
async function withCheckout(services: Services, id: string): Promise<Order> {
  await openOrderPayment(services, id)
  const view = await findOrderView(services.database.query, id)
  if (view === undefined) throw new Error(`the order ${id} is gone`)
  return orderOf(view)
}

function paidForEachRun({ name }: OrderSubject): AgentGymError {
  return new AgentGymError({
    code: 'not_for_sale',
    message: `${name} is paid for with each run; there is no licence to buy.`,
    hint: `\`agentgym train ${name} --remote\` starts a run, and pays for it when it trains.`,
    data: { name },
  })
}
