import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { ServerConfig } from '../../core/services.ts'

/** What an account trains free of charge in a month (UTC), in minor units of the server's currency. */
export type TrainingQuota = {
  limitMinor: number
  /** What its runs have used this month, and what is reserved for runs in progress. May exceed a limit that was lowered. */
  usedMinor: number
  /** When the next month begins. */
  resetsAt: Date
}

/**
 * An account's free quota of this month. Null where training is never charged. Lock `training-quota:<account>` first to
 * reserve some of what is left.
 */
export async function trainingQuota(
  query: Queries,
  { training: { freeMinorPerMonth, currency } }: Pick<ServerConfig, 'training'>,
  accountId: string,
): Promise<TrainingQuota | null> {
  if (freeMinorPerMonth === null) return null
  const month = sql`date_trunc('month', now() at time zone 'UTC')`
  // One statement, so that what a run reserves is either still reserved or already charged.
  const { rows } = await sql<{ used: number; resets_at: Date }>`
    select ((select coalesce(sum(training_charges.free_minor), 0) from training_charges
        join training_runs on training_runs.id = training_charges.run_id
        where owner_id = ${accountId} and currency = ${currency}
          and training_charges.created_at >= ${month} at time zone 'UTC')
      + (select coalesce(sum(free_minor), 0) from training_runs
        where owner_id = ${accountId} and cover_currency = ${currency} and free_minor > 0))::bigint as used,
      (${month} + interval '1 month') at time zone 'UTC' as resets_at`.execute(query)
  const [{ used, resets_at: resetsAt }] = rows
  return { limitMinor: freeMinorPerMonth, usedMinor: used, resetsAt }
}
