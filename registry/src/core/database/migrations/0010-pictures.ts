import type { Migration } from './migration.ts'

/** What the pages of a version draw: an episode that a worker wrote down, and how an agent that was trained here learned. */
export const pictures: Migration = {
  name: '0010-pictures',
  statements: [
    `create table sample_episodes (
      version_id uuid constraint sample_episodes_pkey primary key
        constraint sample_episodes_version_id_fkey references versions (id),
      episode jsonb not null
    )`,
    // Separate from the run, whose metrics expire and which readers of the agent may not see.
    `create table learning_curves (
      version_id uuid constraint learning_curves_pkey primary key
        constraint learning_curves_version_id_fkey references versions (id),
      points jsonb not null
    )`,
  ],
}
