import { webhookReceivedSchema } from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { PaymentServices, ProviderEvent } from './payment-provider.ts'
import { lockPayment } from './payments.store.ts'
import { refreshDestinationOf } from './payout-destination.ts'
import { lockPayout, settlePayout } from './payouts.ts'
import { mailPayer, type PayerNote, settlePayment } from './settle-payment.ts'

const stripeRoute = defineRoute({
  access: 'anyone',
  method: 'post',
  path: '/v1/webhooks/stripe',
  operationId: 'takeStripeEvent',
  summary: 'Receive Stripe events',
  description:
    'Called by Stripe, which signs each event (`stripe-signature`). Each event is processed once; unrelated events are accepted and ignored. Events to enable: `checkout.session.*`, `charge.dispute.*`, `charge.refunded`, `transfer.reversed`, `account.updated` (of connected accounts).',
  responses: {
    200: {
      description: 'The event was accepted, now or earlier.',
      content: json(webhookReceivedSchema),
    },
    ...failures('webhook_signature_invalid', 'payment_provider_unavailable'),
  },
})

/** Events sent by the payment provider, authenticated by their signature. */
export function webhookRoutes(services: PaymentServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(stripeRoute, async (c) => {
    const provider = await services.paymentProvider()
    // The raw bytes: the signature covers them, not the parsed JSON.
    const body = new Uint8Array(await c.req.arrayBuffer())
    const event = await provider.readEvent(body, c.req.header('stripe-signature'))
    await takeEvent(services, provider.name, event)
    return c.json({ received: true as const }, 200)
  })
  return routes
}

type EventOutcome = 'taken' | 'repeated' | 'unknown' | 'not_ours'

/**
 * Processes a provider event once: its effect and the record of it are one transaction, so an event that is delivered
 * again, concurrently or after a crash, does nothing. Its signature has been verified.
 */
export async function takeEvent(
  services: PaymentServices,
  provider: string,
  event: ProviderEvent,
): Promise<EventOutcome> {
  const { database, log } = services
  const { outcome, note } = await database.transaction((query) => take(services, query, { provider, event }))
  if (note !== null) mailPayer(services, note)
  if (outcome === 'unknown')
    log.warn('an event of the payment provider names an unknown object', { event_id: event.id })
  // Reads the provider's current state, so that the order and number of events do not matter.
  if (outcome === 'taken' && event.about !== null && 'providerAccount' in event.about)
    await refreshDestinationOf(services, event.about.providerAccount)
  return outcome
}

type Taken = { outcome: EventOutcome; note: PayerNote | null }

async function take(
  services: PaymentServices,
  query: Transaction<Schema>,
  { provider, event }: { provider: string; event: ProviderEvent },
): Promise<Taken> {
  const { about } = event
  // Locked before looking up the event: of two concurrent deliveries, the second waits here and then finds it.
  const payment = about !== null && 'paymentId' in about ? await lockPayment(query, about.paymentId) : undefined
  const payout = about !== null && 'payoutId' in about ? await lockPayout(query, about.payoutId) : undefined
  const outcome =
    about === null ? 'not_ours' : payment || payout || 'providerAccount' in about ? ('taken' as const) : 'unknown'
  const noted = await query
    .insertInto('payment_events')
    .values({
      ...{ provider, event_id: event.id, type: event.type, payment_id: payment?.id ?? null, outcome },
      data: JSON.stringify(event.data),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(sql`1`.as('noted'))
    .executeTakeFirst()
  if (noted === undefined) return { outcome: 'repeated', note: null }
  if (payment !== undefined && about !== null && 'paymentId' in about)
    return { outcome, note: await settlePayment(services, query, payment, about.news) }
  if (payout !== undefined && about !== null && 'payoutId' in about)
    await settlePayout(services, query, payout, about.news)
  return { outcome, note: null }
}
