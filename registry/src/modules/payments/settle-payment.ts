import { formatAmount } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { availableMinor, openAccounts, readAccounts, transferId } from '../ledger/index.ts'
import { mustTransfer, type Payment, payOrder, repayDebt, reverseForChargeback, takeBack } from '../orders/index.ts'
import type { PaymentNews } from './payment-provider.ts'
import type { PaymentRow } from './payments.store.ts'

/** What whoever paid is told by mail, once the transaction is through. */
export type PayerNote = { accountId: string; subject: string; text: string }

type Settling = Pick<Services, 'log'>

/**
 * What news of a payment, which is locked, come to. News repeat, come late and in any order, so each is taken by what it
 * says and never by when: money that came in is credited once, whatever the payment was held for; a failure or an expiry of
 * what was paid says nothing; what is taken back of a payment that nobody knew to be paid was paid.
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
        const asked = { payment_id: payment.id, asked_minor: payment.amount_minor, paid_minor, currency }
        services.log.error('a payment is not what was asked for, and was not credited', asked)
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
 * Money has come in: onto the balance and, where it is for an order that can still be delivered, on to where the order's
 * parts go, all in this transaction.
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
      `You paid ${formatAmount(amount_minor, currency)} for the order ${order_id}, and nothing was bought. ${why}`,
      'You can spend it on anything else.',
    ].join('\n\n'),
  }
}

/** Mails it to whoever can read it: the user, or the owners of the organisation. Does not wait for the mail to go. */
export function tellPayer({ database, mail, log }: Services, { accountId, subject, text }: PayerNote): void {
  inBackground(log, 'telling a payer', async () => {
    const { rows } = await sql<{ email: string; username: string }>`
      select email, username from accounts where email is not null and disabled_at is null and (id = ${accountId}
        or id in (select user_id from memberships where organisation_id = ${accountId} and role = 'owner'))`.execute(
      database.query,
    )
    for (const { email, username } of rows)
      await mail.send({ to: email, subject, text: [`Hello ${username},`, text].join('\n\n') })
  })
}

type Disputed = Extract<PaymentNews, { kind: 'taken_back' | 'given_again' }>

/**
 * Brings the ledger to what the provider has taken back of a payment, which is locked, and given again. Both are told as
 * what they are in all, so that news may repeat, and a dispute that was won may be told before it was begun.
 */
async function settleDispute(query: Transaction<Schema>, payment: PaymentRow, news: Disputed): Promise<void> {
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
