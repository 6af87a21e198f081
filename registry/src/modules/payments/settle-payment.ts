import { formatAmount } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { openAccounts } from '../ledger/accounts.store.ts'
import { transferId } from '../ledger/rules/transfer.ts'
import { repayDebt } from '../orders/debts.ts'
import { type Payment, payOrder } from '../orders/pay-order.ts'
import { mustTransfer } from '../orders/sale.ts'
import type { PaymentNews } from './payment-provider.ts'
import type { PaymentRow } from './payments.store.ts'
import { settleDispute } from './settle-dispute.ts'

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
