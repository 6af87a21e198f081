import type { Migration } from './migration.ts'

/** What a run needs of a worker's GPUs, beside it and beside its job. */
export const gpus: Migration = {
  name: '0047-gpus',
  statements: [
    ...['training_runs', 'jobs'].flatMap((table) => [
      `alter table ${table} add column gpus smallint not null default 0 constraint ${table}_gpus_check check (gpus >= 0)`,
      // Bytes that each of them has at least.
      `alter table ${table} add column gpu_memory bigint not null default 0`,
      // What computes on them: learner, rollouts.
      `alter table ${table} add column gpu_uses text[] not null default '{}'`,
    ]),
    // Whether the worker accepts trainings.
    'alter table workers add column trains boolean not null default false',
  ],
}
