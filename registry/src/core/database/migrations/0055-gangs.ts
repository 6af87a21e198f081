import type { Migration } from './migration.ts'

/** Runs of several workers, and the seats of those workers: see core/queue/gang-seats.ts. */
export const gangs: Migration = {
  name: '0055-gangs',
  compatible: true,
  statements: [
    ...['training_runs', 'jobs'].map(
      (table) =>
        `alter table ${table} add column workers smallint not null default 1 constraint ${table}_workers_check check (workers between 1 and 64)`,
    ),
    `create table gang_seats (
      kind text not null default 'train' constraint gang_seats_kind_check check (kind = 'train'),
      job_id uuid not null,
      worker_id uuid not null,
      -- Number of the lease that the workers share, and the worker's rank; null until all seats are taken.
      leases integer,
      rank smallint,
      held_until timestamptz(3) not null,
      taken_at timestamptz not null default clock_timestamp(),
      constraint gang_seats_pkey primary key (job_id, worker_id),
      constraint gang_seats_job_id_fkey foreign key (kind, job_id) references jobs (kind, id) on delete cascade,
      constraint gang_seats_rank_key unique (job_id, leases, rank),
      constraint gang_seats_rank_check check ((rank is null) = (leases is null))
    )`,
    'create index gang_seats_worker_id_idx on gang_seats (worker_id)',
  ],
}
