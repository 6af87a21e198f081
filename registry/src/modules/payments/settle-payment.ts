import { formatAmount } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { sendLetter } from '../../core/mail/send-letter.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { availableMinor, openAccounts, readAccounts, transferId } from '../ledger/index.ts'
import { mustTransfer, type Payment, payOrder, repayDebt, reverseForChargeback, takeBack } from '../orders/index.ts'
import type { PaymentNews } from './payment-provider.ts'
import type { PaymentRow } from './payments.store.ts'

/** The email to the payer, sent once the transaction has committed. */
export type PayerNote = { accountId: string; subject: string; text: string }

type Settling = Pick<Services, 'log'>

/**
 * Applies news to a locked payment. News may repeat and arrive late and in any order, so it is handled by its content,
 * never by its timing: incoming money is credited once, whatever the payment's state; a failure or expiry of a paid
 * payment is ignored; a reversal of an unpaid payment implies that it was paid.
 */
export async function settlePayment(
  services: Settling,
  query: Transaction<Schema>,
  payment: PaymentRow,
  news: PaymentNews,
): Promise<PayerNote | null> {
  const isPaid = payment.state === 'succeeded' || payment.state === 'disputed'
  switch (news.kind) {
    case 'failed':
    case 'expired':
      if (payment.state === 'pending')
        await end(query, payment, news.kind, news.kind === 'failed' ? news.message : null)
      return null
    case 'succeeded':
      if (isPaid) return null
      if (news.amountMinor !== payment.amount_minor || news.currency !== payment.currency) {
        const { amountMinor: paid_minor, currency } = news
        const request = { payment_id: payment.id, asked_minor: payment.amount_minor, paid_minor, currency }
        services.log.error('a payment differs from the requested one and was not credited', request)
        return null
      }
      return take(query, payment)
    case 'taken_back':
    case 'given_again': {
      const note = isPaid ? null : await take(query, payment)
      await settleDispute(query, payment, news)
      return note
    }
  }
}

/**
 * Books incoming money: credits the balance and, if it is for an order that can still be fulfilled, pays the recipients
 * of its parts, all in this transaction.
 */
async function take(query: Transaction<Schema>, payment: PaymentRow): Promise<PayerNote | null> {
  const { id, account_id: accountId, currency, order_id: orderId } = payment
  const money = { id, accountId, amountMinor: BigInt(payment.amount_minor), currency }
  if (orderId === null) await credit(query, money)
  const paid = orderId === null ? null : await payOrder(query, { orderId, payment: money })
  const kept = paid?.outcome === 'kept' ? paid.reason : null
  await end(query, payment, 'succeeded', kept)
  await recordAudit(query, {
    ...{ actor: null, action: 'payment.succeed', subject: `payment:${id}`, ip: null },
    data: { amount_minor: payment.amount_minor, currency, order: orderId },
  })
  return kept === null ? null : noteOf(payment, kept)
}

async function credit(query: Transaction<Schema>, { id, accountId, amountMinor, currency }: Payment): Promise<void> {
  const [provider, balance] = await openAccounts(query, [
    { owner: null, code: 'provider', currency },
    { owner: accountId, code: 'balance', currency },
  ])
  await mustTransfer(query, [
    {
      ...{ id: transferId('top_up', id), kind: 'posted', code: 'top_up', amountMinor, currency, reference: id },
      ...{ debitAccountId: provider, creditAccountId: balance },
    },
  ])
  await repayDebt(query, { accountId, currency, reference: id })
}

async function end(
  query: Transaction<Schema>,
  { id }: PaymentRow,
  state: 'succeeded' | 'failed' | 'expired',
  message: string | null,
): Promise<void> {
  await query.updateTable('payments').set({ state, message, ended_at: sql<Date>`now()` }).where('id', '=', id).execute()
}

function noteOf({ account_id: accountId, amount_minor, currency, order_id }: PaymentRow, why: string): PayerNote {
  return {
    accountId,
    subject: 'Your payment is on your AgentGym balance',
    text: [
      `You paid ${formatAmount(amount_minor, currency)} for order ${order_id}, but the purchase failed. ${why}`,
      'You can spend it on other purchases.',
    ].join('\n\n'),
  }
}

/** Emails the user, or the owners of the organization. Does not wait for delivery. */
export function mailPayer({ database, mail, log }: Services, { accountId, subject, text }: PayerNote): void {
  inBackground(log, 'emailing a payer', async () => {
    const { rows } = await sql<{ email: string; username: string }>`
      select email, username from accounts where email is not null and disabled_at is null and (id = ${accountId}
        or id in (select user_id from memberships where organisation_id = ${accountId} and role = 'owner'))`.execute(
      database.query,
    )
    for (const to of rows) await sendLetter(mail, { to, subject, paragraphs: [text] })
  })
}

type Disputed = Extract<PaymentNews, { kind: 'taken_back' | 'given_again' }>

/**
 * Updates the ledger to the reversed and returned totals of a locked payment. Both are totals, so news may repeat, and
 * a won dispute may be reported before it was opened.
 */
async function settleDispute(query: Transaction<Schema>, payment: PaymentRow, news: Disputed): Promise<void> {
  const dispute = await noted(query, payment, news)
  const others = await appliedBeside(query, payment.id, dispute.dispute_id)
  // The disputes of one payment together never exceed the payment.
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
 * The payer has the money again. Reverses the purchases made with it: the order it paid for, or else the newest orders
 * paid from the balance since, until the balance covers the amount. The account owes the rest.
 */
async function withdraw(
  query: Transaction<Schema>,
  payment: PaymentRow,
  { reference, amountMinor, why }: Change & { why: string | null },
): Promise<void> {
  const { account_id: accountId, currency, order_id: orderId } = payment
  const because = { paymentId: payment.id, reason: `Its payment was reversed (${why ?? 'disputed'}).` }
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

/** Whether this payment, and not an earlier one, paid for the order. */
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

/** Orders paid from the balance since the payment, newest first. */
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

/**
 * A dispute was won: the money returns, but the purchases are not restored. It repays debts first, and the rest goes to
 * the balance.
 */
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
