import type { Verification } from '@agentgym/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'

/** Times in milliseconds, for they may go through JSON. */
export type VerificationRow = {
  begun_at: number
  created_at: number | null
  state: Exclude<Verification['state'], 'pending'> | null
  message: string | null
  statement: string | null
  signature: string | null
  key_id: string | null
}

/**
 * What came of running a version again: its latest verification; before there is any, that a worker is at it. Null where
 * nobody is to. Whoever asks for another run takes nothing away while it is under way.
 */
export async function describeVerification(query: Queries, versionId: string): Promise<Verification | null> {
  const { rows } = await latestVerification(sql`${versionId}::uuid`).execute(query)
  return verificationOf(rows[0])
}

/** Selects the row of it; none where nobody is to run the version. */
export function latestVerification(versionId: RawBuilder<unknown>): RawBuilder<VerificationRow> {
  return sql<VerificationRow>`
    select (1000 * extract(epoch from evaluations.created_at))::bigint as begun_at,
      (1000 * extract(epoch from verifications.created_at))::bigint as created_at, verifications.state,
      verifications.message, verifications.statement, verifications.signature, verifications.key_id
    from evaluations left join verifications on verifications.evaluation_id = evaluations.id
    where evaluations.version_id = ${versionId} and evaluations.purpose = 'verification'
    order by verifications.created_at desc nulls last, evaluations.created_at desc, evaluations.id limit 1`
}

export function verificationOf(row: VerificationRow | undefined | null): Verification | null {
  if (row === undefined || row === null) return null
  const { state, message, statement, signature, key_id } = row
  return {
    state: state ?? 'pending',
    message,
    signed: statement === null || signature === null || key_id === null ? null : { statement, signature, key_id },
    created_at: new Date(row.created_at ?? row.begun_at).toISOString(),
  }
}
