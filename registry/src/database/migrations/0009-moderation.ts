import type { Migration } from './migration.ts'

/** Who has used what, the mean that ratings start from, reviews that are withdrawn, reports told twice, refunds to be given. */
export const moderation: Migration = {
  name: '0009-moderation',
  statements: [
    // Kept for one question only: may they review it? `downloads` cannot say, for it forgets who came.
    `create table package_users (
      account_id uuid not null constraint package_users_account_id_fkey references accounts (id),
      package_id uuid not null constraint package_users_package_id_fkey references packages (id),
      first_at timestamptz(3) not null default now(),
      constraint package_users_pkey primary key (account_id, package_id)
    )`,
    // All ratings are weighted towards one mean, so that they compare; upkeep moves it, and every rating with it.
    `create table rating_prior (
      only_row boolean constraint rating_prior_pkey primary key default true
        constraint rating_prior_only_row_check check (only_row),
      mean double precision not null constraint rating_prior_mean_check check (mean between 1 and 5)
    )`,
    'insert into rating_prior (mean) values (3.5)',
    // The row stays: whoever withdraws a review that was hidden writes no other in its place, and reports keep their subject.
    'alter table reviews add column deleted_at timestamptz(3)',
    `create unique index reports_open_key on reports (package_id, review_id, reported_by, (reason = 'appeal'))
      nulls not distinct where state = 'open'`,
    `create table owed_refunds (
      id uuid constraint owed_refunds_pkey primary key default gen_random_uuid(),
      package_id uuid not null constraint owed_refunds_package_id_fkey references packages (id),
      version_id uuid constraint owed_refunds_version_id_fkey references versions (id),
      paid_since timestamptz(3) not null,
      reason text not null,
      created_at timestamptz(3) not null default now(),
      done_at timestamptz(3)
    )`,
    'create index owed_refunds_open_idx on owed_refunds (created_at) where done_at is null',
  ],
}
