import type { Verification } from '@agentgym/contract'
import type { Queries } from '../database/database.ts'

/**
 * What came of running a version again: its latest verification; before there is any, that a worker is at it. Null where
 * nobody is to. Whoever asks for another run takes nothing away while it is under way.
 */
export async function describeVerification(query: Queries, versionId: string): Promise<Verification | null> {
  const row = await query
    .selectFrom('evaluations')
    .leftJoin('verifications', 'verifications.evaluation_id', 'evaluations.id')
    .select(['evaluations.created_at as begun_at', 'verifications.created_at', 'verifications.state'])
    .select(['verifications.message', 'verifications.statement', 'verifications.signature', 'verifications.key_id'])
    .where('evaluations.version_id', '=', versionId)
    .where('evaluations.purpose', '=', 'verification')
    .orderBy('verifications.created_at', (order) => order.desc().nullsLast())
    .orderBy('evaluations.created_at', 'desc')
    .orderBy('evaluations.id')
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return null
  const { state, message, statement, signature, key_id } = row
  return {
    state: state ?? 'pending',
    message,
    signed: statement === null || signature === null || key_id === null ? null : { statement, signature, key_id },
    created_at: (row.created_at ?? row.begun_at).toISOString(),
  }
}
