import { AgentGymError } from '@agentgym/contract'
import type Stripe from 'stripe'
import { z } from 'zod'
import type { ProviderEvent } from './payment-provider.ts'

/** Stripe's own recommendation. */
const TOLERANCE_SECONDS = 300

const uuid = z.uuid()

/**
 * A webhook of Stripe, its signature verified over the raw body and its age. What an event is about is read from the ids
 * that we gave its objects; a dispute knows only its payment, which Stripe is asked for.
 */
export async function readStripeEvent(
  stripe: Stripe,
  secret: string,
  body: Uint8Array,
  signature: string | undefined,
): Promise<ProviderEvent> {
  const event = verified(stripe, secret, body, signature)
  const { about, data } = await described(stripe, event)
  return { id: event.id, type: event.type, about, data }
}

function verified(stripe: Stripe, secret: string, body: Uint8Array, signature: string | undefined): Stripe.Event {
  try {
    return stripe.webhooks.constructEvent(Buffer.from(body), signature ?? '', secret, TOLERANCE_SECONDS)
  } catch {
    // Whatever it is: the SDK also fails in ways of its own at headers that nobody would send in earnest.
    throw new AgentGymError({
      code: 'webhook_signature_invalid',
      message: 'The signature is not Stripe’s for this body, or older than five minutes.',
      hint: 'AGENTGYM_STRIPE_WEBHOOK_SECRET must be the one of this address at Stripe.',
    })
  }
}

async function described(stripe: Stripe, event: Stripe.Event): Promise<Pick<ProviderEvent, 'about' | 'data'>> {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.async_payment_failed':
    case 'checkout.session.expired':
      return ofSession(event.type, event.data.object)
    case 'charge.dispute.created':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
      return ofDispute(stripe, event.type, event.data.object)
    case 'charge.refunded':
      return ofRefund(event.data.object)
    case 'transfer.reversed':
      return ofReversal(event.data.object)
    case 'account.updated':
      return { about: { providerAccount: event.data.object.id }, data: { account: event.data.object.id } }
    default:
      return { about: null, data: {} }
  }
}

function ofSession(type: string, session: Stripe.Checkout.Session): Pick<ProviderEvent, 'about' | 'data'> {
  const data = { session: session.id, amount: session.amount_total, currency: session.currency }
  const paymentId = ours(session.metadata?.payment_id)
  if (paymentId === null) return { about: null, data }
  const [amountMinor, currency] = [session.amount_total ?? 0, (session.currency ?? '').toUpperCase()]
  if (type === 'checkout.session.async_payment_failed')
    return { about: { paymentId, news: { kind: 'failed', message: 'The bank did not make the payment.' } }, data }
  if (type === 'checkout.session.expired') return { about: { paymentId, news: { kind: 'expired' } }, data }
  // Completed, but the money comes later: another event tells.
  if (session.payment_status !== 'paid') return { about: null, data }
  return { about: { paymentId, news: { kind: 'succeeded', amountMinor, currency } }, data }
}

async function ofDispute(
  stripe: Stripe,
  type: string,
  dispute: Stripe.Dispute,
): Promise<Pick<ProviderEvent, 'about' | 'data'>> {
  const data = { dispute: dispute.id, amount: dispute.amount, status: dispute.status, reason: dispute.reason }
  // An inquiry: no money has moved yet.
  if (type === 'charge.dispute.created' && dispute.status.startsWith('warning_')) return { about: null, data }
  const { payment_intent: intent } = dispute
  if (intent === null) return { about: null, data }
  const { metadata } = typeof intent === 'string' ? await stripe.paymentIntents.retrieve(intent) : intent
  const paymentId = ours(metadata.payment_id)
  if (paymentId === null) return { about: null, data }
  const disputed = { disputeId: dispute.id, amountMinor: dispute.amount }
  if (type === 'charge.dispute.funds_reinstated')
    return { about: { paymentId, news: { kind: 'given_again', ...disputed } }, data }
  return { about: { paymentId, news: { kind: 'taken_back', ...disputed, why: `disputed: ${dispute.reason}` } }, data }
}

/** Given back on Stripe's own pages. `amount_refunded` grows with each part: the amount up to there names the part. */
function ofRefund(charge: Stripe.Charge): Pick<ProviderEvent, 'about' | 'data'> {
  const data = { charge: charge.id, amount_refunded: charge.amount_refunded }
  const paymentId = ours(charge.metadata.payment_id)
  if (paymentId === null) return { about: null, data }
  const why = 'given back at the payment provider'
  const news = { kind: 'taken_back', disputeId: charge.id, amountMinor: charge.amount_refunded, why } as const
  return { about: { paymentId, news }, data }
}

function ofReversal(transfer: Stripe.Transfer): Pick<ProviderEvent, 'about' | 'data'> {
  const data = { transfer: transfer.id, amount_reversed: transfer.amount_reversed }
  const payoutId = ours(transfer.metadata.payout_id)
  if (payoutId === null) return { about: null, data }
  const message = 'The payment provider took the transfer back.'
  return { about: { payoutId, news: { kind: 'returned', returnedMinor: transfer.amount_reversed, message } }, data }
}

/** Other programs may share the account at Stripe: what carries no id of ours is none of our business. */
function ours(id: string | undefined): string | null {
  return uuid.safeParse(id).data ?? null
}
