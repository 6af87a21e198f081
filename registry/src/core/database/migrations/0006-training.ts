import type { Migration } from './migration.ts'

const sha256 = '^[0-9a-f]{64}$'
const objectKey = '^sha256/[0-9a-f]{64}$'

/** Training runs and what they leave, evaluations, verifications and the keys that sign them, workers. */
export const training: Migration = {
  name: '0006-training',
  statements: [
    `create table training_runs (
      id uuid constraint training_runs_pkey primary key default gen_random_uuid(),
      owner_id uuid not null constraint training_runs_owner_id_fkey references accounts (id),
      created_by uuid not null constraint training_runs_created_by_fkey references accounts (id),
      scenario_version_id uuid not null constraint training_runs_scenario_version_id_fkey references versions (id),
      algorithm text not null,
      settings jsonb not null constraint training_runs_settings_check check (jsonb_typeof(settings) = 'object'),
      seed bigint not null constraint training_runs_seed_check check (seed between 0 and 4294967295),
      note text,
      trajectories_every integer not null default 0,
      publish_name text,
      publish_version text,
      publish_visibility text constraint training_runs_publish_visibility_check
        check (publish_visibility in ('public', 'private')),
      idempotency_key text,
      request_hash text not null,
      traceparent text,
      state text not null default 'queued' constraint training_runs_state_check
        check (state in ('queued', 'running', 'completed', 'failed', 'cancelled', 'budget_exceeded')),
      attempt integer not null default 0,
      idle_attempts integer not null default 0,
      resumptions integer not null default 0,
      worker_id uuid,
      worker_name text,
      price_minor_per_hour bigint,
      attempt_price_milliseconds bigint not null default 0,
      attempt_metered_ms bigint not null default 0,
      price_milliseconds bigint not null default 0
        constraint training_runs_price_milliseconds_check check (price_milliseconds >= 0),
      budget_minor bigint constraint training_runs_budget_minor_check check (budget_minor > 0),
      budget_warned_at timestamptz(3),
      cancel_requested_at timestamptz(3),
      progress jsonb,
      iteration bigint not null default 0,
      last_seq bigint not null default 0,
      error jsonb,
      evaluation jsonb,
      agent_object_key text constraint training_runs_agent_object_key_check check (agent_object_key ~ '${objectKey}'),
      agent_integrity text,
      agent_size integer,
      published_version_id uuid
        constraint training_runs_published_version_id_fkey references versions (id),
      created_at timestamptz(3) not null default now(),
      started_at timestamptz(3),
      ended_at timestamptz(3),
      constraint training_runs_idempotency_key unique (owner_id, idempotency_key),
      constraint training_runs_published_version_key unique (published_version_id),
      constraint training_runs_publish_check check ((publish_name is null) = (publish_version is null)),
      constraint training_runs_ended_at_check check ((ended_at is null) = (state in ('queued', 'running'))),
      constraint training_runs_agent_check check (state <> 'completed' or agent_object_key is not null)
    )`,
    'create index training_runs_owner_idx on training_runs (owner_id, created_at, id)',
    // A run that came to no agent gives its number back.
    `create unique index training_runs_publish_key on training_runs (publish_name, publish_version)
      where state not in ('failed', 'cancelled')`,
    'create index training_runs_scenario_version_idx on training_runs (scenario_version_id)',
    'create index training_runs_agent_object_key_idx on training_runs (agent_object_key)',
    // What /metrics counts: all of it is in the index.
    'create index training_runs_state_idx on training_runs (state, ended_at, started_at)',
    `create index training_runs_open_idx on training_runs (created_at) where state in ('queued', 'running')`,
    "create index training_runs_open_by_owner_idx on training_runs (owner_id) where state in ('queued', 'running')",
    // Completed, failed and cancelled are for good; only a run that ran out of budget goes on.
    `create trigger training_runs_ended_once before update of state on training_runs for each row
      when (old.state in ('completed', 'failed', 'cancelled') and old.state is distinct from new.state)
      execute function refuse('a run ends once')`,
    `create table training_metrics (
      run_id uuid not null constraint training_metrics_run_id_fkey references training_runs (id),
      iteration bigint not null constraint training_metrics_iteration_check check (iteration > 0),
      seq bigint not null,
      at timestamptz(3) not null default now(),
      data jsonb not null,
      constraint training_metrics_pkey primary key (run_id, iteration)
    )`,
    'create unique index training_metrics_seq_idx on training_metrics (run_id, seq)',
    `create table run_events (
      run_id uuid not null constraint run_events_run_id_fkey references training_runs (id),
      seq bigint not null,
      at timestamptz(3) not null default now(),
      type text not null,
      data jsonb not null,
      constraint run_events_pkey primary key (run_id, seq)
    )`,
    `create table checkpoints (
      run_id uuid not null constraint checkpoints_run_id_fkey references training_runs (id),
      iteration bigint not null,
      steps bigint not null,
      seconds double precision not null,
      price_milliseconds bigint not null,
      object_key text not null constraint checkpoints_object_key_check check (object_key ~ '${objectKey}'),
      sha256 text not null constraint checkpoints_sha256_check check (sha256 ~ '${sha256}'),
      size integer not null,
      created_at timestamptz(3) not null default now(),
      constraint checkpoints_pkey primary key (run_id, iteration)
    )`,
    'create index checkpoints_object_key_idx on checkpoints (object_key)',
    `create table trajectories (
      id uuid constraint trajectories_pkey primary key default gen_random_uuid(),
      run_id uuid not null constraint trajectories_run_id_fkey references training_runs (id),
      iteration bigint not null,
      environment integer not null,
      episode_return double precision not null,
      length integer not null,
      partial boolean not null,
      object_key text not null constraint trajectories_object_key_check check (object_key ~ '${objectKey}'),
      line integer not null,
      created_at timestamptz(3) not null default now(),
      constraint trajectories_run_key unique (run_id, iteration, environment)
    )`,
    'create index trajectories_object_key_idx on trajectories (object_key)',
    `create table trajectory_steps (
      trajectory_id uuid not null constraint trajectory_steps_trajectory_id_fkey
        references trajectories (id) on delete cascade,
      step integer not null,
      observation jsonb not null,
      action jsonb not null,
      reward double precision not null,
      log_probability double precision not null,
      terminated boolean not null,
      truncated boolean not null,
      constraint trajectory_steps_pkey primary key (trajectory_id, step)
    )`,
    `create table training_charges (
      run_id uuid not null constraint training_charges_run_id_fkey references training_runs (id),
      resumption integer not null,
      amount_minor bigint not null constraint training_charges_amount_minor_check check (amount_minor >= 0),
      currency text not null,
      price_milliseconds bigint not null,
      created_at timestamptz(3) not null default now(),
      constraint training_charges_pkey primary key (run_id, resumption)
    )`,
    `create trigger training_charges_fixed before update or delete on training_charges for each row
      execute function refuse('a charge is written once')`,
    `create table evaluations (
      id uuid constraint evaluations_pkey primary key default gen_random_uuid(),
      purpose text not null constraint evaluations_purpose_check check (purpose in ('verification', 'requested')),
      version_id uuid constraint evaluations_version_id_fkey references versions (id),
      run_id uuid constraint evaluations_run_id_fkey references training_runs (id),
      requested_by uuid constraint evaluations_requested_by_fkey references accounts (id),
      episodes integer not null,
      seed bigint not null,
      state text not null default 'queued' constraint evaluations_state_check
        check (state in ('queued', 'running', 'completed', 'failed')),
      evaluation jsonb,
      error jsonb,
      traceparent text,
      created_at timestamptz(3) not null default now(),
      ended_at timestamptz(3),
      constraint evaluations_subject_check check ((version_id is null) <> (run_id is null)),
      constraint evaluations_ended_at_check check ((ended_at is null) = (state in ('queued', 'running')))
    )`,
    'create index evaluations_version_id_idx on evaluations (version_id)',
    'create index evaluations_run_id_idx on evaluations (run_id)',
    `create table agent_versions (
      version_id uuid constraint agent_versions_pkey primary key
        constraint agent_versions_version_id_fkey references versions (id),
      manifest jsonb not null constraint agent_versions_manifest_check check (jsonb_typeof(manifest) = 'object')
    )`,
    `create trigger agent_versions_fixed before update or delete on agent_versions for each row
      execute function refuse('what was published is never changed')`,
    `create table signing_keys (
      id text constraint signing_keys_pkey primary key,
      public_key text not null,
      sealed_private_key text,
      created_at timestamptz(3) not null default now(),
      retired_at timestamptz(3)
    )`,
    `create table verifications (
      evaluation_id uuid constraint verifications_pkey primary key
        constraint verifications_evaluation_id_fkey references evaluations (id),
      version_id uuid not null constraint verifications_version_id_fkey references versions (id),
      scenario_version_id uuid constraint verifications_scenario_version_id_fkey references versions (id),
      state text not null constraint verifications_state_check
        check (state in ('verified', 'mismatch', 'failed', 'unavailable')),
      message text,
      return_mean double precision,
      statement text,
      signature text,
      key_id text constraint verifications_key_id_fkey references signing_keys (id),
      created_at timestamptz(3) not null default now(),
      constraint verifications_signed_check check
        ((state = 'verified') = (statement is not null and signature is not null and key_id is not null))
    )`,
    'create index verifications_version_id_idx on verifications (version_id, created_at)',
    `create index verifications_leaderboard_idx on verifications (scenario_version_id, return_mean)
      where state = 'verified'`,
    `create trigger verifications_fixed before update or delete on verifications for each row
      execute function refuse('a verification is never changed')`,
    `create table workers (
      id uuid constraint workers_pkey primary key,
      name text not null,
      description jsonb not null,
      usage jsonb not null,
      seen_at timestamptz(3) not null default now()
    )`,
    'create index workers_seen_at_idx on workers (seen_at)',
  ],
}
