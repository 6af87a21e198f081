import type { Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'

/** Calls of a trial that were made so far. Held until the transaction ends: nobody counts on the same ones. */
export async function holdTrial(
  query: Transaction<Schema>,
  { accountId, packageId }: { accountId: string; packageId: string },
): Promise<number> {
  const { calls } = await query
    .insertInto('trials')
    .values({ account_id: accountId, package_id: packageId, calls: 0 })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'package_id']).doUpdateSet(({ ref }) => ({ calls: ref('trials.calls') })),
    )
    .returning('calls')
    .executeTakeFirstOrThrow()
  return calls
}

export async function writeTrial(
  query: Transaction<Schema>,
  { accountId, packageId, calls }: { accountId: string; packageId: string; calls: number },
): Promise<void> {
  await query
    .updateTable('trials')
    .set({ calls })
    .where('account_id', '=', accountId)
    .where('package_id', '=', packageId)
    .execute()
}

/** Calls of a trial that were admitted and have not ended: they count as made until they fail. Hold the trial before. */
export async function openTrialCalls(
  query: Transaction<Schema>,
  { accountId, packageId }: { accountId: string; packageId: string },
): Promise<number> {
  const { open } = await query
    .selectFrom('hosted_calls')
    .select(({ fn }) => fn.countAll<number>().as('open'))
    .where('account_id', '=', accountId)
    .where('package_id', '=', packageId)
    .where('because', '=', 'trial')
    .where('state', 'in', ['waiting', 'leased'])
    .executeTakeFirstOrThrow()
  return Number(open)
}
