import type { Migration } from './migration.ts'

/** Changes of an email address that wait for the links mailed to both addresses. */
export const emailChanges: Migration = {
  name: '0031-email-changes',
  statements: [
    `create table email_changes (
      -- One at a time: a new request replaces the last one, and its links.
      account_id uuid constraint email_changes_pkey primary key
        constraint email_changes_account_id_fkey references accounts (id) on delete cascade,
      old_email text,
      new_email text not null constraint email_changes_new_email_check check (new_email = lower(new_email)),
      -- SHA-256 of the links. Those of the old address are null if it was never confirmed: it need not agree.
      old_hash text,
      cancel_hash text,
      new_hash text not null,
      old_confirmed_at timestamptz,
      new_confirmed_at timestamptz,
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      constraint email_changes_links_check check ((old_hash is null) = (cancel_hash is null))
    )`,
    'create unique index email_changes_new_hash_idx on email_changes (new_hash)',
    'create unique index email_changes_old_hash_idx on email_changes (old_hash)',
    'create unique index email_changes_cancel_hash_idx on email_changes (cancel_hash)',
  ],
}
