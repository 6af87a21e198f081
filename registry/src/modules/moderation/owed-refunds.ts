import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { describe } from '../../core/http/answer-error.ts'
import type { Services } from '../../core/services.ts'
import { refundOrdersOf } from '../orders/index.ts'

type Owed = {
  packageId: string
  /** Null: buyers of any version. */
  versionId: string | null
  paidSince: Date
  /** Shown to buyers. */
  reason: string
}

/**
 * Records owed refunds in the transaction that causes them. Refunds take one transaction per order. If the process
 * dies, the record remains and the scheduled task continues.
 */
export async function oweRefunds(query: Transaction<Schema>, owed: Owed): Promise<void> {
  await query
    .insertInto('owed_refunds')
    .values({
      package_id: owed.packageId,
      version_id: owed.versionId,
      paid_since: owed.paidSince,
      reason: owed.reason,
    })
    .execute()
}

/** Refunds every buyer who is owed money. Idempotent, also under concurrent calls. */
export async function giveOwedRefunds(services: Services): Promise<void> {
  const { query } = services.database
  const open = await query
    .selectFrom('owed_refunds')
    .selectAll()
    .where('done_at', 'is', null)
    .orderBy('created_at')
    .execute()
  for (const { id, package_id: packageId, version_id: versionId, paid_since: since, reason } of open) {
    try {
      const of = versionId === null ? { packageId } : { versionId }
      const refunded = await refundOrdersOf(services, { of, reason, since })
      await query
        .updateTable('owed_refunds')
        .set({ done_at: sql<Date>`now()` })
        .where('id', '=', id)
        .where('done_at', 'is', null)
        .execute()
      services.log.info('buyers were refunded', { package_id: packageId, version_id: versionId, refunded })
    } catch (error) {
      services.log.error('owed refunds failed; trying again', { owed: id, error: describe(error) })
    }
  }
}

type Mismatch = {
  /** The verification that found the mismatch. */
  evaluationId: string
  versionId: string
  packageId: string
  name: string
  version: string
  message: string
}

/**
 * Records that an agent's buyers are owed a refund, in the transaction that stores the mismatch. Buyers who knew of an
 * earlier mismatch get none; otherwise they could buy, use, and request verification again for a refund. Resolves to
 * whether any buyer is owed a refund.
 */
export async function oweRefundsOfMismatch(
  query: Transaction<Schema>,
  { evaluationId, versionId, packageId, name, version, message }: Mismatch,
): Promise<boolean> {
  const { rows } = await sql<{ since: Date | null }>`
    with failed as (
      select max(created_at) as at from verifications
      where version_id = ${versionId} and state in ('mismatch', 'failed') and evaluation_id <> ${evaluationId}
    ), believed as (
      select case when failed.at is null then 'epoch'::timestamptz else (
        select min(created_at) from verifications
        where version_id = ${versionId} and state in ('verified', 'unavailable') and created_at > failed.at
      ) end as since from failed
    )
    select since from believed where exists (select from orders where version_id = ${versionId} and state = 'paid'
      and total_minor > refunded_minor and paid_at >= believed.since)`.execute(query)
  const since = rows[0]?.since
  if (since === undefined || since === null) return false
  const reason = `The marketplace ran ${name}@${version} again, and the result did not match its claims. ${message}`
  await oweRefunds(query, { packageId, versionId, paidSince: since, reason: reason.slice(0, 2_000) })
  return true
}
