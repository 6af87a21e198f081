import type { Migration } from './migration.ts'

/** What all replicas of an installation share beside its data: its secret, and who does which upkeep when. */
export const installation: Migration = {
  name: '0004-installation',
  statements: [
    `create table installation (
      name text constraint installation_pkey primary key,
      value text not null
    )`,
    `create table upkeep (
      task text constraint upkeep_pkey primary key,
      next_at timestamptz(3) not null
    )`,
  ],
}
