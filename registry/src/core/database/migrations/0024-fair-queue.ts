import type { Migration } from './migration.ts'

/**
 * Accounts share the workers. Jobs that wait are their submitters' from now on; the tags start at 0, so each account gets
 * its turns from the first lease.
 */
export const fairQueue: Migration = {
  name: '0024-fair-queue',
  statements: [
    `alter table jobs
      add column account_id uuid not null default '00000000-0000-0000-0000-000000000000',
      add column episodes integer not null default 0 constraint jobs_episodes_check check (episodes >= 0),
      add column cost double precision not null default 1 constraint jobs_cost_check check (cost >= 1),
      add column arrived double precision not null default 0`,
    `update jobs set account_id = versions.published_by from versions
      where jobs.kind = 'check' and versions.id = jobs.id and jobs.ended_at is null`,
    `update jobs set account_id = training_runs.created_by from training_runs
      where jobs.kind = 'train' and training_runs.id = jobs.id and jobs.ended_at is null`,
    `update jobs set account_id = coalesce(evaluations.requested_by, versions.published_by, jobs.account_id),
        episodes = evaluations.episodes, cost = greatest(1, evaluations.episodes / 200.0)
      from evaluations left join versions on versions.id = evaluations.version_id
      where jobs.kind = 'evaluate' and evaluations.id = jobs.id and jobs.ended_at is null`,
    'drop index jobs_open_idx',
    `create index jobs_open_idx on jobs (kind, account_id, priority desc, created_at, id)
      where state in ('waiting', 'leased')`,
    `create table queue_turns (
      kind text not null,
      account_id uuid not null,
      -- Start tag of its latest lease, and the earliest one of its next.
      started double precision not null,
      turn double precision not null,
      constraint queue_turns_pkey primary key (kind, account_id)
    )`,
    'create index queue_turns_started_idx on queue_turns (kind, started desc)',
    `create table queue_passes (
      kind text constraint queue_passes_pkey primary key,
      passed integer not null
    )`,
  ],
}
