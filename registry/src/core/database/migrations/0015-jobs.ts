import type { Migration } from './migration.ts'

/**
 * The queue of jobs. Before, pg-boss kept it in a schema of its own, `jobs`: what was open there goes on here, under the
 * leases that were given, each for another minute.
 */
export const jobs: Migration = {
  name: '0015-jobs',
  statements: [
    `create table jobs (
      kind text not null constraint jobs_kind_check check (kind in ('check', 'evaluate', 'train')),
      -- That of the version, evaluation or run.
      id uuid not null,
      state text not null default 'waiting'
        constraint jobs_state_check check (state in ('waiting', 'leased', 'exhausted', 'over')),
      priority integer not null default 0,
      -- Fences: grows with every lease, and never falls.
      leases integer not null default 0,
      -- Leases that count against the limit: all but the released ones.
      attempts integer not null default 0,
      worker_id uuid,
      leased_at timestamptz,
      leased_until timestamptz,
      created_at timestamptz not null default now(),
      ended_at timestamptz,
      constraint jobs_pkey primary key (kind, id),
      constraint jobs_leased_check check ((state = 'leased') = (leased_until is not null)
        and (state <> 'leased' or leased_at is not null)),
      constraint jobs_over_check check ((state = 'over') = (ended_at is not null))
    )`,
    "create index jobs_open_idx on jobs (kind, priority desc, created_at) where state in ('waiting', 'leased')",
    "create index jobs_leased_until_idx on jobs (leased_until) where state = 'leased'",
    'create index jobs_ended_at_idx on jobs (ended_at) where ended_at is not null',
    // In pg-boss a claim that is not the first adds one to retry_count; a release adds one to retry_limit.
    `do $$ begin
      if to_regclass('jobs.job') is null then return; end if;
      insert into jobs (kind, id, state, priority, leases, attempts, worker_id, leased_at, leased_until, created_at)
      select name, id, case when state = 'active' then 'leased' else 'waiting' end, priority,
        retry_count + (started_on is not null)::integer,
        greatest(0, case name when 'train' then 1000000 else 3 end - 1 - (retry_limit - retry_count)
          + (started_on is not null)::integer),
        case when state = 'active' then (output ->> 'worker')::uuid end, started_on,
        case when state = 'active' then now() + interval '60 seconds' end, created_on
      from jobs.job where name in ('check', 'evaluate', 'train') and state in ('created', 'retry', 'active');
      insert into jobs (kind, id, state, priority, leases, attempts, created_at)
      select source_name, source_id, 'exhausted', priority, source_retry_count + 1,
        case source_name when 'train' then 1000000 else 3 end, coalesce(source_created_on, created_on)
      from jobs.job where name in ('check-failed', 'evaluate-failed', 'train-failed')
        and state in ('created', 'retry', 'active') and source_id is not null
      on conflict do nothing;
      drop schema jobs cascade;
    end $$`,
  ],
}
