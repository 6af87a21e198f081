import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { ServerConfig } from '../../core/services.ts'

/** Free training quota of an account per month (UTC), in minor units of the server's currency. */
export type TrainingQuota = {
  limitMinor: number
  /** Used this month, including reservations of runs in progress. May exceed a limit that was lowered. */
  usedMinor: number
  /** When the next month begins. */
  resetsAt: Date
}

/**
 * An account's free quota of this month. Null if training is never charged. Lock `training-quota:<account>` before
 * reserving from it.
 */
export async function trainingQuota(
  query: Queries,
  { training: { freeMinorPerMonth, currency } }: Pick<ServerConfig, 'training'>,
  accountId: string,
): Promise<TrainingQuota | null> {
  if (freeMinorPerMonth === null) return null
  const month = sql`date_trunc('month', now() at time zone 'UTC')`
  // One statement, so that each run's amount is either still reserved or already charged.
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
