import { AgentGymError, formatAmount, type Order, type refundRequestSchema } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor, requireSecondFactor } from '../../core/access/authorize.ts'
import type { Schema } from '../../core/database/schema.ts'
import { withIdempotencyKey } from '../../core/idempotency/idempotency.ts'
import { sendLetter } from '../../core/mail/send-letter.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { lockOrder, type OrderRow, orderNotFound, orderStateConflict } from './order-state.ts'
import { findOrderView, orderOf, refundableByBuyer } from './orders.store.ts'
import { type OrderAccess, requireOrderAccess } from './read-orders.ts'
import { reverseSale } from './reverse-sale.ts'

type Refunding = {
  actor: Actor | null
  id: string
  request: z.output<typeof refundRequestSchema>
  idempotencyKey: string
  ip: string | null
}

/**
 * Refunds an order's price, or part of it, to the buyer's balance. Sellers and operators can do this at any time;
 * buyers only in full, within 14 days, while it is unused. Once per idempotency key.
 *
 * Throws `order_not_found` (also for others' orders), `order_state_conflict`, `refund_exceeds`, `refund_refused`,
 * `idempotency_key_reused`, `forbidden`.
 */
export async function refundOrder({ database }: Pick<Services, 'database'>, refunding: Refunding): Promise<Order> {
  const { id, request, idempotencyKey: key } = refunding
  const { answer } = await database.transaction(async (query) => {
    const access = await requireOrderAccess(query, refunding.actor, id)
    const keyed = { actorId: access.actor.accountId, key, action: 'order.refund', request: { ...request, order: id } }
    return withIdempotencyKey(query, keyed, async () => ({
      status: 200,
      answer: await give(query, access, refunding),
    }))
  })
  return answer
}

async function give(query: Transaction<Schema>, access: OrderAccess, { id, request, ip }: Refunding): Promise<Order> {
  const order = await lockOrder(query, id)
  if (order === undefined) throw orderNotFound(id)
  const left = order.total_minor - order.refunded_minor
  const amount = request.amount_minor ?? left
  const by = await requireRefundable(query, access, order, { amount, left })
  if (order.state !== 'paid') throw orderStateConflict(order, 'refunded')
  if (left === 0) throw refused(order, 'It cost nothing.')
  if (amount > left) throw exceeds(order, { amount, left })
  const { actor } = access
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

/** The role in which the caller issues the refund. Throws `forbidden`, `second_factor_required`, `refund_refused`. */
async function requireRefundable(
  query: Transaction<Schema>,
  { actor, buys, sells, operates }: OrderAccess,
  order: OrderRow,
  { amount, left }: { amount: number; left: number },
): Promise<'seller' | 'operator' | 'buyer'> {
  // An operator who bought it is treated like any other buyer.
  if (sells || (operates && !buys)) {
    requireActor(actor, 'market:sell')
    if (sells) return 'seller'
    requireSecondFactor(actor)
    return 'operator'
  }
  requireActor(actor, 'market:buy')
  if (order.state !== 'paid') throw orderStateConflict(order, 'refunded')
  // Locked, so that a concurrent download either comes first and marks it as used, or comes later and is refused.
  const entitlement = await query
    .selectFrom('entitlements')
    .select('used_at')
    .where('order_id', '=', order.id)
    .forUpdate()
    .executeTakeFirst()
  const refundable = refundableByBuyer({ ...order, used_at: entitlement?.used_at ?? null })
  if (!refundable.by_buyer) throw refused(order, refundable.why)
  if (amount < left)
    throw refused(order, 'Buyers can only refund the full amount; partial refunds are made by the seller.')
  return 'buyer'
}

function refused({ id }: OrderRow, why: string): AgentGymError {
  return new AgentGymError({
    code: 'refund_refused',
    message: `The order cannot be refunded. ${why}`,
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
    message: `${formatAmount(amount, currency)} is more than the order has left to refund: ${formatAmount(left, currency)} of ${formatAmount(total, currency)}.`,
    hint: 'Omit the amount to refund everything that is left.',
    data: { id, left_minor: left },
  })
}

type Refunds = {
  /** The version that was bought, or all versions of a package. */
  of: { versionId: string } | { packageId: string }
  /** Shown to the buyers. */
  reason: string
  /** Orders paid before this are not refunded. */
  since?: Date
}

/**
 * Refunds all buyers of a version or package who have not been fully refunded, because its claims were wrong or it was
 * taken down. One transaction per order: after an interruption, call it again to continue. Resolves to the number of
 * orders refunded.
 */
export async function refundOrdersOf(
  services: Pick<Services, 'database' | 'mail' | 'log' | 'config'>,
  { of, reason, since }: Refunds,
): Promise<number> {
  const { database } = services
  const which = 'versionId' in of ? sql`version_id = ${of.versionId}` : sql`package_id = ${of.packageId}`
  const { rows } = await sql<{ id: string }>`
    select id from orders where ${which} and state = 'paid' and refunded_minor < total_minor
      and (${since ?? null}::timestamptz is null or paid_at >= ${since ?? null}::timestamptz)
    order by paid_at, id`.execute(database.query)
  let refunded = 0
  for (const { id } of rows) {
    const given = await database.transaction(async (query) => {
      const order = await lockOrder(query, id)
      if (order?.state !== 'paid') return undefined
      const amountMinor = order.total_minor - order.refunded_minor
      await reverseSale(query, order, { kind: 'refund', amountMinor: BigInt(amountMinor), reason, givenBy: null })
      await recordAudit(query, {
        ...{ actor: null, ip: null, action: 'order.refund', subject: `order:${id}` },
        data: { amount_minor: amountMinor, currency: order.currency, reason, by: 'agentgym' },
      })
      return { amountMinor, currency: order.currency }
    })
    if (given === undefined) continue
    refunded++
    inBackground(services.log, 'emailing a buyer about a refund', () => mailBuyer(services, id, { ...given, reason }))
  }
  return refunded
}

/** Emails the user who placed an order about the refund and its reason. */
async function mailBuyer(
  { database, mail, config }: Pick<Services, 'database' | 'mail' | 'config'>,
  orderId: string,
  { amountMinor, currency, reason }: { amountMinor: number; currency: string; reason: string },
): Promise<void> {
  const row = await database.query
    .selectFrom('orders')
    .innerJoin('packages', 'packages.id', 'orders.package_id')
    .innerJoin('accounts', 'accounts.id', 'orders.placed_by')
    .select(['packages.name', 'accounts.email', 'accounts.username'])
    .where('orders.id', '=', orderId)
    .executeTakeFirst()
  if (row?.email == null) return
  const amount = formatAmount(amountMinor, currency)
  await sendLetter(mail, {
    to: { username: row.username, email: row.email },
    subject: `${amount} for ${row.name} was refunded`,
    paragraphs: [
      `${amount} paid for ${row.name} was refunded to the balance. Reason:`,
      reason,
      `The license has ended, so you can no longer install the package. Order: ${orderId}`,
      config.publicUrl,
    ],
  })
}
