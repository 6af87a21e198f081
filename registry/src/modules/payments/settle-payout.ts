import { type Selectable, sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { PayoutTable } from '../../core/database/market-schema.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { openAccounts } from '../ledger/accounts.store.ts'
import type { Movement } from '../ledger/rules/transfer.ts'
import { transferId } from '../ledger/rules/transfer.ts'
import { repayDebt } from '../orders/debts.ts'
import { mustTransfer } from '../orders/sale.ts'
import type { PayoutNews } from './payment-provider.ts'

export type PayoutRow = Selectable<PayoutTable>

/** The payout's row, locked until the transaction ends: what changes a payout holds it. */
export async function lockPayout(query: Transaction<Schema>, id: string): Promise<PayoutRow | undefined> {
  return query.selectFrom('payouts').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Holds earnings for a payout that has just been written down: nothing else can take them until it has ended. */
export async function holdPayout(query: Transaction<Schema>, payout: PayoutRow): Promise<void> {
  const { earnings, payouts } = await accountsOf(query, payout)
  await mustTransfer(query, [
    { ...movement(payout, 'payout_hold', 'payout', [earnings, payouts], payout.amount_minor), kind: 'pending' },
  ])
}

/**
 * What news of a payout, which is locked, come to. Paid: earnings → payouts → provider. Failed: the earnings are free again.
 * Returned: all the way back, as much as came. News repeat and may come in any order.
 */
export async function settlePayout(
  { log }: Pick<Services, 'log'>,
  query: Transaction<Schema>,
  payout: PayoutRow,
  news: PayoutNews,
): Promise<void> {
  if (news.kind === 'not_yet') return countRefusal(query, payout)
  if (news.kind === 'failed') {
    if (payout.state === 'pending') await fail(query, payout, news.message)
    return
  }
  if (payout.state === 'failed' && payout.returned_minor < payout.amount_minor) {
    // A provider does not pay what it has refused. If it says so, somebody must look.
    log.error('a payout that had failed is said to be paid', { payout_id: payout.id, news: news.kind })
    return
  }
  if (payout.state === 'pending') await pay(query, payout, news.kind === 'paid' ? news.reference : null)
  if (news.kind === 'returned' && news.returnedMinor > payout.returned_minor) await giveBack(query, payout, news)
}

/** Two who heard the same count it twice: a key that was never used costs nothing. */
async function countRefusal(query: Transaction<Schema>, { id, refusals }: PayoutRow): Promise<void> {
  await query
    .updateTable('payouts')
    .set({ refusals: refusals + 1 })
    .where('id', '=', id)
    .execute()
}

async function pay(query: Transaction<Schema>, payout: PayoutRow, reference: string | null): Promise<void> {
  const { payouts, provider } = await accountsOf(query, payout)
  await mustTransfer(query, [
    {
      ...{ id: transferId('payout_post', payout.id), kind: 'post', pendingId: transferId('payout_hold', payout.id) },
      ...{ code: 'payout', reference: payout.id, linked: true },
    },
    movement(payout, 'payout_paid', 'payout_paid', [payouts, provider], payout.amount_minor),
  ])
  await query
    .updateTable('payouts')
    .set({ state: 'paid', provider_reference: reference, message: null, ended_at: sql<Date>`now()` })
    .where('id', '=', payout.id)
    .execute()
  await noteDown(query, payout, 'payout.pay')
}

async function fail(query: Transaction<Schema>, payout: PayoutRow, message: string): Promise<void> {
  await mustTransfer(query, [
    {
      ...{ id: transferId('payout_void', payout.id), kind: 'void', pendingId: transferId('payout_hold', payout.id) },
      ...{ code: 'payout_failed', reference: payout.id },
    },
  ])
  await query
    .updateTable('payouts')
    .set({ state: 'failed', message, ended_at: sql<Date>`now()` })
    .where('id', '=', payout.id)
    .execute()
  await noteDown(query, payout, 'payout.fail')
  await repayDebt(query, { accountId: payout.account_id, currency: payout.currency, reference: payout.id })
}

async function giveBack(
  query: Transaction<Schema>,
  payout: PayoutRow,
  { returnedMinor, message }: Extract<PayoutNews, { kind: 'returned' }>,
): Promise<void> {
  const { earnings, payouts, provider } = await accountsOf(query, payout)
  const returned = Math.min(returnedMinor, payout.amount_minor)
  const amount = returned - payout.returned_minor
  const from = String(payout.returned_minor)
  await mustTransfer(query, [
    { ...movement(payout, 'payout_back', 'payout_returned', [provider, payouts], amount, from), linked: true },
    movement(payout, 'payout_returned', 'payout_returned', [payouts, earnings], amount, from),
  ])
  const whole = returned === payout.amount_minor
  await query
    .updateTable('payouts')
    .set({ returned_minor: returned, message, ...(whole ? { state: 'failed', ended_at: sql<Date>`now()` } : {}) })
    .where('id', '=', payout.id)
    .execute()
  await noteDown(query, payout, 'payout.return')
  await repayDebt(query, { accountId: payout.account_id, currency: payout.currency, reference: payout.id })
}

async function accountsOf(query: Transaction<Schema>, { account_id: owner, currency }: PayoutRow) {
  const [earnings, payouts, provider] = await openAccounts(query, [
    { owner, code: 'earnings', currency },
    { owner: null, code: 'payouts', currency },
    { owner: null, code: 'provider', currency },
  ])
  return { earnings, payouts, provider }
}

function movement(
  { id, currency }: PayoutRow,
  part: string,
  code: string,
  [debitAccountId, creditAccountId]: [string, string],
  amountMinor: number,
  ...more: string[]
): Movement {
  return {
    ...{ id: transferId(part, id, ...more), kind: 'posted', code, amountMinor: BigInt(amountMinor) },
    ...{ currency, reference: id, debitAccountId, creditAccountId },
  }
}

async function noteDown(query: Transaction<Schema>, { id, amount_minor, currency }: PayoutRow, action: string) {
  const data = { amount_minor, currency }
  await recordAudit(query, { actor: null, action, subject: `payout:${id}`, ip: null, data })
}
