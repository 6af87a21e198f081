import type { Migration } from './migration.ts'

/** Webhooks of accounts, and what was delivered to them. */
export const webhooks: Migration = {
  name: '0038-webhooks',
  compatible: true,
  statements: [
    `create table webhooks (
      id uuid constraint webhooks_pkey primary key default gen_random_uuid(),
      account_id uuid not null constraint webhooks_account_id_fkey references accounts (id),
      url text not null,
      description text not null,
      -- Null: all types.
      types jsonb constraint webhooks_types_check check (types is null or jsonb_typeof(types) = 'array'),
      -- AES-256-GCM under the installation's secret.
      sealed_secret text not null,
      previous_sealed_secret text,
      previous_until timestamptz(3),
      failing_since timestamptz(3),
      disabled_at timestamptz(3),
      disabled_reason text,
      created_at timestamptz(3) not null default now()
    )`,
    'create index webhooks_account_id_idx on webhooks (account_id, created_at)',
    `create table webhook_deliveries (
      id uuid constraint webhook_deliveries_pkey primary key default gen_random_uuid(),
      webhook_id uuid not null constraint webhook_deliveries_webhook_id_fkey references webhooks (id) on delete cascade,
      event_id uuid not null constraint webhook_deliveries_event_id_fkey references events (id) on delete cascade,
      state text not null default 'pending'
        constraint webhook_deliveries_state_check check (state in ('pending', 'delivered', 'failed')),
      attempts integer not null default 0,
      next_at timestamptz(3) not null default now(),
      created_at timestamptz(3) not null default now(),
      constraint webhook_deliveries_event_key unique (webhook_id, event_id)
    )`,
    "create index webhook_deliveries_due_idx on webhook_deliveries (next_at) where state = 'pending'",
    'create index webhook_deliveries_webhook_id_idx on webhook_deliveries (webhook_id, created_at, id)',
    'create index webhook_deliveries_event_id_idx on webhook_deliveries (event_id)',
    `create table webhook_attempts (
      id bigint generated always as identity constraint webhook_attempts_pkey primary key,
      delivery_id uuid not null
        constraint webhook_attempts_delivery_id_fkey references webhook_deliveries (id) on delete cascade,
      at timestamptz(3) not null default now(),
      -- Null if there was no response.
      status integer,
      error text,
      duration_ms integer not null
    )`,
    'create index webhook_attempts_delivery_id_idx on webhook_attempts (delivery_id, id)',
  ],
}
