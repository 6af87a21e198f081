import type { Services } from '../../core/services.ts'

/** A payment to be made. */
export type PaymentRequest = {
  /** Our id. The same id never starts two payments. */
  id: string
  amountMinor: number
  currency: string
  /** Shown to the payer. */
  description: string
  /** Address for a receipt; null if unknown. */
  email: string | null
  /** Where the payer returns to, whatever the outcome. */
  returnUrl: string
  /** Deadline for paying; null if there is none. */
  expiresAt: Date | null
  /** For the provider `test` only. */
  testOutcome: string | null
}

/** What happened to a payment. May repeat, arrive late and in any order: see `settlePayment`. */
export type PaymentNews =
  /** The money has arrived. */
  | { kind: 'succeeded'; amountMinor: number; currency: string }
  /** The reason in the provider's words, for the payer. */
  | { kind: 'failed'; message: string }
  | { kind: 'expired' }
  /** The provider took money back: the payer's bank reclaimed it, or it was refunded on the provider's own pages. */
  | {
      kind: 'taken_back'
      /** The provider's id of the dispute or refund: each is applied once. */
      disputeId: string
      amountMinor: number
      why: string
    }
  /** A dispute was won: what was taken is back. */
  | { kind: 'given_again'; disputeId: string; amountMinor: number }

export type StartedPayment = {
  /** The provider's own id for it. */
  reference: string
  /** Where to pay; null if nothing is left to do. */
  checkoutUrl: string | null
  /** The outcome, if it is known at once. */
  news: PaymentNews | null
}

/** A payout to a seller. */
export type PayoutRequest = {
  /** Our id. The same id is never paid twice, however often and however late it is requested again. */
  id: string
  amountMinor: number
  currency: string
  /** The seller's account at the provider. */
  providerAccount: string
  createdAt: Date
  /** How often the provider has answered `not_yet`: it repeats its answer to a request that it knows. */
  refusals: number
}

export type PayoutNews =
  | { kind: 'paid'; reference: string }
  | { kind: 'failed'; message: string }
  /** It was certainly not made, and may be requested again. */
  | { kind: 'not_yet' }
  /** A payout came back. `returnedMinor`: the total so far. */
  | { kind: 'returned'; returnedMinor: number; message: string }

export type Destination = {
  providerAccount: string
  /** Whether payouts can go there now. */
  ready: boolean
  /** The same for destinations that pay into one bank account; null if the provider does not report it. */
  payee: string | null
  /** Where the seller completes the provider's form; null if there is nothing to do. */
  onboardingUrl: string | null
}

/** An event sent by a provider. Each has an id and counts once. */
export type ProviderEvent = {
  id: string
  type: string
  /** Null if it does not concern us. */
  about:
    | { paymentId: string; news: PaymentNews }
    | { payoutId: string; news: PayoutNews }
    | { providerAccount: string }
    | null
  /** What we keep of it: ids and amounts, nothing about the payer. */
  data: Record<string, unknown>
}

/**
 * Takes money from buyers and pays it to sellers. Every call may be repeated with the same id and then does nothing
 * new, because a process may end between the call and its answer. Throws `payment_provider_unavailable` if it is
 * unknown whether it was done: the caller retries later.
 */
export type PaymentProvider = {
  readonly name: 'test' | 'stripe'
  /** Throws `payment_declined` if it can never be paid. */
  startPayment(request: PaymentRequest): Promise<StartedPayment>
  /** Asks for the outcome; null while it is open. */
  readPayment(request: PaymentRequest, reference: string): Promise<PaymentNews | null>
  /** Ends a payment that should no longer be paid. If it was paid already, the news reports it. */
  cancelPayment(reference: string): Promise<void>
  /** Creates the seller's account at the provider; the same `accountId` gets only one. */
  createDestination(seller: { accountId: string; email: string | null }): Promise<{ providerAccount: string }>
  readDestination(providerAccount: string, returnUrl: string): Promise<Destination>
  /** Null while it is in progress. */
  sendPayout(request: PayoutRequest): Promise<PayoutNews | null>
  /** Reads and verifies an event received over the network. Throws `webhook_signature_invalid`. */
  readEvent(body: Uint8Array, signature: string | undefined): Promise<ProviderEvent>
}

/** The services, plus what payments keep in a process. */
export type PaymentServices = Services & {
  /** The provider that this installation uses: Stripe where it is configured, otherwise `test`. */
  paymentProvider(): Promise<PaymentProvider>
}

/** The name of the provider that this installation uses. */
export function providerName({ config }: Pick<Services, 'config'>): PaymentProvider['name'] {
  return config.market.stripe === null ? 'test' : 'stripe'
}
