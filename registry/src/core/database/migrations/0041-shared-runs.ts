import type { Migration } from './migration.ts'

/** Runs that others may look at: everyone, or whoever has the link. */
export const sharedRuns: Migration = {
  name: '0041-shared-runs',
  compatible: true,
  statements: [
    'alter table training_runs add column public_at timestamptz(3)',
    `create table run_links (
      run_id uuid primary key references training_runs (id),
      secret_hash text not null unique,
      created_by uuid not null references accounts (id),
      created_at timestamptz(3) not null default now()
    )`,
  ],
}
