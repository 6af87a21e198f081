import type { Migration } from './migration.ts'

const appendOnly = (table: string, why: string) =>
  `create trigger ${table}_fixed before update or delete on ${table} for each row execute function refuse('${why}')`

/** Prices, orders and what they give the right to, payments and payouts. */
export const market: Migration = {
  name: '0008-market',
  statements: [
    `create table prices (
      id uuid constraint prices_pkey primary key default gen_random_uuid(),
      package_id uuid not null constraint prices_package_id_fkey references packages (id),
      kind text not null constraint prices_kind_check check (kind in ('free', 'one_time', 'per_run')),
      amount_minor bigint not null constraint prices_amount_minor_check check (amount_minor between 0 and 1000000000000000),
      currency text not null constraint prices_currency_check check (currency ~ '^[A-Z]{3}$'),
      effective_at timestamptz(3) not null,
      set_by uuid not null constraint prices_set_by_fkey references accounts (id),
      withdrawn_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      constraint prices_free_check check ((kind = 'free') = (amount_minor = 0))
    )`,
    'create index prices_package_id_idx on prices (package_id, effective_at)',
    // One raise is announced at a time: another takes its place, before it has held.
    'create index prices_effective_at_idx on prices (effective_at) where withdrawn_at is null',
    `create trigger prices_fixed before update on prices for each row
      when (old.id is distinct from new.id or old.package_id is distinct from new.package_id or old.kind is distinct from new.kind
        or old.amount_minor is distinct from new.amount_minor or old.currency is distinct from new.currency
        or old.effective_at is distinct from new.effective_at or old.created_at is distinct from new.created_at
        or old.withdrawn_at is not null or new.withdrawn_at >= old.effective_at)
      execute function refuse('a price is never changed, only withdrawn before it holds')`,
    "create trigger prices_kept before delete on prices for each row execute function refuse('prices are kept')",
    `create table sale_terms (
      package_id uuid constraint sale_terms_pkey primary key
        constraint sale_terms_package_id_fkey references packages (id),
      royalty_basis_points integer not null default 0
        constraint sale_terms_royalty_check check (royalty_basis_points between 0 and 10000),
      trial_calls integer not null default 0 constraint sale_terms_trial_calls_check check (trial_calls >= 0),
      calls_price_minor bigint not null default 0
        constraint sale_terms_calls_price_check check (calls_price_minor between 0 and 1000000000000),
      terms text not null default '',
      -- What is announced: it holds from next_at on, and upkeep puts it in the place of what holds.
      next_royalty_basis_points integer,
      next_calls_price_minor bigint,
      next_at timestamptz(3),
      updated_at timestamptz(3) not null default now(),
      constraint sale_terms_next_check check (
        (next_at is null) = (next_royalty_basis_points is null) and (next_at is null) = (next_calls_price_minor is null)
        and coalesce(next_royalty_basis_points, 0) between 0 and 10000
        and coalesce(next_calls_price_minor, 0) between 0 and 1000000000000)
    )`,
    'create index sale_terms_next_at_idx on sale_terms (next_at) where next_at is not null',
    `create table orders (
      id uuid constraint orders_pkey primary key default gen_random_uuid(),
      state text not null constraint orders_state_check
        check (state in ('awaiting_payment', 'paid', 'cancelled', 'expired', 'refunded', 'charged_back')),
      buyer_id uuid not null constraint orders_buyer_id_fkey references accounts (id),
      placed_by uuid not null constraint orders_placed_by_fkey references accounts (id),
      token_id uuid constraint orders_token_id_fkey references tokens (id),
      seller_id uuid not null constraint orders_seller_id_fkey references accounts (id),
      package_id uuid not null constraint orders_package_id_fkey references packages (id),
      version_id uuid not null constraint orders_version_id_fkey references versions (id),
      major bigint not null,
      price_id uuid constraint orders_price_id_fkey references prices (id),
      price_kind text not null constraint orders_price_kind_check check (price_kind in ('free', 'one_time', 'per_run')),
      total_minor bigint not null constraint orders_total_minor_check check (total_minor between 0 and 1000000000000000),
      fee_minor bigint not null default 0 constraint orders_fee_minor_check check (fee_minor >= 0),
      royalty_minor bigint not null default 0 constraint orders_royalty_minor_check check (royalty_minor >= 0),
      royalty_to uuid constraint orders_royalty_to_fkey references accounts (id),
      refunded_minor bigint not null default 0,
      currency text not null,
      pay_with text not null constraint orders_pay_with_check check (pay_with in ('balance', 'provider')),
      run_id uuid constraint orders_run_id_fkey references training_runs (id),
      expires_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      paid_at timestamptz(3),
      ended_at timestamptz(3),
      constraint orders_parts_check check (fee_minor + royalty_minor <= total_minor),
      constraint orders_refunded_check check (refunded_minor between 0 and total_minor),
      constraint orders_royalty_to_check check ((royalty_minor = 0) or (royalty_to is not null)),
      constraint orders_other_check check (buyer_id <> seller_id),
      constraint orders_ended_at_check check ((ended_at is null) = (state in ('awaiting_payment', 'paid')))
    )`,
    // A run is paid for once; one that ended before it trained, and goes on later, is ordered again.
    "create unique index orders_run_id_key on orders (run_id) where state <> 'cancelled'",
    'create index orders_buyer_idx on orders (buyer_id, created_at, id)',
    'create index orders_seller_idx on orders (seller_id, created_at, id)',
    'create index orders_royalty_to_idx on orders (royalty_to, created_at, id) where royalty_to is not null',
    'create index orders_package_idx on orders (package_id, created_at)',
    'create index orders_token_idx on orders (token_id, created_at) where token_id is not null',
    "create index orders_expires_at_idx on orders (expires_at) where state = 'awaiting_payment'",
    `create trigger orders_ended_once before update of state on orders for each row
      when (old.state in ('cancelled', 'expired', 'refunded', 'charged_back') and old.state is distinct from new.state)
      execute function refuse('an order ends once')`,
    `create trigger orders_fixed before update on orders for each row
      when (old.buyer_id is distinct from new.buyer_id or old.seller_id is distinct from new.seller_id
        or old.package_id is distinct from new.package_id or old.version_id is distinct from new.version_id
        or old.major is distinct from new.major or old.total_minor is distinct from new.total_minor
        or old.fee_minor is distinct from new.fee_minor or old.royalty_minor is distinct from new.royalty_minor
        or old.royalty_to is distinct from new.royalty_to or old.currency is distinct from new.currency
        or old.price_kind is distinct from new.price_kind or old.refunded_minor > new.refunded_minor)
      execute function refuse('what was ordered is never changed')`,
    "create trigger orders_kept before delete on orders for each row execute function refuse('orders are kept')",
    `create table entitlements (
      order_id uuid constraint entitlements_pkey primary key
        constraint entitlements_order_id_fkey references orders (id),
      holder_id uuid not null constraint entitlements_holder_id_fkey references accounts (id),
      package_id uuid not null constraint entitlements_package_id_fkey references packages (id),
      major bigint not null,
      granted_at timestamptz(3) not null default now(),
      revoked_at timestamptz(3),
      used_at timestamptz(3)
    )`,
    // One license at a time: a second order for an owned license is refused, even concurrently.
    `create unique index entitlements_held_key on entitlements (holder_id, package_id, major) where revoked_at is null`,
    'create index entitlements_package_idx on entitlements (package_id) where revoked_at is null',
    "create trigger entitlements_kept before delete on entitlements for each row execute function refuse('entitlements are revoked, not deleted')",
    `create table refunds (
      id uuid constraint refunds_pkey primary key default gen_random_uuid(),
      order_id uuid not null constraint refunds_order_id_fkey references orders (id),
      kind text not null constraint refunds_kind_check check (kind in ('refund', 'chargeback')),
      amount_minor bigint not null constraint refunds_amount_minor_check check (amount_minor > 0),
      fee_minor bigint not null constraint refunds_fee_minor_check check (fee_minor >= 0),
      royalty_minor bigint not null constraint refunds_royalty_minor_check check (royalty_minor >= 0),
      reason text not null,
      given_by uuid constraint refunds_given_by_fkey references accounts (id),
      created_at timestamptz(3) not null default now()
    )`,
    'create index refunds_order_id_idx on refunds (order_id)',
    appendOnly('refunds', 'a refund is written once'),
    `create table payments (
      id uuid constraint payments_pkey primary key default gen_random_uuid(),
      purpose text not null constraint payments_purpose_check check (purpose in ('top_up', 'order')),
      state text not null default 'pending' constraint payments_state_check
        check (state in ('pending', 'succeeded', 'failed', 'expired', 'disputed')),
      provider text not null,
      account_id uuid not null constraint payments_account_id_fkey references accounts (id),
      created_by uuid not null constraint payments_created_by_fkey references accounts (id),
      order_id uuid constraint payments_order_id_fkey references orders (id),
      amount_minor bigint not null constraint payments_amount_minor_check check (amount_minor between 1 and 1000000000000000),
      currency text not null,
      provider_reference text,
      checkout_url text,
      message text,
      test_outcome text,
      created_at timestamptz(3) not null default now(),
      ended_at timestamptz(3),
      constraint payments_provider_reference_key unique (provider, provider_reference),
      constraint payments_order_check check ((purpose = 'order') = (order_id is not null))
    )`,
    'create index payments_account_idx on payments (account_id, created_at, id)',
    'create index payments_order_idx on payments (order_id)',
    `create trigger payments_fixed before update on payments for each row
      when (old.account_id is distinct from new.account_id or old.amount_minor is distinct from new.amount_minor
        or old.currency is distinct from new.currency or old.order_id is distinct from new.order_id
        or old.provider is distinct from new.provider
        or (old.state in ('succeeded', 'disputed') and new.state not in ('succeeded', 'disputed')))
      execute function refuse('what is to be paid is never changed, and what was paid stays so')`,
    "create index payments_pending_idx on payments (created_at) where state = 'pending'",
    `create table payment_events (
      provider text not null,
      event_id text not null,
      type text not null,
      payment_id uuid constraint payment_events_payment_id_fkey references payments (id),
      outcome text not null,
      data jsonb not null,
      received_at timestamptz(3) not null default now(),
      constraint payment_events_pkey primary key (provider, event_id)
    )`,
    appendOnly('payment_events', 'an event of a provider is written once'),
    // What the provider took back of a payment, and gave again, in all; applied: what of it stands in the ledger.
    `create table payment_disputes (
      payment_id uuid constraint payment_disputes_payment_id_fkey references payments (id),
      dispute_id text,
      taken_minor bigint not null default 0 constraint payment_disputes_taken_minor_check check (taken_minor >= 0),
      given_minor bigint not null default 0 constraint payment_disputes_given_minor_check check (given_minor >= 0),
      applied_minor bigint not null default 0,
      changes integer not null default 0,
      constraint payment_disputes_pkey primary key (payment_id, dispute_id),
      constraint payment_disputes_applied_check check (applied_minor between 0 and taken_minor)
    )`,
    `create table payout_destinations (
      account_id uuid constraint payout_destinations_pkey primary key
        constraint payout_destinations_account_id_fkey references accounts (id),
      provider text not null,
      provider_account text not null,
      ready boolean not null default false,
      -- The same for destinations that pay to one bank account, as far as the provider tells.
      payee text,
      created_at timestamptz(3) not null default now(),
      constraint payout_destinations_provider_account_key unique (provider, provider_account)
    )`,
    `create table payouts (
      id uuid constraint payouts_pkey primary key default gen_random_uuid(),
      account_id uuid not null constraint payouts_account_id_fkey references accounts (id),
      requested_by uuid not null constraint payouts_requested_by_fkey references accounts (id),
      state text not null default 'pending' constraint payouts_state_check check (state in ('pending', 'paid', 'failed')),
      amount_minor bigint not null constraint payouts_amount_minor_check check (amount_minor > 0),
      currency text not null,
      provider text not null,
      provider_account text not null,
      provider_reference text,
      -- So many times the provider has said that it could not be made yet.
      refusals integer not null default 0,
      -- What came back of a payout that was paid.
      returned_minor bigint not null default 0,
      message text,
      created_at timestamptz(3) not null default now(),
      ended_at timestamptz(3),
      constraint payouts_returned_minor_check check (returned_minor between 0 and amount_minor),
      constraint payouts_ended_at_check check ((ended_at is null) = (state = 'pending'))
    )`,
    `create trigger payouts_fixed before update on payouts for each row
      when (old.account_id is distinct from new.account_id or old.amount_minor is distinct from new.amount_minor
        or old.currency is distinct from new.currency or old.provider_account is distinct from new.provider_account
        or old.returned_minor > new.returned_minor or (old.state <> 'pending' and new.state = 'pending')
        or (old.state = 'failed' and new.state <> 'failed'))
      execute function refuse('what is paid out is never changed')`,
    'create index payouts_account_idx on payouts (account_id, created_at, id)',
    "create index payouts_pending_idx on payouts (created_at) where state = 'pending'",
    `create table spend_caps (
      id uuid constraint spend_caps_pkey primary key default gen_random_uuid(),
      account_id uuid not null constraint spend_caps_account_id_fkey references accounts (id),
      token_id uuid constraint spend_caps_token_id_fkey references tokens (id),
      period text not null constraint spend_caps_period_check check (period in ('day', 'month', 'total')),
      amount_minor bigint not null constraint spend_caps_amount_minor_check check (amount_minor >= 0),
      set_by uuid not null constraint spend_caps_set_by_fkey references accounts (id),
      created_at timestamptz(3) not null default now(),
      constraint spend_caps_key unique nulls not distinct (account_id, token_id, period)
    )`,
    `create table idempotency_keys (
      actor_id uuid not null constraint idempotency_keys_actor_id_fkey references accounts (id),
      key text not null,
      action text not null,
      request_hash text not null,
      status integer not null,
      answer json not null,
      created_at timestamptz(3) not null default now(),
      constraint idempotency_keys_pkey primary key (actor_id, key)
    )`,
    'create index idempotency_keys_created_at_idx on idempotency_keys (created_at)',
    'alter table packages add column taken_down_at timestamptz(3)',
    'alter table packages add column taken_down_reason text',
    // Malicious: not even those who bought it get it any more.
    'alter table packages add column taken_down_for_all boolean not null default false',
    // Lists leave it out, and their counts.
    `do $$
      declare counts text := pg_get_functiondef('count_packages'::regproc);
      begin
        counts := replace(counts, 'added.visibility = ''public''', 'added.visibility = ''public'' and added.taken_down_at is null');
        execute replace(counts, 'removed.visibility = ''public''', 'removed.visibility = ''public'' and removed.taken_down_at is null');
      end $$`,
    'alter table packages add column rating double precision',
    'alter table packages add column votes integer not null default 0',
    // What `price_minor` means beside it: a licence, or every run.
    `alter table packages add column price_kind text not null default 'free'
      constraint packages_price_kind_check check (price_kind in ('free', 'one_time', 'per_run'))`,
  ],
}
