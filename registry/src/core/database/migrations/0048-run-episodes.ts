import type { Migration } from './migration.ts'

/** Episodes sampled during training. */
export const runEpisodes: Migration = {
  name: '0048-run-episodes',
  compatible: true,
  statements: [
    `create table run_episodes (
      run_id uuid not null constraint run_episodes_run_id_fkey references training_runs (id) on delete cascade,
      iteration bigint not null,
      steps bigint not null,
      episode_return double precision not null,
      length bigint not null,
      episode jsonb not null,
      constraint run_episodes_pkey primary key (run_id, iteration)
    )`,
  ],
}
