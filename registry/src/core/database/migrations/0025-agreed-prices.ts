import type { Migration } from './migration.ts'

/** Fewer trial calls are announced as higher prices are; a cap may limit what 1,000 hosted calls cost. */
export const agreedPrices: Migration = {
  name: '0025-agreed-prices',
  statements: [
    'alter table sale_terms add column next_trial_calls integer',
    'update sale_terms set next_trial_calls = trial_calls where next_at is not null',
    'alter table sale_terms drop constraint sale_terms_next_check',
    `alter table sale_terms add constraint sale_terms_next_check check (
      (next_at is null) = (next_royalty_basis_points is null) and (next_at is null) = (next_calls_price_minor is null)
      and (next_at is null) = (next_trial_calls is null)
      and coalesce(next_royalty_basis_points, 0) between 0 and 10000
      and coalesce(next_calls_price_minor, 0) between 0 and 1000000000000
      and coalesce(next_trial_calls, 0) >= 0)`,
    'alter table spend_caps drop constraint spend_caps_period_check',
    `alter table spend_caps add constraint spend_caps_period_check check (period in ('day', 'month', 'total', 'calls'))`,
  ],
}
