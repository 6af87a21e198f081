import assert from 'node:assert'
import {
  AgentGymError,
  type AuditAction,
  formatAmount,
  type Payout,
  type payoutRequestSchema,
} from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Queries } from '../../core/database/database.ts'
import type { PayoutTable } from '../../core/database/market-schema.ts'
import { afterPageEnd as beforePageEnd, type PageEnd } from '../../core/database/page-cursor.ts'
import type { Schema } from '../../core/database/schema.ts'
import { withIdempotencyKey } from '../../core/idempotency/idempotency.ts'
import type { Services } from '../../core/services.ts'
import { findParty, type Party } from '../accounts/index.ts'
import { lockAccounts, type Movement, openAccount, openAccounts, transferId } from '../ledger/index.ts'
import { mustTransfer, repayDebt } from '../orders/index.ts'
import { clearedMinor } from './earnings.ts'
import type { PaymentServices, PayoutNews } from './payment-provider.ts'
import { type DestinationRow, findDestination } from './payout-destination.ts'

type Request = z.output<typeof payoutRequestSchema>
type Asking = { actor: Actor | null; request: Request; idempotencyKey: string; ip: string }

/**
 * Pays out cleared earnings. The amount is held in the transaction that records the payout. The provider is called
 * afterwards, and again by a scheduled task until the outcome is known.
 *
 * Throws `unauthenticated`, `forbidden`, `account_not_found`, `payout_not_ready`, `payout_below_cleared`,
 * `idempotency_key_reused`, `rate_limited`.
 */
export async function requestPayout(services: PaymentServices, asking: Asking): Promise<Payout> {
  const { database } = services
  const actor = requireActor(asking.actor, 'market:sell')
  await limitRate(database, `payout:${actor.accountId}`, { limit: 30, windowSeconds: 3_600 })
  const { request, idempotencyKey: key } = asking
  const { answer } = await database.transaction((query) =>
    withIdempotencyKey(query, { actorId: actor.accountId, key, action: 'payout.request', request }, async () => {
      return { status: 201, answer: { id: await writeDown(services, query, { ...asking, actor }) } }
    }),
  )
  await sendPayout(services, answer.id).catch((error: unknown) => {
    if (!(error instanceof AgentGymError)) throw error
    services.log.warn('a payout waits for the provider', { payout_id: answer.id, error: error.message })
  })
  const payout = await findPayout(database.query, answer.id)
  assert(payout !== undefined)
  return payoutOf(payout)
}

async function writeDown(
  services: PaymentServices,
  query: Transaction<Schema>,
  { actor, request, ip }: Asking & { actor: Actor },
): Promise<string> {
  const { currency } = services.config.training
  const party = await findParty(query, actor, request.account, { permission: 'manage', scope: 'market:sell' })
  const destination = await findDestination(query, services, party.id)
  if (!destination?.ready) throw notReady(party)
  await repayDebt(query, { accountId: party.id, currency, reference: party.id })
  const earningsId = await openAccount(query, { owner: party.id, code: 'earnings', currency })
  const earnings = (await lockAccounts(query, [earningsId])).get(earningsId)
  assert(earnings !== undefined)
  const { payoutHoldDays } = services.config.market
  const cleared = Number(await clearedMinor(query, earnings, payoutHoldDays))
  const amount = request.amount_minor ?? cleared
  if (amount < 1 || amount > cleared) throw belowCleared({ cleared, currency, days: payoutHoldDays })
  return insertPayout(query, { actor, party, destination, amount, currency, ip })
}

type NewPayout = {
  actor: Actor
  party: Party
  destination: DestinationRow
  amount: number
  currency: string
  ip: string
}

