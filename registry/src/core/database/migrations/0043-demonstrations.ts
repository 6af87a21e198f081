import type { Migration } from './migration.ts'

/** Episodes that people played in the page and keep: a worker replays the actions, which gives the score. */
export const demonstrations: Migration = {
  name: '0043-demonstrations',
  statements: [
    `alter table jobs drop constraint jobs_kind_check,
      add constraint jobs_kind_check check (kind in ('replay', 'check', 'evaluate', 'train'))`,
    `create table demonstrations (
      id uuid primary key default gen_random_uuid(),
      version_id uuid not null references versions (id),
      account_id uuid not null references accounts (id),
      seed bigint not null,
      episode integer not null,
      steps integer not null,
      -- JSON, until they have been replayed.
      actions text,
      state text not null default 'checking'
        constraint demonstrations_state_check check (state in ('checking', 'kept', 'refused')),
      message text,
      return_sum double precision,
      -- The line of a file of demonstrations, as JSON.
      line text,
      tasks jsonb,
      created_at timestamptz(3) not null default now(),
      constraint demonstrations_episode_key unique (version_id, account_id, seed, episode),
      constraint demonstrations_actions_check check ((state = 'checking') = (actions is not null)),
      constraint demonstrations_kept_check check (
        (state = 'kept') = (line is not null) and (line is null) = (return_sum is null))
    )`,
    'create index demonstrations_account_id_idx on demonstrations (account_id)',
  ],
}
