import { AgentGymError, formatAmount, type Payment, type topUpRequestSchema } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { withIdempotencyKey } from '../../core/idempotency/idempotency.ts'
import { findParty } from '../accounts/index.ts'
import { openAccount } from '../ledger/index.ts'
import { type PaymentServices, providerName } from './payment-provider.ts'
import { paymentOf } from './payments.store.ts'
import { readBalance } from './read-payments.ts'
import { beginPayment, paymentDeclined } from './start-payment.ts'

type Request = z.output<typeof topUpRequestSchema>
type ToppingUp = { actor: Actor | null; request: Request; idempotencyKey: string; ip: string }

/** No real balance exceeds this, and larger sums would no longer be exact as JSON numbers. */
const MOST_MINOR = 1e15

/**
 * Adds money to a balance: records the payment, then asks the provider where to pay. A repeated request with the same
 * idempotency key continues where the first one stopped.
 *
 * Throws `unauthenticated`, `forbidden`, `account_not_found`, `payment_declined`, `payment_provider_unavailable`,
 * `idempotency_key_reused`, `rate_limited`, `request_invalid`.
 */
export async function topUp(services: PaymentServices, asking: ToppingUp): Promise<Payment> {
  const { database } = services
  const actor = requireActor(asking.actor, 'market:buy')
  await limitRate(database, `top-up:${actor.accountId}`, { limit: 60, windowSeconds: 60 })
  const { request, idempotencyKey: key } = asking
  const { answer } = await database.transaction((query) =>
    withIdempotencyKey(query, { actorId: actor.accountId, key, action: 'top-up', request }, async () => {
      return { status: 201, answer: { id: await writeDown(services, query, { ...asking, actor }) } }
    }),
  )
  const payment = await beginPayment(services, answer.id)
  if (payment.state === 'failed') throw paymentDeclined(payment)
  return paymentOf(payment)
}

async function writeDown(
  services: PaymentServices,
  query: Transaction<Schema>,
  { actor, request, ip }: ToppingUp & { actor: Actor },
): Promise<string> {
  const { currency } = services.config.training
  const provider = providerName(services)
  const { amount_minor, account, test_outcome } = request
  if (test_outcome !== undefined && provider !== 'test') throw notTest()
  const party = await findParty(query, actor, account, { permission: 'publish', scope: 'market:buy' })
  await openAccount(query, { owner: party.id, code: 'balance', currency })
  const balance = await readBalance(query, party, currency)
  if (balance.available_minor + balance.held_minor + balance.awaited_minor + amount_minor > MOST_MINOR)
    throw tooMuch(currency)
  const { id } = await query
    .insertInto('payments')
    .values({
      ...{ purpose: 'top_up', provider, account_id: party.id, created_by: actor.accountId },
      ...{ amount_minor, currency, test_outcome: test_outcome ?? null },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await recordAudit(query, {
    ...{ actor, action: 'top-up.request', subject: `payment:${id}`, ip },
    data: { account: party.username, amount_minor, currency },
  })
  return id
}

function notTest(): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: 'The field "test_outcome" of the body is invalid: this server accepts real money.',
    hint: 'Omit it.',
    data: { field: 'test_outcome', in: 'json' },
  })
}

function tooMuch(currency: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: `The field "amount_minor" of the body is invalid: a balance is limited to ${formatAmount(MOST_MINOR, currency)}.`,
    data: { field: 'amount_minor', in: 'json' },
  })
}
