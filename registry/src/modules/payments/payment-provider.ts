import type { Services } from '../../core/services.ts'

/** What somebody is to pay. */
export type PaymentRequest = {
  /** Ours. The same id never begins two payments. */
  id: string
  amountMinor: number
  currency: string
  /** As the payer reads it. */
  description: string
  /** Where a receipt may go; null where nothing is known. */
  email: string | null
  /** Where the payer comes back to, whatever they did. */
  returnUrl: string
  /** Until when it can be paid; null where that does not matter. */
  expiresAt: Date | null
  /** The provider `test` only. */
  testOutcome: string | null
}

/** What became of a payment. Repeats, comes late and in any order: see `settlePayment`. */
export type PaymentNews =
  /** The money is there. */
  | { kind: 'succeeded'; amountMinor: number; currency: string }
  /** In the provider's words, for the payer. */
  | { kind: 'failed'; message: string }
  | { kind: 'expired' }
  /** The provider took money back: the payer's bank wants it, or it was given back on the provider's own pages. */
  | {
      kind: 'taken_back'
      /** The provider's id of the dispute or of the refund: each takes once. */
      disputeId: string
      amountMinor: number
      why: string
    }
  /** A dispute was won: what was taken is there again. */
  | { kind: 'given_again'; disputeId: string; amountMinor: number }

export type StartedPayment = {
  /** The provider's own id of it. */
  reference: string
  /** Where to pay; null where nothing is left to do. */
  checkoutUrl: string | null
  /** What is known at once. */
  news: PaymentNews | null
}

/** What is to be paid to a seller. */
export type PayoutRequest = {
  /** Ours. The same id is never paid twice, however often and however late it is asked for again. */
  id: string
  amountMinor: number
  currency: string
  /** The seller's account at the provider. */
  providerAccount: string
  createdAt: Date
  /** So many times the provider has said `not_yet`: it answers a request that it knows as it did before. */
  refusals: number
}

export type PayoutNews =
  | { kind: 'paid'; reference: string }
  | { kind: 'failed'; message: string }
  /** It was not made, for certain, and may be asked for again. */
  | { kind: 'not_yet' }
  /** What was paid out came back. `returnedMinor`: in all, up to now. */
  | { kind: 'returned'; returnedMinor: number; message: string }

export type Destination = {
  providerAccount: string
  /** Whether payouts can go there now. */
  ready: boolean
  /** The same for destinations that pay to one bank account; null where the provider does not tell. */
  payee: string | null
  /** Where the seller completes the provider's form; null where there is nothing to do. */
  onboardingUrl: string | null
}

/** Something that a provider tells by itself. Each has an id, and counts once. */
export type ProviderEvent = {
  id: string
  type: string
  /** Null where it is nothing of ours. */
  about:
    | { paymentId: string; news: PaymentNews }
    | { payoutId: string; news: PayoutNews }
    | { providerAccount: string }
    | null
  /** What is kept of it: ids and amounts, nothing of the payer. */
  data: Record<string, unknown>
}

/**
 * Who takes money from buyers and brings it to sellers. Every call may be made again with the same id and then does nothing
 * new, for a process may end between the call and its answer. Throws `payment_provider_unavailable` where it cannot be
 * known whether it was done: whoever asks asks again later.
 */
export type PaymentProvider = {
  readonly name: 'test' | 'stripe'
  /** Throws `payment_declined` where it can never be paid. */
  startPayment(request: PaymentRequest): Promise<StartedPayment>
  /** Asks what became of it; null while that is open. */
  readPayment(request: PaymentRequest, reference: string): Promise<PaymentNews | null>
  /** Nobody is to pay it any more. It may have been paid already: then the news tell. */
  cancelPayment(reference: string): Promise<void>
  /** Makes the seller's account at the provider; the same `accountId` gets one. */
  createDestination(seller: { accountId: string; email: string | null }): Promise<{ providerAccount: string }>
  readDestination(providerAccount: string, returnUrl: string): Promise<Destination>
  /** Null where it is under way. */
  sendPayout(request: PayoutRequest): Promise<PayoutNews | null>
  /** Reads and verifies what came over the network. Throws `webhook_signature_invalid`. */
  readEvent(body: Uint8Array, signature: string | undefined): Promise<ProviderEvent>
}

/** The services with what payments hold in a process. */
export type PaymentServices = Services & {
  /** The provider that this installation uses: Stripe where it is configured, otherwise `test`. */
  paymentProvider(): Promise<PaymentProvider>
}

/** The name of the provider that this installation uses. */
export function providerName({ config }: Pick<Services, 'config'>): PaymentProvider['name'] {
  return config.market.stripe === null ? 'test' : 'stripe'
}
