import { AgentGymError } from '@agentgym/contract'
import { sql } from 'kysely'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { type PaymentServices, providerName } from './payment-provider.ts'
import { findPayment, lockPayment, type PaymentView } from './payments.store.ts'
import { sendPayout } from './payouts.ts'
import { mailPayer, settlePayment } from './settle-payment.ts'
import { paymentRequest } from './start-payment.ts'
import { takeEvent } from './webhooks.routes.ts'

const minuteMs = 60_000

/** Scheduled tasks of payments and payouts. */
export function paymentTasks(services: PaymentServices): ScheduledTask[] {
  return [
    { name: 'market.send-payouts', everyMs: minuteMs, run: () => sendPayouts(services) },
    { name: 'market.ask-payments', everyMs: 5 * minuteMs, run: () => askPayments(services) },
    { name: 'market.dispute-test-payments', everyMs: minuteMs, run: () => disputeTestPayments(services) },
  ]
}

/** Payouts whose outcome is unknown: the process that handled them died, or the provider did not answer. */
export async function sendPayouts(services: PaymentServices, { olderThanMs = 30_000 } = {}): Promise<void> {
  const { database } = services
  const waiting = await database.query
    .selectFrom('payouts')
    .select('id')
    .where('state', '=', 'pending')
    .where('provider', '=', providerName(services))
    .where('created_at', '<=', ago(olderThanMs))
    .orderBy('created_at')
    .limit(1_000)
    .execute()
  for (const { id } of waiting)
    await tried(services, 'a payout waits for the provider', { payout_id: id }, () => sendPayout(services, id))
}

/**
 * Asks the provider for the outcome of payments that have been pending for a while, because a webhook may have been
 * lost. A payment that was never requested from the provider expires after a day, because it has no payment URL.
 */
export async function askPayments(services: PaymentServices, { olderThanMs = 10 * minuteMs } = {}): Promise<void> {
  const { database } = services
  const waiting = await database.query
    .selectFrom('payments')
    .select(['id', 'provider_reference', 'created_at'])
    .where('state', '=', 'pending')
    .where('provider', '=', providerName(services))
    .where('created_at', '<=', ago(olderThanMs))
    .orderBy('created_at')
    .limit(1_000)
    .execute()
  for (const { id, provider_reference: reference, created_at } of waiting)
    await tried(services, 'a payment waits for the provider', { payment_id: id }, async () => {
      if (reference !== null) await askPayment(services, id, reference)
      else if (Date.now() - created_at.getTime() > 24 * 60 * minuteMs) await expire(services, id)
    })
}

async function askPayment(services: PaymentServices, id: string, reference: string): Promise<void> {
  const payment = await findPayment(services.database.query, id)
  if (payment?.state !== 'pending') return
  const provider = await services.paymentProvider()
  // An order that has ended should not be paid. If it was already paid, the money goes to the balance.
  if (await isOrderOver(services, payment)) await provider.cancelPayment(reference)
  const news = await provider.readPayment(await paymentRequest(services, payment), reference)
  if (news === null) return
  const note = await services.database.transaction(async (query) => {
    const held = await lockPayment(query, id)
    return held === undefined ? null : settlePayment(services, query, held, news)
  })
  if (note !== null) mailPayer(services, note)
}

async function isOrderOver(
  { database }: Pick<Services, 'database'>,
  { order_id: orderId }: PaymentView,
): Promise<boolean> {
  if (orderId === null) return false
  const order = await database.query.selectFrom('orders').select('state').where('id', '=', orderId).executeTakeFirst()
  return order?.state !== 'awaiting_payment'
}

async function expire(services: PaymentServices, id: string): Promise<void> {
  await services.database.transaction(async (query) => {
    const held = await lockPayment(query, id)
    if (held !== undefined) await settlePayment(services, query, held, { kind: 'expired' })
  })
}

/** Disputes payments of the provider `test` that requested a dispute. */
export async function disputeTestPayments(services: PaymentServices): Promise<void> {
  const request = await services.database.query
    .selectFrom('payments')
    .select(['id', 'amount_minor'])
    .where('provider', '=', 'test')
    .where('test_outcome', '=', 'disputed')
    .where('state', '=', 'succeeded')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('payment_disputes').select('payment_id').whereRef('payment_id', '=', 'payments.id'))),
    )
    .limit(1_000)
    .execute()
  for (const { id, amount_minor: amountMinor } of request)
    await takeEvent(services, 'test', {
      id: `test_disputed_${id}`,
      type: 'test.disputed',
      about: {
        paymentId: id,
        news: { kind: 'taken_back', disputeId: `test_${id}`, amountMinor, why: 'disputed: test' },
      },
      data: {},
    })
}

const ago = (ms: number) => sql<Date>`now() - ${ms / 1_000} * interval '1 second'`

/** A payment without an answer from the provider must not block the others. */
async function tried(
  services: PaymentServices,
  what: string,
  data: Record<string, unknown>,
  work: () => Promise<void>,
) {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    services.log.warn(what, { ...data, error: error.message })
  }
}
