import { AgentGymError } from '@agentgym/contract'
import Stripe from 'stripe'
import { z } from 'zod'
import type { ServerConfig } from '../../core/services.ts'
import type {
  Destination,
  PaymentNews,
  PaymentProvider,
  PaymentRequest,
  PayoutNews,
  PayoutRequest,
  ProviderEvent,
} from './payment-provider.ts'

const TIMEOUT_MS = 10_000

/**
 * Stripe: Checkout for payments, Connect (Express accounts, transfers) for payouts. Its idempotency keys last at least
 * a day, so anything that may be requested later than that is looked up first.
 */
export function stripeProvider({
  secretKey,
  webhookSecret,
  apiAddress,
}: NonNullable<ServerConfig['market']['stripe']>) {
  const stripe = new Stripe(secretKey, {
    ...(apiAddress === null ? {} : addressOf(apiAddress)),
    timeout: TIMEOUT_MS,
    // Uses fetch like all other outgoing requests, so that the proxy applies.
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 1,
    telemetry: false,
    appInfo: { name: 'AgentGym' },
  })
  const provider: PaymentProvider = {
    name: 'stripe',
    startPayment: async (request) => {
      const session = await callStripe(() =>
        stripe.checkout.sessions.create(checkoutOf(request), { idempotencyKey: `payment-${request.id}` }),
      )
      return { reference: session.id, checkoutUrl: session.url, news: newsOfSession(session) }
    },
    readPayment: async (_, reference) =>
      newsOfSession(await callStripe(() => stripe.checkout.sessions.retrieve(reference))),
    cancelPayment: async (reference) => {
      // A session that has already ended cannot be expired.
      await callStripe(() => stripe.checkout.sessions.expire(reference)).catch((error: AgentGymError) => {
        if (error.code !== 'payment_declined') throw error
      })
    },
    createDestination: ({ accountId, email }) => callStripe(() => createAccount(stripe, accountId, email)),
    readDestination: (providerAccount, returnUrl) =>
      callStripe(() => readDestination(stripe, providerAccount, returnUrl)),
    sendPayout: (request) => sendTransfer(stripe, request),
    readEvent: (body, signature) => readStripeEvent(stripe, webhookSecret, body, signature),
  }
  return provider
}

function addressOf(address: string) {
  const { protocol, hostname, port } = new URL(address)
  return {
    protocol: protocol === 'http:' ? ('http' as const) : ('https' as const),
    host: hostname,
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
  }
}

function checkoutOf(request: PaymentRequest): Stripe.Checkout.SessionCreateParams {
  const { id, amountMinor, currency, description, email, returnUrl, expiresAt } = request
  const metadata = { payment_id: id }
  return {
    mode: 'payment',
    client_reference_id: id,
    metadata,
    // Later events about the charge, such as a dispute, carry only these.
    payment_intent_data: { metadata, description },
    line_items: [
      {
        quantity: 1,
        price_data: { currency: currency.toLowerCase(), unit_amount: amountMinor, product_data: { name: description } },
      },
    ],
    ...(email === null ? {} : { customer_email: email }),
    ...(expiresAt === null ? {} : { expires_at: Math.floor(expiresAt.getTime() / 1_000) }),
    success_url: returnUrl,
    cancel_url: returnUrl,
  }
}

function newsOfSession(session: Stripe.Checkout.Session): PaymentNews | null {
  if (session.payment_status === 'paid')
    return {
      kind: 'succeeded',
      amountMinor: session.amount_total ?? 0,
      currency: (session.currency ?? '').toUpperCase(),
    }
  return session.status === 'expired' ? { kind: 'expired' } : null
}

async function createAccount(stripe: Stripe, accountId: string, email: string | null) {
  const account = await stripe.accounts.create(
    {
      type: 'express',
      ...(email === null ? {} : { email }),
      capabilities: { transfers: { requested: true } },
      metadata: { account_id: accountId },
    },
    { idempotencyKey: `destination-${accountId}` },
  )
  return { providerAccount: account.id }
}

async function readDestination(stripe: Stripe, providerAccount: string, returnUrl: string): Promise<Destination> {
  const account = await stripe.accounts.retrieve(providerAccount, { expand: ['external_accounts'] })
  const ready = account.payouts_enabled && account.capabilities?.transfers === 'active'
  const onboarding = { account: providerAccount, type: 'account_onboarding' as const }
  const link = ready
    ? null
    : await stripe.accountLinks.create({ ...onboarding, refresh_url: returnUrl, return_url: returnUrl })
  const [bank] = account.external_accounts?.data ?? []
  return { providerAccount, ready, payee: bank?.fingerprint ?? null, onboardingUrl: link?.url ?? null }
}

