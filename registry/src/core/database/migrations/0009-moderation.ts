import type { Migration } from './migration.ts'

/** Metered calls; who has used what, reviews and the mean that ratings start from; reports, and refunds to be given. */
export const moderation: Migration = {
  name: '0009-moderation',
  statements: [
    `create table usage_events (
      id uuid constraint usage_events_pkey primary key,
      account_id uuid not null constraint usage_events_account_id_fkey references accounts (id),
      package_id uuid not null constraint usage_events_package_id_fkey references packages (id),
      version_id uuid not null constraint usage_events_version_id_fkey references versions (id),
      calls integer not null constraint usage_events_calls_check check (calls > 0),
      trial_calls integer not null default 0
        constraint usage_events_trial_calls_check check (trial_calls between 0 and calls),
      price_minor bigint not null constraint usage_events_price_minor_check check (price_minor >= 0),
      at timestamptz(3) not null,
      created_at timestamptz(3) not null default now(),
      batch_id uuid
    )`,
    'create index usage_events_open_idx on usage_events (account_id, version_id) where batch_id is null',
    `create table usage_batches (
      id uuid constraint usage_batches_pkey primary key,
      seq bigint generated always as identity,
      account_id uuid not null constraint usage_batches_account_id_fkey references accounts (id),
      package_id uuid not null constraint usage_batches_package_id_fkey references packages (id),
      version_id uuid not null constraint usage_batches_version_id_fkey references versions (id),
      seller_id uuid not null constraint usage_batches_seller_id_fkey references accounts (id),
      calls bigint not null,
      amount_minor bigint not null constraint usage_batches_amount_minor_check check (amount_minor >= 0),
      fee_minor bigint not null default 0,
      royalty_minor bigint not null default 0,
      royalty_to uuid constraint usage_batches_royalty_to_fkey references accounts (id),
      remainder bigint not null,
      currency text not null,
      created_at timestamptz(3) not null default now()
    )`,
    'create index usage_batches_account_idx on usage_batches (account_id, version_id, seq)',
    'create index usage_batches_seller_idx on usage_batches (seller_id, created_at)',
    `create trigger usage_batches_fixed before update or delete on usage_batches for each row
      execute function refuse('a batch is written once')`,
    'alter table usage_events add constraint usage_events_batch_id_fkey foreign key (batch_id) references usage_batches (id)',
    `create trigger usage_events_fixed before update on usage_events for each row
      when (old.batch_id is not null or (old.id, old.account_id, old.package_id, old.version_id, old.calls, old.price_minor, old.at)
        is distinct from (new.id, new.account_id, new.package_id, new.version_id, new.calls, new.price_minor, new.at))
      execute function refuse('what was counted is never changed')`,
    "create trigger usage_events_kept before delete on usage_events for each row execute function refuse('what was counted is kept')",
    `create table trials (
      account_id uuid not null constraint trials_account_id_fkey references accounts (id),
      package_id uuid not null constraint trials_package_id_fkey references packages (id),
      calls integer not null constraint trials_calls_check check (calls >= 0),
      constraint trials_pkey primary key (account_id, package_id)
    )`,
    `create table reviews (
      id uuid constraint reviews_pkey primary key default gen_random_uuid(),
      package_id uuid not null constraint reviews_package_id_fkey references packages (id),
      version_id uuid not null constraint reviews_version_id_fkey references versions (id),
      author_id uuid not null constraint reviews_author_id_fkey references accounts (id),
      stars integer not null constraint reviews_stars_check check (stars between 1 and 5),
      text text not null,
      reply text,
      reply_by uuid constraint reviews_reply_by_fkey references accounts (id),
      replied_at timestamptz(3),
      hidden_at timestamptz(3),
      deleted_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint reviews_key unique (version_id, author_id),
      constraint reviews_reply_check check ((reply is null) = (reply_by is null) and (reply is null) = (replied_at is null))
    )`,
    'create index reviews_package_idx on reviews (package_id, created_at, id)',
    // The row stays, so that a withdrawn hidden review cannot be rewritten, and reports keep their subject.
    "create trigger reviews_kept before delete on reviews for each row execute function refuse('a review is withdrawn, not deleted')",
    `create table reports (
      id uuid constraint reports_pkey primary key default gen_random_uuid(),
      package_id uuid not null constraint reports_package_id_fkey references packages (id),
      review_id uuid constraint reports_review_id_fkey references reviews (id),
      reason text not null,
      text text not null,
      reported_by uuid not null constraint reports_reported_by_fkey references accounts (id),
      state text not null default 'open' constraint reports_state_check check (state in ('open', 'dismissed', 'upheld')),
      decided_by uuid constraint reports_decided_by_fkey references accounts (id),
      decision text,
      decided_at timestamptz(3),
      created_at timestamptz(3) not null default now()
    )`,
    `create trigger reports_decided_once before update on reports for each row when (old.state <> 'open')
      execute function refuse('a report is decided once')`,
    "create trigger reports_kept before delete on reports for each row execute function refuse('reports are kept')",
    'create index reports_state_idx on reports (state, created_at, id)',
    // Kept for one question only: may they review it? `downloads` cannot say, for it forgets who came.
    `create table package_users (
      account_id uuid not null constraint package_users_account_id_fkey references accounts (id),
      package_id uuid not null constraint package_users_package_id_fkey references packages (id),
      first_at timestamptz(3) not null default now(),
      constraint package_users_pkey primary key (account_id, package_id)
    )`,
    // All ratings are weighted towards one mean, so that they compare; a scheduled task updates it, and every rating with it.
    `create table rating_prior (
      only_row boolean constraint rating_prior_pkey primary key default true
        constraint rating_prior_only_row_check check (only_row),
      mean double precision not null constraint rating_prior_mean_check check (mean between 1 and 5)
    )`,
    'insert into rating_prior (mean) values (3.5)',
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
