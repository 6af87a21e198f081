import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { oweRefunds } from './owed-refunds.ts'

type Failure = {
  /** The one that failed. */
  evaluationId: string
  versionId: string
  packageId: string
  name: string
  version: string
  message: string
}

/**
 * An agent that was bought did not do again what it claims: in the transaction that records it, notes that its buyers get
 * their money back. Those who bought it knowing of an earlier failure have what they paid for: nobody buys, uses and is paid
 * back by asking for the same failure again. Resolves to whether anybody is owed.
 */
export async function oweRefundsOfFailure(
  query: Transaction<Schema>,
  { evaluationId, versionId, packageId, name, version, message }: Failure,
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
  const reason = `The marketplace ran ${name}@${version} again, and it did not hold what it claims. ${message}`
  await oweRefunds(query, { packageId, versionId, paidSince: since, reason: reason.slice(0, 2_000) })
  return true
}
