import type { Migration } from './migration.ts'

/** Indexes for what read all of a table that grows: who uses a package, what an account earns, names in order. */
export const largeTables: Migration = {
  name: '0051-large-tables',
  compatible: true,
  statements: [],
  indexes: {
    usage_batches_package_idx: 'on usage_batches (package_id, created_at)',
    usage_batches_royalty_to_idx: 'on usage_batches (royalty_to, created_at, id) where royalty_to is not null',
    usage_events_open_package_idx: 'on usage_events (package_id) where batch_id is null',
    trials_package_idx: 'on trials (package_id)',
    package_users_package_idx: 'on package_users (package_id)',
    agent_versions_scenario_idx: `on agent_versions ((manifest -> 'scenario' ->> 'name'))`,
    // What a seller has earned is added up from the index alone.
    orders_sales_idx: `on orders (seller_id, paid_at, id) include (currency, total_minor, fee_minor, royalty_minor)
      where paid_at is not null`,
    orders_royalties_idx: `on orders (royalty_to, paid_at, id) include (currency, royalty_minor)
      where royalty_to is not null and paid_at is not null`,
    orders_refunded_idx: 'on orders (seller_id) where refunded_minor > 0',
    orders_refunded_royalties_idx: 'on orders (royalty_to) where royalty_to is not null and refunded_minor > 0',
    entitlements_holder_idx: 'on entitlements (holder_id, granted_at, order_id) where revoked_at is null',
  },
}
