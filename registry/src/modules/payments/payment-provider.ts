import type { Services } from '../../core/services.ts'

/** A payment to be made. */
export type PaymentRequest = {
  /** Our ID. The same ID never starts two payments. */
  id: string
  amountMinor: number
  currency: string
  /** Shown to the payer. */
  description: string
  /** Address for a receipt; null if unknown. */
  email: string | null
  /** URL to which the payer returns, whatever the outcome. */
  returnUrl: string
  /** Deadline for paying; null if there is none. */
  expiresAt: Date | null
  /** For the provider `test` only. */
  testOutcome: string | null
}

/** News about a payment. May repeat, and arrive late and in any order: see `settlePayment`. */
export type PaymentNews =
  /** The money has arrived. */
  | { kind: 'succeeded'; amountMinor: number; currency: string }
  /** The provider's reason, for the payer. */
  | { kind: 'failed'; message: string }
  | { kind: 'expired' }
  /** The payment was reversed: disputed by the payer's bank, or refunded on the provider's own pages. */
  | {
      kind: 'taken_back'
      /** The provider's ID of the dispute or refund. Each is applied once. */
      disputeId: string
      amountMinor: number
      why: string
    }
  /** A dispute was won, and the money returned. */
  | { kind: 'given_again'; disputeId: string; amountMinor: number }

export type StartedPayment = {
  /** The provider's ID for it. */
  reference: string
  /** Payment URL; null if nothing is left to do. */
  checkoutUrl: string | null
  /** The outcome, if it is known immediately. */
  news: PaymentNews | null
}

/** A payout to a seller. */
export type PayoutRequest = {
  /** Our ID. The same ID is never paid twice, however often and late it is requested again. */
  id: string
  amountMinor: number
  currency: string
  /** The seller's account at the provider. */
  providerAccount: string
  createdAt: Date
  /**
   * How often the provider answered `not_yet`. Part of the idempotency key, because the provider repeats its answers.
   */
  refusals: number
}

export type PayoutNews =
  | { kind: 'paid'; reference: string }
  | { kind: 'failed'; message: string }
  /** It was definitely not made, and may be requested again. */
  | { kind: 'not_yet' }
  /** A payout was returned. `returnedMinor`: the total so far. */
  | { kind: 'returned'; returnedMinor: number; message: string }

export type Destination = {
  providerAccount: string
  /** Whether payouts can go there now. */
  ready: boolean
  /** Equal for destinations with the same bank account; null if the provider does not report it. */
  payee: string | null
  /** URL of the provider's onboarding form; null if there is nothing to do. */
  onboardingUrl: string | null
}

/** An event sent by a provider. Each has an ID and is processed once. */
export type ProviderEvent = {
  id: string
  type: string
  /** Null if it is irrelevant to us. */
  about:
    | { paymentId: string; news: PaymentNews }
    | { payoutId: string; news: PayoutNews }
    | { providerAccount: string }
    | null
  /** The part we store: IDs and amounts, nothing about the payer. */
  data: Record<string, unknown>
}

/**
 * Charges buyers and pays sellers. Every call is idempotent by ID, because a process may end between the call and its
 * response. Throws `payment_provider_unavailable` if the outcome is unknown: the caller retries later.
 */
export type PaymentProvider = {
  readonly name: 'test' | 'stripe'
  /** Throws `payment_declined` if it can never be paid. */
  startPayment(request: PaymentRequest): Promise<StartedPayment>
  /** Asks for the outcome; null while it is open. */
  readPayment(request: PaymentRequest, reference: string): Promise<PaymentNews | null>
  /** Cancels a payment. If it was already paid, the returned news reports it. */
  cancelPayment(reference: string): Promise<void>
  /** Creates the seller's account at the provider, at most one per `accountId`. */
  createDestination(seller: { accountId: string; email: string | null }): Promise<{ providerAccount: string }>
  readDestination(providerAccount: string, returnUrl: string): Promise<Destination>
  /** Null while it is in progress. */
  sendPayout(request: PayoutRequest): Promise<PayoutNews | null>
  /** Reads and verifies an event received over the network. Throws `webhook_signature_invalid`. */
  readEvent(body: Uint8Array, signature: string | undefined): Promise<ProviderEvent>
}

/** The services, plus the state of payments in this process. */
export type PaymentServices = Services & {
  /** The provider that this installation uses: Stripe where it is configured, otherwise `test`. */
  paymentProvider(): Promise<PaymentProvider>
}

/** The name of the provider that this installation uses. */
export function providerName({ config }: Pick<Services, 'config'>): PaymentProvider['name'] {
  return config.market.stripe === null ? 'test' : 'stripe'
}
