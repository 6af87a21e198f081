import type { Migration } from './migration.ts'

// Times are kept to the millisecond, which is what a JavaScript Date can hold: a time that is read and then compared with
// (the key of the next page, say) is the time that is stored.
const createdAt = 'created_at timestamptz(3) not null default now()'
const sha256 = (column: string) => `check (${column} ~ '^[0-9a-f]{64}$')`

/** Accounts, how they prove who they are, and what they did. */
export const accounts: Migration = {
  name: '0001-accounts',
  statements: [
    `create table accounts (
      id uuid constraint accounts_pkey primary key default gen_random_uuid(),
      kind text not null constraint accounts_kind_check check (kind in ('user', 'organisation')),
      username text not null constraint accounts_username_key unique
        constraint accounts_username_check check (username ~ '^[a-z0-9]+([._-][a-z0-9]+)*$' and length(username) <= 39),
      username_canonical text not null constraint accounts_username_canonical_key unique
        constraint accounts_username_canonical_check check (username_canonical <> ''),
      display_name text,
      email text constraint accounts_email_key unique
        constraint accounts_email_check check (email = lower(email) and email like '%_@_%'),
      email_verified_at timestamptz(3),
      password_hash text constraint accounts_password_hash_check check (password_hash like '$argon2id$%'),
      operator boolean not null default false,
      disabled_at timestamptz(3),
      ${createdAt},
      constraint accounts_organisation_check
        check (kind = 'user' or (email is null and password_hash is null and not operator))
    )`,
    `create table memberships (
      organisation_id uuid not null constraint memberships_organisation_id_fkey references accounts (id),
      user_id uuid not null constraint memberships_user_id_fkey references accounts (id),
      role text not null constraint memberships_role_check check (role in ('owner', 'admin', 'member', 'viewer')),
      ${createdAt},
      constraint memberships_pkey primary key (organisation_id, user_id)
    )`,
    'create index memberships_user_id_idx on memberships (user_id)',
    `create function check_membership_kinds() returns trigger language plpgsql as $$
      begin
        if (select kind from accounts where id = new.organisation_id) = 'organisation'
          and (select kind from accounts where id = new.user_id) = 'user' then return new;
        end if;
        raise exception 'users are members of organisations'
          using errcode = 'check_violation', constraint = 'memberships_kinds';
      end $$`,
    `create trigger memberships_kinds before insert or update on memberships
      for each row execute function check_membership_kinds()`,
    `create table sessions (
      id text constraint sessions_pkey primary key constraint sessions_id_check ${sha256('id')},
      user_id uuid not null constraint sessions_user_id_fkey references accounts (id) on delete cascade,
      expires_at timestamptz(3) not null,
      ${createdAt}
    )`,
    'create index sessions_user_id_idx on sessions (user_id)',
    'create index sessions_expires_at_idx on sessions (expires_at)',
    `create table tokens (
      id uuid constraint tokens_pkey primary key default gen_random_uuid(),
      account_id uuid not null constraint tokens_account_id_fkey references accounts (id),
      name text not null,
      hash text not null constraint tokens_hash_key unique constraint tokens_hash_check ${sha256('hash')},
      prefix text not null,
      scopes jsonb not null constraint tokens_scopes_check check (jsonb_typeof(scopes) = 'array'),
      expires_at timestamptz(3),
      last_used_at timestamptz(3),
      revoked_at timestamptz(3),
      ${createdAt}
    )`,
    'create index tokens_account_id_idx on tokens (account_id)',
    `create table mail_tokens (
      hash text constraint mail_tokens_pkey primary key constraint mail_tokens_hash_check ${sha256('hash')},
      account_id uuid not null constraint mail_tokens_account_id_fkey references accounts (id) on delete cascade,
      purpose text not null constraint mail_tokens_purpose_check check (purpose in ('verify', 'reset')),
      email text not null,
      expires_at timestamptz(3) not null,
      used_at timestamptz(3),
      ${createdAt}
    )`,
    'create index mail_tokens_account_id_idx on mail_tokens (account_id)',
    `create table device_codes (
      hash text constraint device_codes_pkey primary key constraint device_codes_hash_check ${sha256('hash')},
      user_code text not null,
      name text not null,
      scopes jsonb not null constraint device_codes_scopes_check check (jsonb_typeof(scopes) = 'array'),
      account_id uuid constraint device_codes_account_id_fkey references accounts (id) on delete cascade,
      state text not null default 'pending'
        constraint device_codes_state_check check (state in ('pending', 'approved', 'denied', 'used')),
      polled_at timestamptz(3),
      expires_at timestamptz(3) not null,
      ${createdAt},
      constraint device_codes_approved_check check (state not in ('approved', 'used') or account_id is not null)
    )`,
    // A code is short, so it may come again once the log-in that it stood for is decided.
    `create unique index device_codes_user_code_key on device_codes (user_code) where state = 'pending'`,
    'create index device_codes_expires_at_idx on device_codes (expires_at)',
    `create table oauth_identities (
      provider text not null,
      subject text not null,
      account_id uuid not null constraint oauth_identities_account_id_fkey references accounts (id),
      ${createdAt},
      constraint oauth_identities_pkey primary key (provider, subject)
    )`,
    'create index oauth_identities_account_id_idx on oauth_identities (account_id)',
    `create table rate_limits (
      key text not null,
      window_start timestamptz(3) not null,
      count integer not null constraint rate_limits_count_check check (count >= 0),
      constraint rate_limits_pkey primary key (key, window_start)
    )`,
    'create index rate_limits_window_start_idx on rate_limits (window_start)',
    // No foreign keys: an entry outlives what it tells of.
    `create table audit (
      id bigint generated always as identity constraint audit_pkey primary key,
      at timestamptz(3) not null default now(),
      actor_id uuid,
      token_id uuid,
      action text not null,
      subject text not null,
      ip text,
      data jsonb not null default '{}'
    )`,
    'create index audit_subject_idx on audit (subject, id)',
    'create index audit_actor_id_idx on audit (actor_id, id)',
    // For the guarding triggers of all tables; the constraint's name tells which rule it was.
    `create function refuse() returns trigger language plpgsql as $$
      begin
        raise exception '% of % is refused: %', lower(tg_op), tg_table_name, tg_argv[0]
          using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
      end $$`,
    `create trigger audit_append_only before update or delete on audit
      for each row execute function refuse('the audit log is only ever added to')`,
    `create trigger audit_append_only_truncate before truncate on audit
      for each statement execute function refuse('the audit log is only ever added to')`,
    `create trigger accounts_fixed before update on accounts for each row
      when ((old.id, old.kind, old.username, old.username_canonical, old.created_at)
        is distinct from (new.id, new.kind, new.username, new.username_canonical, new.created_at))
      execute function refuse('who an account is does not change')`,
  ],
}
