import type { Migration } from './migration.ts'

/**
 * Verification by agreement: every run of an evaluation is on record, with the worker and its runtime signature, and what
 * they mean together is decided from the record. Workers that others contradict are held back.
 */
export const evaluationRuns: Migration = {
  name: '0020-evaluation-runs',
  statements: [
    `create table evaluation_runs (
      id uuid constraint evaluation_runs_pkey primary key default gen_random_uuid(),
      evaluation_id uuid not null constraint evaluation_runs_evaluation_id_fkey references evaluations (id),
      worker_id uuid,
      worker_name text,
      -- ID of its token's account: no account has that of the worker inside the server.
      owner uuid not null,
      machine text,
      runtime jsonb not null constraint evaluation_runs_runtime_check check (jsonb_typeof(runtime) = 'object'),
      outcome text not null constraint evaluation_runs_outcome_check
        check (outcome in ('reproduced', 'differs', 'nondeterministic', 'refused', 'broken')),
      result text,
      message text,
      report jsonb not null,
      created_at timestamptz(3) not null default now(),
      constraint evaluation_runs_result_check check ((outcome in ('reproduced', 'differs')) = (result is not null))
    )`,
    'create index evaluation_runs_evaluation_id_idx on evaluation_runs (evaluation_id)',
    `create trigger evaluation_runs_fixed before update or delete on evaluation_runs for each row
      execute function refuse('a run of an evaluation is never changed')`,
    `create table worker_holds (
      id uuid constraint worker_holds_pkey primary key default gen_random_uuid(),
      worker_id uuid,
      worker_name text,
      owner uuid not null,
      machine text,
      evaluation_id uuid not null constraint worker_holds_evaluation_id_fkey references evaluations (id),
      reason text not null,
      created_at timestamptz(3) not null default now(),
      released_at timestamptz(3),
      released_by uuid constraint worker_holds_released_by_fkey references accounts (id)
    )`,
    'create index worker_holds_open_idx on worker_holds (owner) where released_at is null',
    `create table nondeterministic_scenarios (
      version_id uuid constraint nondeterministic_scenarios_pkey primary key
        constraint nondeterministic_scenarios_version_id_fkey references versions (id),
      evaluation_id uuid not null
        constraint nondeterministic_scenarios_evaluation_id_fkey references evaluations (id),
      message text not null,
      created_at timestamptz(3) not null default now()
    )`,
    // Null and false: they have not leased since the upgrade.
    'alter table workers add column owner uuid',
    'alter table workers add column evaluates boolean not null default false',
    // Marks of the workers that may not have the job: they have run it.
    `alter table jobs add column barred text[] not null default '{}'`,
    'alter table verifications drop constraint verifications_state_check',
    "create index verifications_inconclusive_idx on verifications (version_id) where state = 'inconclusive'",
    `alter table verifications add constraint verifications_state_check
      check (state in ('verified', 'mismatch', 'failed', 'unavailable', 'inconclusive'))`,
  ],
}
