import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { availableMinor } from '../ledger/account.ts'
import { openAccounts, readAccounts } from '../ledger/accounts.store.ts'
import { transferId } from '../ledger/rules/transfer.ts'
import { repayDebt, takeBack } from '../orders/debts.ts'
import { reverseForChargeback } from '../orders/reverse-for-chargeback.ts'
import { mustTransfer } from '../orders/sale.ts'
import type { PaymentNews } from './payment-provider.ts'
import type { PaymentRow } from './payments.store.ts'

type Disputed = Extract<PaymentNews, { kind: 'taken_back' | 'given_again' }>

/**
 * Brings the ledger to what the provider has taken back of a payment, which is locked, and given again. Both are told as
 * what they are in all, so that news may repeat, and a dispute that was won may be told before it was begun.
 */
export async function settleDispute(query: Transaction<Schema>, payment: PaymentRow, news: Disputed): Promise<void> {
  const dispute = await noted(query, payment, news)
  const others = await appliedBeside(query, payment.id, dispute.dispute_id)
  // Disputes of one payment together never take more than was paid.
  const wanted = Math.min(Math.max(dispute.taken_minor - dispute.given_minor, 0), payment.amount_minor - others)
  const change = wanted - dispute.applied_minor
  if (change === 0) return
  const reference = transferId('dispute', payment.id, dispute.dispute_id, String(dispute.changes))
  if (change > 0) await withdraw(query, payment, { reference, amountMinor: BigInt(change), why: whyOf(news) })
  else await giveAgain(query, payment, { reference, amountMinor: BigInt(-change) })
  await query
    .updateTable('payment_disputes')
    .set({ applied_minor: wanted, changes: dispute.changes + 1 })
    .where('payment_id', '=', payment.id)
    .where('dispute_id', '=', dispute.dispute_id)
    .execute()
  await query
    .updateTable('payments')
    .set({ state: wanted + others > 0 ? 'disputed' : 'succeeded', message: whyOf(news) })
    .where('id', '=', payment.id)
    .execute()
  await recordAudit(query, {
    ...{ actor: null, ip: null, subject: `payment:${payment.id}` },
    action: change > 0 ? 'payment.take_back' : 'payment.give_again',
    data: { dispute: dispute.dispute_id, amount_minor: Math.abs(change), currency: payment.currency },
  })
}

const whyOf = (news: Disputed): string | null => (news.kind === 'taken_back' ? news.why : null)

async function noted(query: Transaction<Schema>, { id }: PaymentRow, { kind, disputeId, amountMinor }: Disputed) {
  const column = kind === 'taken_back' ? 'taken_minor' : 'given_minor'
  return query
    .insertInto('payment_disputes')
    .values({ payment_id: id, dispute_id: disputeId, [column]: amountMinor, applied_minor: 0, changes: 0 })
    .onConflict((conflict) =>
      conflict
        .columns(['payment_id', 'dispute_id'])
        .doUpdateSet({ [column]: sql`greatest(payment_disputes.${sql.ref(column)}, ${amountMinor})` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

async function appliedBeside(query: Transaction<Schema>, paymentId: string, disputeId: string): Promise<number> {
  const { applied } = await query
    .selectFrom('payment_disputes')
    .select(({ fn }) => fn.coalesce(fn.sum<number>('applied_minor'), sql<number>`0`).as('applied'))
    .where('payment_id', '=', paymentId)
    .where('dispute_id', '<>', disputeId)
    .executeTakeFirstOrThrow()
  return Number(applied)
}

type Change = { reference: string; amountMinor: bigint }

/**
 * The money has left: whoever paid has it again. What was bought with it is taken back, the order that it paid for or else
 * the newest that the balance has paid for since, until the balance holds what is to go; what is lacking even then the
 * account owes.
 */
async function withdraw(
  query: Transaction<Schema>,
  payment: PaymentRow,
  { reference, amountMinor, why }: Change & { why: string | null },
): Promise<void> {
  const { account_id: accountId, currency, order_id: orderId } = payment
  const because = { paymentId: payment.id, reason: `Its payment was taken back (${why ?? 'disputed'}).` }
  if (orderId !== null && (await hasPaid(query, payment.id, orderId)))
    await reverseForChargeback(query, orderId, because)
  const [balance] = await openAccounts(query, [{ owner: accountId, code: 'balance', currency }])
  for (const id of await ordersSince(query, payment)) {
    const account = (await readAccounts(query, [balance])).get(balance)
    if (account !== undefined && availableMinor(account) >= amountMinor) break
    await reverseForChargeback(query, id, because)
  }
  await takeBack(query, { accountId, amountMinor, currency, reference })
}

/** Whether it was this payment that paid the order, and not another one that came before it. */
async function hasPaid(query: Transaction<Schema>, paymentId: string, orderId: string): Promise<boolean> {
  const first = await query
    .selectFrom('payments')
    .select('id')
    .where('order_id', '=', orderId)
    .where('state', 'in', ['succeeded', 'disputed'])
    .orderBy('ended_at')
    .orderBy('id')
    .executeTakeFirst()
  return first?.id === paymentId
}

/** Orders that the balance has paid for since the payment came in, newest first. */
async function ordersSince(query: Transaction<Schema>, payment: PaymentRow): Promise<string[]> {
  const rows = await query
    .selectFrom('orders')
    .select('id')
    .where('buyer_id', '=', payment.account_id)
    .where('currency', '=', payment.currency)
    .where('pay_with', '=', 'balance')
    .where('state', '=', 'paid')
    .whereRef('total_minor', '>', 'refunded_minor')
    .where('paid_at', '>=', payment.ended_at ?? payment.created_at)
    .orderBy('paid_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ id }) => id)
}

/** A dispute was won: the money is there again, and what was bought with it is not. It goes to the balance, debts first. */
async function giveAgain(query: Transaction<Schema>, payment: PaymentRow, { reference, amountMinor }: Change) {
  const { account_id: accountId, currency } = payment
  const [provider, balance] = await openAccounts(query, [
    { owner: null, code: 'provider', currency },
    { owner: accountId, code: 'balance', currency },
  ])
  await mustTransfer(query, [
    {
      ...{ id: transferId('give_again', reference), kind: 'posted', code: 'give_again', reference: payment.id },
      ...{ debitAccountId: provider, creditAccountId: balance, amountMinor, currency },
    },
  ])
  await repayDebt(query, { accountId, currency, reference: payment.id })
}
