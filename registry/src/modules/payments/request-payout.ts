import assert from 'node:assert'
import { AgentGymError, formatAmount, type Payout, type payoutRequestSchema } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor } from '../../core/access/authorise.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { withIdempotencyKey } from '../../core/idempotency/idempotency.ts'
import type { Services } from '../../core/services.ts'
import { findParty, type Party } from '../accounts/organisations.ts'
import { lockAccounts, openAccount } from '../ledger/accounts.store.ts'
import { repayDebt } from '../orders/debts.ts'
import { clearedMinor } from './cleared-earnings.ts'
import { type DestinationRow, findDestination } from './payout-destination.ts'
import { findPayout, payoutOf } from './payouts.store.ts'
import { sendPayout } from './send-payout.ts'
import { holdPayout } from './settle-payout.ts'

type Request = z.output<typeof payoutRequestSchema>
type Asking = { actor: Actor | null; request: Request; idempotencyKey: string; ip: string }

/**
 * Pays out earnings that have cleared. What is asked for is held in the same transaction that writes it down; the provider is
 * asked after it, and again by upkeep for as long as nobody knows what became of it.
 *
 * Throws `unauthenticated`, `forbidden`, `account_not_found`, `payout_not_ready`, `payout_below_cleared`,
 * `idempotency_key_reused`, `rate_limited`.
 */
export async function requestPayout(services: Services, asking: Asking): Promise<Payout> {
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
  services: Services,
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
    message: `There is nowhere yet that the earnings of ${username} could be paid out to.`,
    hint: 'PUT /v1/payout-destination gives the address of the provider’s form; come back when it is complete.',
    data: { account: username },
  })
}

type Cleared = { cleared: number; currency: string; days: number }

function belowCleared({ cleared, currency, days }: Cleared): AgentGymError {
  return new AgentGymError({
    code: 'payout_below_cleared',
    message:
      cleared === 0
        ? 'No earnings have cleared that could be paid out.'
        : `${formatAmount(cleared, currency)} of the earnings have cleared; that is the most that can be paid out.`,
    hint: `Earnings clear ${days} days after the sale. \`agentgym earnings\` shows them.`,
    data: { cleared_minor: cleared, currency },
  })
}
