import type { Migration } from './migration.ts'

/** How an account last came to a package's page: the source of its order, whichever replica takes it. */
export const arrivals: Migration = {
  name: '0049-arrivals',
  compatible: true,
  statements: [
    `create table arrivals (
      account_id uuid not null constraint arrivals_account_id_fkey references accounts (id),
      package_id uuid not null constraint arrivals_package_id_fkey references packages (id),
      source text not null constraint arrivals_source_check check (source in ('search', 'browse', 'link', 'command')),
      at timestamptz(3) not null default now(),
      constraint arrivals_pkey primary key (account_id, package_id)
    )`,
    'create index arrivals_at_idx on arrivals (at)',
  ],
}
