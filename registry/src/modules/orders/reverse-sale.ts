import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { availableMinor, lockAccounts, type Movement, openAccounts, splitRefund, transferId } from '../ledger/index.ts'
import { dropLostVotes } from '../reviews/index.ts'
import { smaller } from './debts.ts'
import { changeOrder, lockOrder, type OrderRow } from './order-state.ts'
import { mustTransfer, partsOf } from './sale.ts'

type Reversal = {
  kind: 'refund' | 'chargeback'
  amountMinor: bigint
  reason: string
  /** Null for automatic refunds by the marketplace. */
  givenBy: string | null
}

/**
 * Returns part of a locked, paid order to its buyer's balance: seller, platform and author each return their share. If
 * seller or author have already paid it out, they owe it. The last part ends the order and revokes its entitlement.
 */
export async function reverseSale(
  query: Transaction<Schema>,
  order: OrderRow,
  { kind, amountMinor, reason, givenBy }: Reversal,
): Promise<{ order: OrderRow; refundId: string }> {
  const refundedMinor = BigInt(order.refunded_minor)
  const parts = splitRefund(partsOf(order), { refundedMinor, amountMinor })
  const refundId = randomUUID()
  await query
    .insertInto('refunds')
    .values({
      id: refundId,
      order_id: order.id,
      kind,
      amount_minor: Number(amountMinor),
      fee_minor: Number(parts.feeMinor),
      royalty_minor: Number(parts.royaltyMinor),
      reason,
      given_by: givenBy,
    })
    .execute()
  await mustTransfer(query, await reversingTransfers(query, order, { kind, refundId, parts }))
  const refunded = Number(refundedMinor + amountMinor)
  if (refunded < order.total_minor)
    return { order: await changeOrder(query, order, { refundedMinor: refunded }), refundId }
  await revokeEntitlement(query, order.id)
  const state = kind === 'refund' ? 'refunded' : 'charged_back'
  const ended = await changeOrder(query, order, { state, refundedMinor: refunded })
  await dropLostVotes(query, order.package_id)
  return { order: ended, refundId }
}

async function revokeEntitlement(query: Transaction<Schema>, orderId: string): Promise<void> {
  await query
    .updateTable('entitlements')
    .set({ revoked_at: sql<Date>`now()` })
    .where('order_id', '=', orderId)
    .where('revoked_at', 'is', null)
    .execute()
}

type Reversing = { kind: Reversal['kind']; refundId: string; parts: ReturnType<typeof splitRefund> }

async function reversingTransfers(
  query: Transaction<Schema>,
  { id: orderId, buyer_id, seller_id, royalty_to, currency }: OrderRow,
  { kind, refundId, parts }: Reversing,
): Promise<Movement[]> {
  const givers = [
    { owner: seller_id, amountMinor: parts.sellerMinor, code: kind },
    { owner: royalty_to ?? '', amountMinor: parts.royaltyMinor, code: `${kind}_royalty` },
  ].filter((giver) => giver.amountMinor > 0n)
  const [balance, fees, ...owned] = await openAccounts(query, [
    { owner: buyer_id, code: 'balance', currency },
    { owner: null, code: 'fees', currency },
    ...givers.flatMap(({ owner }) => [
      { owner, code: 'earnings' as const, currency },
      { owner, code: 'debt' as const, currency },
    ]),
  ])
  const held = await lockAccounts(query, new Set([balance, ...owned]))
  const movement = (code: string, from: string, amountMinor: bigint): Movement => ({
    ...{ id: transferId(`${code}_${from}`, refundId), kind: 'posted', code, amountMinor, currency },
    ...{ debitAccountId: from, creditAccountId: balance, reference: orderId, linked: true },
  })
  const transfers = [movement(`${kind}_fee`, fees, parts.feeMinor)]
  for (const [index, { amountMinor, code }] of givers.entries()) {
    const [earnings, debt] = owned.slice(2 * index)
    const account = held.get(earnings)
    const earned = smaller(amountMinor, account === undefined ? 0n : availableMinor(account))
    transfers.push(movement(code, earnings, earned), movement(code, debt, amountMinor - earned))
  }
  const all = transfers.filter(({ amountMinor }) => amountMinor > 0n)
  return all.map((transfer, index) => ({ ...transfer, linked: index < all.length - 1 }))
}

/**
 * Handles a chargeback of an order's payment: the recipients return the rest of the order to the buyer's balance, from
 * which the payment is then reversed, and the entitlement is revoked. Does nothing if the order has ended, so it may be
 * repeated.
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
