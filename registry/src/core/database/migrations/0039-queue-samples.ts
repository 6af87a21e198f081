import type { Migration } from './migration.ts'

/** The queue and the workers, sampled each minute and kept for a week. */
export const queueSamples: Migration = {
  name: '0039-queue-samples',
  compatible: true,
  statements: [
    `create table queue_samples (
      at timestamptz(3) not null,
      kind text not null,
      waiting integer not null,
      leased integer not null,
      -- Of the job that has waited longest; 0 if none waits.
      oldest_seconds integer not null,
      -- Workers with a job of the kind.
      workers integer not null,
      -- Workers seen in the last two minutes, of any kind.
      workers_connected integer not null,
      constraint queue_samples_pkey primary key (at, kind)
    )`,
  ],
}
