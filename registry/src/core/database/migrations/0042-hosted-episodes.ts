import type { Migration } from './migration.ts'

/** Episodes of hosted agents with memory, by handles that clients of MCP hold. */
export const hostedEpisodes: Migration = {
  name: '0042-hosted-episodes',
  compatible: true,
  statements: [
    `create table hosted_episodes (
      -- SHA-256 (hex): the handle itself is the client's alone.
      handle_hash text constraint hosted_episodes_pkey primary key,
      account_id uuid not null constraint hosted_episodes_account_id_fkey references accounts (id),
      version_id uuid not null constraint hosted_episodes_version_id_fkey references versions (id),
      next_step integer not null default 0 constraint hosted_episodes_next_step_check check (next_step >= 0),
      -- Null before the first decision.
      state text,
      -- {"asked": hash, "decision": …} as JSON; null before the first decision.
      last text,
      used_at timestamptz(3) not null default now()
    )`,
    'create index hosted_episodes_account_id_idx on hosted_episodes (account_id)',
    'create index hosted_episodes_used_at_idx on hosted_episodes (used_at)',
  ],
}
