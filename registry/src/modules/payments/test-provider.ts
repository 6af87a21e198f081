import { createHmac, timingSafeEqual } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import type { ServerConfig } from '../../core/services.ts'
import type { PaymentProvider, PaymentRequest } from './payment-provider.ts'

/** How long a payout with an amount ending in 17 takes. */
const UNDER_WAY_MS = 60_000

/**
 * Test money, with failures on demand. `testOutcome` determines the result of a payment: `succeeds` (default),
 * `declined`, `pending` (decided on its checkout page), or `disputed` (paid, then disputed within about a minute).
 * Payouts with an amount ending in 13 fail, in 17 are paid after a minute, and all others immediately.
 */
export function testProvider(config: Pick<ServerConfig, 'publicUrl' | 'secret'>): PaymentProvider {
  return {
    name: 'test',
    startPayment: async (request) => {
      if (request.testOutcome === 'declined')
        throw new AgentGymError({
          code: 'payment_declined',
          message: 'The card was declined, as requested by test_outcome.',
          hint: 'Omit test_outcome, or use another payment method.',
        })
      if (request.testOutcome === 'pending')
        return { reference: request.id, checkoutUrl: testCheckoutUrl(config, request.id), news: null }
      return { reference: request.id, checkoutUrl: null, news: paid(request) }
    },
    readPayment: async ({ testOutcome, expiresAt, ...request }) => {
      if (testOutcome !== 'pending') return paid(request)
      return expiresAt !== null && expiresAt.getTime() <= Date.now() ? { kind: 'expired' } : null
    },
    cancelPayment: async () => {},
    createDestination: async ({ accountId }) => ({ providerAccount: `test_${accountId}` }),
    readDestination: async (providerAccount) => ({ providerAccount, ready: true, payee: null, onboardingUrl: null }),
    sendPayout: async ({ id, amountMinor, createdAt }) => {
      if (amountMinor % 100 === 13) return { kind: 'failed', message: 'The bank account does not exist.' }
      if (amountMinor % 100 === 17 && Date.now() - createdAt.getTime() < UNDER_WAY_MS) return null
      return { kind: 'paid', reference: id }
    },
    readEvent: async () => {
      throw new AgentGymError({
        code: 'webhook_signature_invalid',
        message: 'This server does not accept Stripe payments.',
        hint: 'Set AGENTGYM_STRIPE_SECRET_KEY and AGENTGYM_STRIPE_WEBHOOK_SECRET.',
      })
    },
  }
}

function paid({ amountMinor, currency }: Pick<PaymentRequest, 'amountMinor' | 'currency'>) {
  return { kind: 'succeeded' as const, amountMinor, currency }
}

/** URL of the test provider's checkout page. As with any provider, anyone with the URL may pay. */
function testCheckoutUrl({ publicUrl, secret }: Pick<ServerConfig, 'publicUrl' | 'secret'>, id: string): string {
  return `${publicUrl}/test-checkout?payment=${id}&proof=${proofOf(secret, id)}`
}

export function isTestCheckout({ secret }: Pick<ServerConfig, 'secret'>, id: string, proof: string): boolean {
  const expected = Buffer.from(proofOf(secret, id))
  const given = Buffer.from(proof)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function proofOf(secret: Uint8Array, id: string): string {
  return createHmac('sha256', secret).update(`test checkout\n${id}`).digest('base64url')
}