async function insertPayout(
  query: Transaction<Schema>,
  { actor, party, destination, amount, currency, ip }: NewPayout,
): Promise<string> {
  const payout = await query
    .insertInto('payouts')
    .values({
      ...{ account_id: party.id, requested_by: actor.accountId, amount_minor: amount, currency },
      ...{ provider: destination.provider, provider_account: destination.provider_account },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await holdPayout(query, payout)
  await recordAudit(query, {
    ...{ actor, action: 'payout.request', subject: `payout:${payout.id}`, ip },
    data: { account: party.username, amount_minor: amount, currency },
  })
  return payout.id
}

function notReady({ username }: Party): AgentGymError {
  return new AgentGymError({
    code: 'payout_not_ready',
    message: `${username} has no payout destination yet.`,
    hint: 'PUT /v1/payout-destination returns the URL of the provider’s form. Request the payout again when the form is complete.',
    data: { account: username },
  })
}

type Cleared = { cleared: number; currency: string; days: number }

function belowCleared({ cleared, currency, days }: Cleared): AgentGymError {
  return new AgentGymError({
    code: 'payout_below_cleared',
    message:
      cleared === 0
        ? 'No earnings have cleared yet.'
        : `Only ${formatAmount(cleared, currency)} of the earnings has cleared and can be paid out.`,
    hint: `Earnings clear ${days} days after the sale. \`agentgym earnings\` shows them.`,
    data: { cleared_minor: cleared, currency },
  })
}

/**
 * Asks the provider to make a recorded payout, and stores the outcome. May be called again at any time and
 * concurrently: the provider pays once, and the payout is settled once. Throws `payment_provider_unavailable`.
 */
export async function sendPayout(services: PaymentServices, id: string): Promise<void> {
  const { database } = services
  const payout = await findPayout(database.query, id)
  const provider = await services.paymentProvider()
  if (payout?.state !== 'pending' || payout.provider !== provider.name) return
  const news = await provider.sendPayout({
    id,
    amountMinor: payout.amount_minor,
    currency: payout.currency,
    providerAccount: payout.provider_account,
    createdAt: payout.created_at,
    refusals: payout.refusals,
  })
  if (news === null) return
  await database.transaction(async (query) => {
    const held = await lockPayout(query, id)
    if (held !== undefined) await settlePayout(services, query, held, news)
  })
}

type PayoutRow = Selectable<PayoutTable>

/** The payout's row, locked until the transaction ends. Lock it before changing the payout. */
export async function lockPayout(query: Transaction<Schema>, id: string): Promise<PayoutRow | undefined> {
  return query.selectFrom('payouts').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Holds earnings for a payout that was just recorded, until it ends. */
async function holdPayout(query: Transaction<Schema>, payout: PayoutRow): Promise<void> {
  const { earnings, payouts } = await accountsOf(query, payout)
  await mustTransfer(query, [
    { ...movement(payout, 'payout_hold', 'payout', [earnings, payouts], payout.amount_minor), kind: 'pending' },
  ])
}

/**
 * Applies news to a locked payout. Paid: earnings → payouts → provider. Failed: the earnings are released. Returned:
 * the reverse, for the returned amount. News may repeat and arrive in any order.
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
    // A failed payout should not be paid later. If the provider reports that it was, an operator must investigate.
    log.error('the provider reports a failed payout as paid', { payout_id: payout.id, news: news.kind })
    return
  }
  if (payout.state === 'pending') await pay(query, payout, news.kind === 'paid' ? news.reference : null)
  if (news.kind === 'returned' && news.returnedMinor > payout.returned_minor) await giveBack(query, payout, news)
}

/** Two processes may count the same answer twice, which is harmless: it only skips an idempotency key. */
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

async function noteDown(query: Transaction<Schema>, { id, amount_minor, currency }: PayoutRow, action: AuditAction) {
  const data = { amount_minor, currency }
  await recordAudit(query, { actor: null, action, subject: `payout:${id}`, ip: null, data })
}

type PayoutView = PayoutRow & { account: string }

async function findPayout(query: Queries, id: string): Promise<PayoutView | undefined> {
  return views(query).where('payouts.id', '=', id).executeTakeFirst()
}

/** Newest first. */
export async function listPayouts(
  query: Queries,
  { owners, after, limit }: { owners: string[]; after: PageEnd | null; limit: number },
): Promise<PayoutView[]> {
  return views(query)
    .where('payouts.account_id', 'in', owners)
    .where(beforePageEnd('payouts', after))
    .orderBy('payouts.created_at', 'desc')
    .orderBy('payouts.id', 'desc')
    .limit(limit)
    .execute()
}

function views(query: Queries) {
  return query
    .selectFrom('payouts')
    .innerJoin('accounts', 'accounts.id', 'payouts.account_id')
    .selectAll('payouts')
    .select('accounts.username as account')
}

/** A payout as the API returns it. */
export function payoutOf(row: PayoutView): Payout {
  return {
    id: row.id,
    account: row.account,
    state: row.state,
    amount_minor: row.amount_minor,
    currency: row.currency,
    message: row.message,
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}
