import type { Migration } from './migration.ts'

/** Other state shared by all replicas: the secret, and the scheduled tasks. */
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
