import type { Migration } from './migration.ts'

/** Single sign-on of organizations through their own OpenID provider. */
export const signOn: Migration = {
  name: '0021-sign-on',
  statements: [
    `create table sign_on_providers (
      organisation_id uuid constraint sign_on_providers_pkey primary key
        constraint sign_on_providers_organisation_id_fkey references accounts (id),
      issuer text not null,
      client_id text not null,
      -- AES-256-GCM under the installation's secret.
      sealed_client_secret text not null,
      default_role text not null
        constraint sign_on_providers_default_role_check check (default_role in ('admin', 'member', 'viewer')),
      updated_at timestamptz not null default now()
    )`,
    `create table sign_on_domains (
      organisation_id uuid not null constraint sign_on_domains_organisation_id_fkey references accounts (id),
      domain text not null,
      token text not null,
      verified_at timestamptz,
      created_at timestamptz not null default now(),
      constraint sign_on_domains_pkey primary key (organisation_id, domain)
    )`,
    // A domain belongs to one organization, from the moment that its DNS says so.
    'create unique index sign_on_domains_verified_idx on sign_on_domains (domain) where verified_at is not null',
    `create table sign_on_identities (
      organisation_id uuid not null constraint sign_on_identities_organisation_id_fkey references accounts (id),
      issuer text not null,
      -- The provider's own ID of the user.
      subject text not null,
      account_id uuid not null constraint sign_on_identities_account_id_fkey references accounts (id),
      created_at timestamptz not null default now(),
      constraint sign_on_identities_pkey primary key (organisation_id, issuer, subject)
    )`,
    'create index sign_on_identities_account_id_idx on sign_on_identities (account_id)',
  ],
}
