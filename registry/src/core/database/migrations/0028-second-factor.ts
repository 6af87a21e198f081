import type { Migration } from './migration.ts'

/** Second factors of users: TOTP, and recovery codes. */
export const secondFactor: Migration = {
  name: '0028-second-factor',
  statements: [
    `create table second_factors (
      account_id uuid constraint second_factors_pkey primary key
        constraint second_factors_account_id_fkey references accounts (id),
      -- AES-256-GCM under the installation's secret.
      sealed_secret text not null,
      -- Null until a first code proves that the user's app has the secret.
      enabled_at timestamptz,
      -- The 30-second step of the last accepted code: no code is accepted twice.
      last_step bigint not null default 0,
      created_at timestamptz not null default now()
    )`,
    `create table recovery_codes (
      account_id uuid not null constraint recovery_codes_account_id_fkey references accounts (id),
      hash text not null,
      used_at timestamptz,
      created_at timestamptz not null default now(),
      constraint recovery_codes_pkey primary key (account_id, hash)
    )`,
    'alter table sessions add column confirmed_at timestamptz',
    // The password was right, the code has yet to come: such a session permits nothing else.
    'alter table sessions add column awaits_code boolean not null default false',
    'alter table tokens add column confirmed boolean not null default false',
    'alter table device_codes add column confirmed boolean not null default false',
  ],
}
