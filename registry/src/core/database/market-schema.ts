import type { OrderState, PriceKind } from '@agentgym/contract'
import type { ColumnType, JSONColumnType } from 'kysely'

type Fixed<Type> = ColumnType<Type, Type, never>
type FixedNullable<Type> = ColumnType<Type | null, Type | null | undefined, never>
type CreatedAt = ColumnType<Date, Date | undefined, never>
type Id = ColumnType<string, string | undefined, never>
type Counter = ColumnType<number, number | undefined, number>
type Nullable<Type> = ColumnType<Type | null, Type | null | undefined, Type | null>
type WithDefault<Type> = ColumnType<Type, Type | undefined, Type>

/** What a package costs from `effective_at` on. The latest entry not withdrawn applies. Amounts are in minor units. */
export type PriceTable = {
  id: Id
  package_id: Fixed<string>
  kind: Fixed<PriceKind>
  amount_minor: Fixed<number>
  currency: Fixed<string>
  effective_at: Fixed<Date>
  set_by: Fixed<string>
  /** When an announced increase was replaced by another before it took effect. */
  withdrawn_at: Nullable<Date>
  created_at: CreatedAt
}

export type SaleTermsTable = {
  package_id: Fixed<string>
  royalty_basis_points: Counter
  trial_calls: Counter
  /** Price of 1,000 hosted calls. */
  calls_price_minor: Counter
  terms: WithDefault<string>
  /** Announced values; null together. */
  next_royalty_basis_points: Nullable<number>
  next_calls_price_minor: Nullable<number>
  next_trial_calls: Nullable<number>
  next_at: Nullable<Date>
  updated_at: WithDefault<Date>
}

/** A purchase. Only `modules/orders/order-state.ts` changes its state. */
export type OrderTable = {
  id: Id
  state: OrderState
  buyer_id: Fixed<string>
  placed_by: Fixed<string>
  /** The token that placed it; null for a session. */
  token_id: FixedNullable<string>
  seller_id: Fixed<string>
  package_id: Fixed<string>
  version_id: Fixed<string>
  /** The major version; the license covers every version of it. */
  major: Fixed<number>
  price_id: FixedNullable<string>
  price_kind: Fixed<PriceKind>
  total_minor: Fixed<number>
  /** Parts of the total; the seller gets the rest. */
  fee_minor: Fixed<number>
  royalty_minor: Fixed<number>
  royalty_to: FixedNullable<string>
  refunded_minor: Counter
  currency: Fixed<string>
  pay_with: Fixed<'balance' | 'provider'>
  /** For a hosted-only scenario: the run it pays for. */
  run_id: Nullable<string>
  /** Where the buyer came from: `search`, `browse`, `link` or `command`; null if that is not known. */
  source: ColumnType<string | null, string | null | undefined, never>
  expires_at: Nullable<Date>
  created_at: CreatedAt
  paid_at: Nullable<Date>
  ended_at: Nullable<Date>
}

export type EntitlementTable = {
  order_id: Fixed<string>
  holder_id: Fixed<string>
  package_id: Fixed<string>
  major: Fixed<number>
  granted_at: CreatedAt
  revoked_at: Nullable<Date>
  /** First download. After it, the buyer can no longer refund the order without the seller. */
  used_at: Nullable<Date>
}

export type RefundTable = {
  id: Id
  order_id: Fixed<string>
  kind: Fixed<'refund' | 'chargeback'>
  amount_minor: Fixed<number>
  fee_minor: Fixed<number>
  royalty_minor: Fixed<number>
  reason: Fixed<string>
  /** Null if the marketplace issued it automatically. */
  given_by: FixedNullable<string>
  created_at: CreatedAt
}

export type PaymentTable = {
  id: Id
  purpose: Fixed<'top_up' | 'order'>
  state: WithDefault<'pending' | 'succeeded' | 'failed' | 'expired' | 'disputed'>
  provider: Fixed<string>
  account_id: Fixed<string>
  created_by: Fixed<string>
  order_id: FixedNullable<string>
  amount_minor: Fixed<number>
  currency: Fixed<string>
  provider_reference: Nullable<string>
  checkout_url: Nullable<string>
  message: Nullable<string>
  test_outcome: FixedNullable<string>
  created_at: CreatedAt
  ended_at: Nullable<Date>
}

/** Total that the provider has reversed so far (by a dispute, or a refund on the provider's own pages). */
export type PaymentDisputeTable = {
  payment_id: Fixed<string>
  dispute_id: Fixed<string>
  taken_minor: Counter
  given_minor: Counter
  /** The part already applied to the ledger. */
  applied_minor: Counter
  changes: Counter
}

/** Provider events, each processed once. */
export type PaymentEventTable = {
  provider: Fixed<string>
  event_id: Fixed<string>
  type: Fixed<string>
  payment_id: FixedNullable<string>
  outcome: Fixed<string>
  data: JSONColumnType<Record<string, unknown>, string, never>
  received_at: CreatedAt
}

export type PayoutDestinationTable = {
  account_id: Fixed<string>
  provider: string
  provider_account: string
  ready: WithDefault<boolean>
  /** The same for destinations that pay into one bank account, as far as the provider reports it. */
  payee: Nullable<string>
  created_at: CreatedAt
}

