import { formatAmount } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { applyTransfers, openAccounts, transferId } from '../ledger/index.ts'
import { repayDebt, repayDebtsOfSale } from './debts.ts'
import { grantEntitlement } from './new-order.ts'
import { changeOrder, lockOrder, type OrderRow } from './order-state.ts'
import { makeSale, recordSale, saleOf } from './sale.ts'

export type Payment = { id: string; accountId: string; amountMinor: bigint; currency: string }

/** `kept`: the money stays on the buyer's balance; `reason` explains to the buyer why the order was not paid. */
export type PaidOrder = { outcome: 'paid' } | { outcome: 'kept'; reason: string }

/**
 * Books a payment received for an order: credits the buyer's balance and, if the order can still be fulfilled, pays
 * seller, platform and author and grants the entitlement, all in the caller's transaction. Repeated calls for the same
 * payment change nothing. If the order cannot be fulfilled, the money stays on the buyer's balance.
 */
export async function payOrder(
  query: Transaction<Schema>,
  { orderId, payment }: { orderId: string; payment: Payment },
): Promise<PaidOrder> {
  const order = await lockOrder(query, orderId)
  if (order === undefined)
    throw new Error(`the payment ${payment.id} is for the order ${orderId}, which does not exist`)
  if (!(await creditBalance(query, payment)))
    return order.paid_at === null ? { outcome: 'kept', reason: 'It was paid before.' } : { outcome: 'paid' }
  const obstacle = (await undeliverable(query, order, payment)) ?? null
  if (obstacle !== null) return keep(query, order, payment, obstacle)
  await makeSale(query, saleOf(order), 'posted')
  await changeOrder(query, order, { state: 'paid' })
  await grantEntitlement(query, order)
  await recordAudit(query, {
    actor: null,
    ip: null,
    action: 'order.pay',
    subject: `order:${order.id}`,
    data: { payment: payment.id, total_minor: order.total_minor },
  })
  await recordSale(query, order)
  await repayDebtsOfSale(query, order)
  return { outcome: 'paid' }
}

/** False if it was credited before. */
async function creditBalance(
  query: Transaction<Schema>,
  { id, accountId, amountMinor, currency }: Payment,
): Promise<boolean> {
  const [provider, balance] = await openAccounts(query, [
    { owner: null, code: 'provider', currency },
    { owner: accountId, code: 'balance', currency },
  ])
  const [result] = await applyTransfers(query, [
    {
      ...{ id: transferId('payment', id), kind: 'posted', code: 'payment', amountMinor, currency, reference: id },
      ...{ debitAccountId: provider, creditAccountId: balance },
    },
  ])
  if (result.outcome === 'refused') throw new Error(`the payment ${id} was refused: ${result.reason}`)
  return result.outcome === 'created'
}

/** Why the order can no longer be fulfilled, shown to the buyer. */
async function undeliverable(
  query: Transaction<Schema>,
  order: OrderRow,
  payment: Payment,
): Promise<string | undefined> {
  if (order.state !== 'awaiting_payment')
    return `The order was ${order.state.replace('_', ' ')} when the payment arrived.`
  if (order.buyer_id !== payment.accountId) return 'The payment was made by another account.'
  if (order.expires_at !== null && order.expires_at <= new Date())
    return 'The order had expired when the payment arrived.'
  if (BigInt(order.total_minor) !== payment.amountMinor || order.currency !== payment.currency)
    return `The order costs ${formatAmount(order.total_minor, order.currency)}, but a different amount was paid.`
  const { taken_down_at: takenDown } = await query
    .selectFrom('packages')
    .select('taken_down_at')
    .where('id', '=', order.package_id)
    .executeTakeFirstOrThrow()
  if (takenDown !== null) return 'The package was taken down before the payment arrived.'
  const held = await query
    .selectFrom('entitlements')
    .select('order_id')
    .where('holder_id', '=', order.buyer_id)
    .where('package_id', '=', order.package_id)
    .where('major', '=', order.major)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return held && 'You already owned it when the payment arrived.'
}

async function keep(
  query: Transaction<Schema>,
  order: OrderRow,
  { id, amountMinor, currency }: Payment,
  obstacle: string,
): Promise<PaidOrder> {
  if (order.state === 'awaiting_payment') await changeOrder(query, order, { state: 'cancelled' })
  const reason = `${obstacle} ${formatAmount(amountMinor, currency)} was credited to your balance.`
  await recordAudit(query, {
    actor: null,
    ip: null,
    action: 'order.payment-kept',
    subject: `order:${order.id}`,
    data: { payment: id, reason },
  })
  await repayDebt(query, { accountId: order.buyer_id, currency, reference: id })
  return { outcome: 'kept', reason }
}