/**
 * Transfers money to the seller's account at Stripe, which pays it to their bank. Finds an existing transfer by its
 * group, however old it is.
 */
async function sendTransfer(stripe: Stripe, request: PayoutRequest): Promise<PayoutNews> {
  const { id, amountMinor, currency, providerAccount, refusals } = request
  const { data } = await callStripe(() => stripe.transfers.list({ transfer_group: id, limit: 1 }))
  const made = data.at(0)
  if (made !== undefined) return { kind: 'paid', reference: made.id }
  try {
    const transfer = await callStripe(() =>
      stripe.transfers.create(
        {
          amount: amountMinor,
          currency: currency.toLowerCase(),
          destination: providerAccount,
          transfer_group: id,
          metadata: { payout_id: id },
        },
        { idempotencyKey: `payout-${id}-${refusals}` },
      ),
    )
    return { kind: 'paid', reference: transfer.id }
  } catch (error) {
    if (!(error instanceof AgentGymError) || error.code !== 'payment_declined') throw error
    // The money has not reached Stripe's balance yet: retried later with another idempotency key.
    if (error.data?.provider_code === 'balance_insufficient') return { kind: 'not_yet' }
    return { kind: 'failed', message: error.message }
  }
}

/**
 * Maps Stripe's errors to ours. A refusal is `payment_declined`; after any other error the outcome is unknown. That
 * includes an idempotency key whose first request is in progress or failed at Stripe.
 */
async function callStripe<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error
    const refused =
      error instanceof Stripe.errors.StripeCardError || error instanceof Stripe.errors.StripeInvalidRequestError
    const transient = error.code === 'lock_timeout' || error.statusCode === 409
    if (refused && !transient)
      throw new AgentGymError({
        code: 'payment_declined',
        message: `Stripe rejected the request: ${error.message}`,
        hint: 'Fix the problem named in the message, or use another payment method.',
        data: { provider_code: error.code ?? null },
      })
    throw new AgentGymError({
      code: 'payment_provider_unavailable',
      message: 'Stripe is unavailable. Nothing is lost.',
      hint: 'Try again later with the same Idempotency-Key.',
      data: { provider_code: error.code ?? error.type },
    })
  }
}

/** Stripe's own recommendation. */
const TOLERANCE_SECONDS = 300

const uuid = z.uuid()

/**
 * A Stripe webhook with verified age and signature over the raw body. Its subject is read from our IDs in its objects;
 * a dispute only refers to its payment, which is fetched from Stripe.
 */
async function readStripeEvent(
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
    // Any error: the SDK throws other errors for malformed headers.
    throw new AgentGymError({
      code: 'webhook_signature_invalid',
      message: 'The Stripe signature does not match the body, or is older than five minutes.',
      hint: 'AGENTGYM_STRIPE_WEBHOOK_SECRET must be the signing secret of this endpoint at Stripe.',
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
  // Completed, but the payment arrives later with another event.
  if (session.payment_status !== 'paid') return { about: null, data }
  return { about: { paymentId, news: { kind: 'succeeded', amountMinor, currency } }, data }
}

async function ofDispute(
  stripe: Stripe,
  type: string,
  dispute: Stripe.Dispute,
): Promise<Pick<ProviderEvent, 'about' | 'data'>> {
  const data = { dispute: dispute.id, amount: dispute.amount, status: dispute.status, reason: dispute.reason }
  // An inquiry: no money has been moved yet.
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

/** A refund on Stripe's own pages. `amount_refunded` is cumulative, so the total identifies each partial refund. */
function ofRefund(charge: Stripe.Charge): Pick<ProviderEvent, 'about' | 'data'> {
  const data = { charge: charge.id, amount_refunded: charge.amount_refunded }
  const paymentId = ours(charge.metadata.payment_id)
  if (paymentId === null) return { about: null, data }
  const why = 'refunded at the payment provider'
  const news = { kind: 'taken_back', disputeId: charge.id, amountMinor: charge.amount_refunded, why } as const
  return { about: { paymentId, news }, data }
}

function ofReversal(transfer: Stripe.Transfer): Pick<ProviderEvent, 'about' | 'data'> {
  const data = { transfer: transfer.id, amount_reversed: transfer.amount_reversed }
  const payoutId = ours(transfer.metadata.payout_id)
  if (payoutId === null) return { about: null, data }
  const message = 'The payment provider reversed the transfer.'
  return { about: { payoutId, news: { kind: 'returned', returnedMinor: transfer.amount_reversed, message } }, data }
}

/** Other programs may share the Stripe account, so objects without our IDs are ignored. */
function ours(id: string | undefined): string | null {
  return uuid.safeParse(id).data ?? null
}
