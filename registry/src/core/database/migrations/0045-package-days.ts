import type { Migration } from './migration.ts'

/** Analytics of sellers: views and plays in rows of a day, and where orders came from. */
export const packageDays: Migration = {
  name: '0045-package-days',
  compatible: true,
  statements: [
    `create table package_days (
      package_id uuid not null constraint package_days_package_id_fkey references packages (id),
      version text not null,
      day date not null,
      source text not null constraint package_days_source_check
        check (source in ('search', 'browse', 'link', 'command', 'other')),
      views bigint not null default 0,
      plays bigint not null default 0,
      constraint package_days_pkey primary key (package_id, day, version, source)
    )`,
    'create index package_days_day_idx on package_days (day)',
    // Null: not known.
    `alter table orders add column source text constraint orders_source_check
      check (source in ('search', 'browse', 'link', 'command'))`,
    'create index usage_events_trials_idx on usage_events (package_id, at) where trial_calls > 0',
  ],
}
