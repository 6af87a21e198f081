import type { Migration } from './migration.ts'

/** Calls of agents that wait for a worker, or were answered a short while ago. */
export const hostedCalls: Migration = {
  name: '0012-hosted-calls',
  statements: [
    // What a token's calls cost counts towards its caps.
    'alter table usage_events add column token_id uuid constraint usage_events_token_id_fkey references tokens (id)',
    'create index usage_events_token_id_idx on usage_events (token_id, created_at) where token_id is not null',
    `create table hosted_calls (
      id uuid constraint hosted_calls_pkey primary key,
      account_id uuid not null constraint hosted_calls_account_id_fkey references accounts (id),
      token_id uuid constraint hosted_calls_token_id_fkey references tokens (id),
      package_id uuid not null constraint hosted_calls_package_id_fkey references packages (id),
      version_id uuid not null constraint hosted_calls_version_id_fkey references versions (id),
      because text not null constraint hosted_calls_because_check check (because in ('own', 'free', 'bought', 'trial')),
      price_minor bigint not null constraint hosted_calls_price_minor_check check (price_minor >= 0),
      keyed boolean not null,
      request_hash text not null,
      -- Observation and mask as JSON. As text: jsonb takes not every string, and keeps no order.
      request text,
      state text not null default 'waiting'
        constraint hosted_calls_state_check check (state in ('waiting', 'leased', 'answered', 'failed')),
      lease text,
      leased_until timestamptz(3),
      attempts integer not null default 0,
      answer text,
      error text,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null,
      ended_at timestamptz(3),
      constraint hosted_calls_ended_check check ((state in ('answered', 'failed')) = (ended_at is not null)
        and (state = 'answered') = (answer is not null) and (state = 'failed') = (error is not null)
        and (ended_at is null) = (request is not null)),
      constraint hosted_calls_leased_check check (state <> 'leased' or (lease is not null and leased_until is not null))
    )`,
    "create index hosted_calls_open_idx on hosted_calls (created_at, id) where state in ('waiting', 'leased')",
    "create index hosted_calls_account_idx on hosted_calls (account_id, package_id) where state in ('waiting', 'leased')",
    "create index hosted_calls_lease_idx on hosted_calls (lease) where state = 'leased'",
    'create index hosted_calls_ended_at_idx on hosted_calls (ended_at) where ended_at is not null',
  ],
}
