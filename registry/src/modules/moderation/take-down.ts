import { sql, type Transaction } from 'kysely'
import type { Actor } from '../../core/access/actor.ts'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { PackageRow } from '../packages/packages.store.ts'
import { oweRefunds } from './owed-refunds.ts'

/** Buyers of so many days get their money back. */
const refundedDays = 30
const millisecondsADay = 86_400_000

export type Moderated = Pick<PackageRow, 'id' | 'name' | 'owner_id'>
type Deciding = { actor: Actor; reason: string; ip: string }

/**
 * Takes a package down: nobody finds, buys or installs it any more. Those who bought it keep it, unless `forAll`; then, and
 * with `refund`, the buyers of the last 30 days get their money back. False where it was down before: then only what is more
 * is done. With the package locked.
 */
export async function takeDown(
  query: Transaction<Schema>,
  { id, name }: Moderated,
  { actor, reason, ip, forAll, refund }: Deciding & { forAll: boolean; refund: boolean },
): Promise<boolean> {
  const now = sql<Date>`now()`
  const changed = await query
    .updateTable('packages')
    .set((eb) => ({
      taken_down_at: eb.fn.coalesce('taken_down_at', now),
      taken_down_reason: reason,
      taken_down_for_all: sql<boolean>`taken_down_for_all or ${forAll}`,
    }))
    .where('id', '=', id)
    .where(({ or, eb }) =>
      or([eb('taken_down_at', 'is', null), ...(forAll ? [eb('taken_down_for_all', '=', false)] : [])]),
    )
    .executeTakeFirst()
  const isNew = changed.numUpdatedRows > 0n
  if (refund || (forAll && isNew)) {
    const paidSince = new Date(Date.now() - refundedDays * millisecondsADay)
    await oweRefunds(query, { packageId: id, versionId: null, paidSince, reason: `It was taken down: ${reason}` })
  }
  if (isNew || refund)
    await recordAudit(query, {
      ...{ actor, ip, action: 'package.take_down', subject: name },
      data: { reason, for_all: forAll, refund: refund || forAll },
    })
  return isNew
}

/** Puts it back, and upholds every appeal that waits. False where it was not down. With the package locked. */
export async function restore(
  query: Transaction<Schema>,
  { id, name }: Moderated,
  { actor, reason, ip }: Deciding,
): Promise<boolean> {
  const changed = await query
    .updateTable('packages')
    .set({ taken_down_at: null, taken_down_reason: null, taken_down_for_all: false })
    .where('id', '=', id)
    .where('taken_down_at', 'is not', null)
    .executeTakeFirst()
  await query
    .updateTable('reports')
    .set({ state: 'upheld', decided_by: actor.accountId, decision: reason, decided_at: sql<Date>`now()` })
    .where('package_id', '=', id)
    .where('reason', '=', 'appeal')
    .where('state', '=', 'open')
    .execute()
  if (changed.numUpdatedRows === 0n) return false
  await recordAudit(query, { actor, ip, action: 'package.restore', subject: name, data: { reason } })
  return true
}
