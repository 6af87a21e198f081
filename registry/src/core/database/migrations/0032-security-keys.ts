import type { Migration } from './migration.ts'

/** Security keys and passkeys (WebAuthn), beside the authenticator app of a second factor. */
export const securityKeys: Migration = {
  name: '0032-security-keys',
  statements: [
    `create table security_keys (
      id uuid constraint security_keys_pkey primary key default gen_random_uuid(),
      account_id uuid not null constraint security_keys_account_id_fkey references accounts (id),
      -- Both base64url, as WebAuthn's JSON has them.
      credential_id text not null constraint security_keys_credential_id_key unique,
      public_key text not null,
      -- Signatures that the key reported last; 0 for keys that do not count.
      signatures bigint not null,
      transports jsonb not null,
      name text not null,
      -- Whether the key is synchronized between devices.
      synced boolean not null,
      last_used_at timestamptz,
      created_at timestamptz not null default now()
    )`,
    'create index security_keys_account_id_idx on security_keys (account_id)',
    `create table key_challenges (
      -- A challenge is worth nothing outside the session that it was made for.
      session_id text not null constraint key_challenges_session_id_fkey references sessions (id) on delete cascade,
      purpose text not null constraint key_challenges_purpose_check check (purpose in ('add', 'confirm')),
      challenge text not null,
      expires_at timestamptz not null,
      constraint key_challenges_pkey primary key (session_id, purpose)
    )`,
  ],
}
