import type { Migration } from './migration.ts'

/** Jobs of organizations, whose pending work is bounded as a user's is. */
export const jobOwners: Migration = {
  name: '0033-job-owners',
  statements: [
    // The organization that the work is for; null if it is the submitter's own.
    'alter table jobs add column owner_id uuid',
    `update jobs set owner_id = packages.owner_id from versions join packages on packages.id = versions.package_id
      where jobs.kind = 'check' and versions.id = jobs.id and jobs.ended_at is null
        and packages.owner_id <> jobs.account_id`,
    `update jobs set owner_id = training_runs.owner_id from training_runs
      where jobs.kind = 'train' and training_runs.id = jobs.id and jobs.ended_at is null
        and training_runs.owner_id <> jobs.account_id`,
    `create index jobs_open_owner_idx on jobs (kind, owner_id)
      where state in ('waiting', 'leased') and owner_id is not null`,
  ],
}
