import type { Migration } from './migration.ts'

/** Machines that are rented for the queue, recorded before they are asked for. */
export const rentals: Migration = {
  name: '0053-rentals',
  compatible: true,
  statements: [
    `create table rentals (
      id uuid constraint rentals_pkey primary key default gen_random_uuid(),
      -- Of its worker; revoked when it is closed.
      token_id uuid not null constraint rentals_token_id_fkey references tokens (id),
      provider text not null,
      gpu text not null,
      -- Of its GPU; null if the provider does not say.
      memory_bytes bigint,
      -- US cents.
      cents_per_hour integer not null constraint rentals_cents_per_hour_check check (cents_per_hour >= 0),
      created_at timestamptz(3) not null default now(),
      ends_at timestamptz(3) not null,
      -- When its worker was last known to have a run, or was reserved.
      busy_at timestamptz(3) not null default now(),
      -- From then on it gets no more runs.
      closed_at timestamptz(3),
      reason text,
      -- When the provider had it no longer.
      ended_at timestamptz(3),
      constraint rentals_times_check check (ends_at > created_at and (ended_at is null or closed_at is not null))
    )`,
    'create index rentals_open_idx on rentals (created_at) where ended_at is null',
    'create index rentals_ended_at_idx on rentals (ended_at)',
  ],
}
