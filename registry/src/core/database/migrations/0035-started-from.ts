import type { Migration } from './migration.ts'

/** A run may start from the weights of a published agent. */
export const startedFrom: Migration = {
  name: '0035-started-from',
  statements: [
    `alter table training_runs add column from_version_id uuid
      constraint training_runs_from_version_id_fkey references versions (id)`,
    'create index training_runs_from_version_idx on training_runs (from_version_id) where from_version_id is not null',
  ],
}