export type PayoutTable = {
  id: Id
  account_id: Fixed<string>
  requested_by: Fixed<string>
  state: WithDefault<'pending' | 'paid' | 'failed'>
  amount_minor: Fixed<number>
  currency: Fixed<string>
  provider: Fixed<string>
  provider_account: Fixed<string>
  provider_reference: Nullable<string>
  /** How often the provider answered that the payout cannot be made yet. */
  refusals: Counter
  /** Amount returned after the payout was paid. */
  returned_minor: Counter
  message: Nullable<string>
  created_at: CreatedAt
  ended_at: Nullable<Date>
}

/** A null `token_id` means that the cap applies to the whole account. */
export type SpendCapTable = {
  id: Id
  account_id: Fixed<string>
  token_id: FixedNullable<string>
  /** `calls`: a limit of what 1,000 hosted calls may cost. */
  period: Fixed<'day' | 'month' | 'total' | 'calls'>
  amount_minor: number
  /** Null for a cap set before currencies were recorded: the installation's. */
  currency: Nullable<string>
  set_by: string
  created_at: CreatedAt
}

/** Stored answers to writes, kept for 30 days, and longer if the cleanup task does not run. */
export type IdempotencyKeyTable = {
  actor_id: Fixed<string>
  key: Fixed<string>
  action: Fixed<string>
  request_hash: Fixed<string>
  /** 0 within the transaction that produces the answer; not visible to others. */
  status: number
  answer: JSONColumnType<Record<string, unknown>, string, string>
  created_at: CreatedAt
}

/** Hosted calls, as reported by the process that served them. */
export type UsageEventTable = {
  id: Fixed<string>
  account_id: Fixed<string>
  package_id: Fixed<string>
  version_id: Fixed<string>
  calls: Fixed<number>
  /** How many of them were trial calls. */
  trial_calls: WithDefault<number>
  /** Price of 1,000 calls when they were made. */
  price_minor: Fixed<number>
  at: Fixed<Date>
  /** Null for usage counted before currencies were recorded and not posted yet: the installation's. */
  currency: Nullable<string>
  /** The token used, if the marketplace served the call. */
  token_id: FixedNullable<string>
  created_at: CreatedAt
  batch_id: Nullable<string>
}

/**
 * A batch of usage, posted to the ledger at once. `remainder`: thousandths of a minor unit, carried to the next batch.
 */
export type UsageBatchTable = {
  id: Fixed<string>
  /** The order of posting. */
  seq: ColumnType<number, never, never>
  account_id: Fixed<string>
  package_id: Fixed<string>
  version_id: Fixed<string>
  seller_id: Fixed<string>
  calls: Fixed<number>
  amount_minor: Fixed<number>
  fee_minor: ColumnType<number, number | undefined, never>
  royalty_minor: ColumnType<number, number | undefined, never>
  royalty_to: FixedNullable<string>
  remainder: Fixed<number>
  currency: Fixed<string>
  created_at: CreatedAt
}

/**
 * What an account's balance holds for its hosted calls: those in progress, and answered ones not posted yet. Only
 * `modules/metering/call-holds.ts` writes it.
 */
export type CallHoldTable = {
  account_id: Fixed<string>
  currency: Fixed<string>
  held_minor: Counter
  /** The pending transfer; null if nothing is held. */
  transfer_id: Nullable<string>
  /** The part not reserved for any call at the last count, in thousandths of a minor unit. */
  free_thousandths: Counter
  changed_at: WithDefault<Date>
}

/** Calls an account made to an agent before buying it. */
export type TrialTable = { account_id: Fixed<string>; package_id: Fixed<string>; calls: number }

export type ReviewTable = {
  id: Id
  package_id: Fixed<string>
  version_id: Fixed<string>
  author_id: Fixed<string>
  stars: number
  text: string
  reply: Nullable<string>
  reply_by: Nullable<string>
  replied_at: Nullable<Date>
  hidden_at: Nullable<Date>
  /** Null also if it was hidden before reasons were kept here. */
  hidden_reason: Nullable<string>
  /** When the author withdrew it; its text is deleted. */
  deleted_at: Nullable<Date>
  created_at: CreatedAt
  updated_at: WithDefault<Date>
}

export type ReportTable = {
  id: Id
  package_id: Fixed<string>
  review_id: Nullable<string>
  /** The appealed removal of an episode. */
  demonstration_id: Nullable<string>
  reason: Fixed<string>
  /** The reason of the appealed decision. */
  appealed_reason: Nullable<string>
  text: Fixed<string>
  reported_by: Fixed<string>
  state: WithDefault<'open' | 'dismissed' | 'upheld'>
  decided_by: Nullable<string>
  decision: Nullable<string>
  decided_at: Nullable<Date>
  created_at: CreatedAt
}

export type MarketSchema = {
  prices: PriceTable
  sale_terms: SaleTermsTable
  orders: OrderTable
  entitlements: EntitlementTable
  refunds: RefundTable
  payments: PaymentTable
  payment_disputes: PaymentDisputeTable
  payment_events: PaymentEventTable
  payout_destinations: PayoutDestinationTable
  payouts: PayoutTable
  spend_caps: SpendCapTable
  idempotency_keys: IdempotencyKeyTable
  usage_events: UsageEventTable
  usage_batches: UsageBatchTable
  call_holds: CallHoldTable
  trials: TrialTable
  reviews: ReviewTable
  reports: ReportTable
}
