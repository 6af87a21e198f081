import type { Migration } from './migration.ts'

/** Events of accounts, written with what they report, and the notifications that they become. */
export const notifications: Migration = {
  name: '0037-notifications',
  compatible: true,
  statements: [
    `create table events (
      id uuid constraint events_pkey primary key default gen_random_uuid(),
      type text not null,
      account_id uuid not null constraint events_account_id_fkey references accounts (id),
      -- Notified instead of the managers of the account.
      user_id uuid constraint events_user_id_fkey references accounts (id),
      data jsonb not null constraint events_data_check check (jsonb_typeof(data) = 'object'),
      attempts integer not null default 0,
      created_at timestamptz(3) not null default now(),
      distributed_at timestamptz(3)
    )`,
    'create index events_pending_idx on events (attempts, created_at) where distributed_at is null',
    'create index events_created_at_idx on events (created_at)',
    `create table notifications (
      id uuid constraint notifications_pkey primary key default gen_random_uuid(),
      account_id uuid not null constraint notifications_account_id_fkey references accounts (id),
      event_id uuid not null constraint notifications_event_id_fkey references events (id) on delete cascade,
      topic text not null,
      -- On the site; false if it is sent by email only.
      shown boolean not null,
      email text not null constraint notifications_email_check check (email in ('none', 'pending', 'sent', 'dropped')),
      read_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      constraint notifications_account_event_key unique (account_id, event_id)
    )`,
    'create index notifications_event_id_idx on notifications (event_id)',
    'create index notifications_shown_idx on notifications (account_id, created_at, id) where shown',
    'create index notifications_unread_idx on notifications (account_id) where shown and read_at is null',
    "create index notifications_pending_idx on notifications (account_id) where email = 'pending'",
    `create table notification_settings (
      account_id uuid not null constraint notification_settings_account_id_fkey references accounts (id),
      topic text not null,
      site boolean not null,
      email boolean not null,
      constraint notification_settings_pkey primary key (account_id, topic)
    )`,
    // One row per recipient of mail: when the next message may be sent.
    `create table notification_mailboxes (
      account_id uuid constraint notification_mailboxes_pkey primary key
        constraint notification_mailboxes_account_id_fkey references accounts (id),
      next_at timestamptz(3) not null default now(),
      failures integer not null default 0
    )`,
  ],
}
