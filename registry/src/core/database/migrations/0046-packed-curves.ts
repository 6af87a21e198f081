import type { Migration } from './migration.ts'

/**
 * Curves of runs that ended more than a day ago: a row a run instead of a row an iteration, in a partition a month, which
 * retention drops whole. `../../../modules/runs/curves` moves them here from training_metrics and makes the partitions.
 */
export const packedCurves: Migration = {
  name: '0046-packed-curves',
  compatible: true,
  statements: [
    // No foreign key: dropping a partition would lock training_runs, whose rows are never deleted.
    `create table packed_curves (
      run_id uuid not null,
      month date not null,
      last_iteration bigint not null,
      last_seq bigint not null,
      points bytea not null,
      constraint packed_curves_pkey primary key (run_id, month)
    ) partition by range (month)`,
  ],
}
