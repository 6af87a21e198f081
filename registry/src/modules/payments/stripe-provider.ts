import { AgentGymError } from '@agentgym/contract'
import Stripe from 'stripe'
import type { ServerConfig } from '../../core/services.ts'
import type {
  Destination,
  PaymentNews,
  PaymentProvider,
  PaymentRequest,
  PayoutNews,
  PayoutRequest,
} from './payment-provider.ts'
import { readStripeEvent } from './stripe-events.ts'

const TIMEOUT_MS = 10_000

/**
 * Stripe: Checkout for payments, Connect (Express accounts, transfers) for payouts. Its idempotency keys hold for a day at
 * least, so what may be asked for later than that is looked for first.
 */
export function stripeProvider({
  secretKey,
  webhookSecret,
  apiAddress,
}: NonNullable<ServerConfig['market']['stripe']>) {
  const stripe = new Stripe(secretKey, {
    ...(apiAddress === null ? {} : addressOf(apiAddress)),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 1,
    telemetry: false,
    appInfo: { name: 'AgentGym' },
  })
  const provider: PaymentProvider = {
    name: 'stripe',
    startPayment: async (request) => {
      const session = await asked(() =>
        stripe.checkout.sessions.create(checkoutOf(request), { idempotencyKey: `payment-${request.id}` }),
      )
      return { reference: session.id, checkoutUrl: session.url, news: newsOfSession(session) }
    },
    readPayment: async (_, reference) => newsOfSession(await asked(() => stripe.checkout.sessions.retrieve(reference))),
    cancelPayment: async (reference) => {
      // One that is over already cannot be ended, and need not be.
      await asked(() => stripe.checkout.sessions.expire(reference)).catch((error: AgentGymError) => {
        if (error.code !== 'payment_declined') throw error
      })
    },
    createDestination: ({ accountId, email }) => asked(() => createAccount(stripe, accountId, email)),
    readDestination: (providerAccount, returnUrl) => asked(() => readDestination(stripe, providerAccount, returnUrl)),
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
    // What is told of the charge later, a dispute say, knows only these.
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
 * Moves money to the seller's account at Stripe, which brings it to their bank. A transfer that was made before is found by
 * its group, however long ago that was.
 */
async function sendTransfer(stripe: Stripe, request: PayoutRequest): Promise<PayoutNews> {
  const { id, amountMinor, currency, providerAccount, refusals } = request
  const { data } = await asked(() => stripe.transfers.list({ transfer_group: id, limit: 1 }))
  const made = data.at(0)
  if (made !== undefined) return { kind: 'paid', reference: made.id }
  try {
    const transfer = await asked(() =>
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
    // The money is on its way to Stripe's balance: it will be there, and another key will find it.
    if (error.data?.provider_code === 'balance_insufficient') return { kind: 'not_yet' }
    return { kind: 'failed', message: error.message }
  }
}

/**
 * Stripe's failures as ours. What it refuses is `payment_declined`; of everything else nobody knows whether it was done.
 * An idempotency key whose first answer is being made, or was an error of Stripe's own, belongs there too.
 */
async function asked<Result>(call: () => Promise<Result>): Promise<Result> {
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
        message: `Stripe refuses: ${error.message}`,
        hint: 'Mend what the message names, or take another payment method.',
        data: { provider_code: error.code ?? null },
      })
    throw new AgentGymError({
      code: 'payment_provider_unavailable',
      message: 'Stripe cannot be asked now; nothing is lost.',
      hint: 'Try again in a while, with the same Idempotency-Key.',
      data: { provider_code: error.code ?? error.type },
    })
  }
}
