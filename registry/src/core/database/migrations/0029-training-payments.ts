import type { Migration } from './migration.ts'

/** Training is paid: what a run may cost is reserved at its start, from the free quota and from the balance. */
export const trainingPayments: Migration = {
  name: '0029-training-payments',
  statements: [
    'alter table training_runs add column token_id uuid constraint training_runs_token_id_fkey references tokens (id)',
    'create index training_runs_token_idx on training_runs (token_id) where token_id is not null',
    'alter table training_runs add column cover_currency text',
    `alter table training_runs add column free_minor bigint not null default 0
      constraint training_runs_free_minor_check check (free_minor >= 0)`,
    `alter table training_runs add column held_minor bigint not null default 0
      constraint training_runs_held_minor_check check (held_minor >= 0)`,
    `alter table training_runs add column hold_transfer_id uuid
      constraint training_runs_hold_transfer_id_fkey references ledger_transfers (id)`,
    `alter table training_runs add constraint training_runs_hold_check check
      ((held_minor = 0) = (hold_transfer_id is null) and (ended_at is null or (held_minor = 0 and free_minor = 0)))`,
    // Charges from before were never paid, and stay so.
    `alter table training_charges add column free_minor bigint not null default 0
      constraint training_charges_free_minor_check check (free_minor >= 0)`,
    `alter table training_charges add column paid_minor bigint not null default 0
      constraint training_charges_paid_minor_check check (paid_minor >= 0 and free_minor + paid_minor <= amount_minor)`,
    `alter table training_charges add column paid_to uuid constraint training_charges_paid_to_fkey references accounts (id)`,
    'create index training_charges_paid_to_idx on training_charges (paid_to, created_at) where paid_to is not null',
  ],
}
