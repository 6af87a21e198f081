import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireOperator } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { findReadablePackage, findReadableVersion } from '../packages/index.ts'

export async function isNondeterministic(query: Queries, versionId: string): Promise<boolean> {
  const found = query.selectFrom('nondeterministic_scenarios').select('version_id').where('version_id', '=', versionId)
  return (await found.executeTakeFirst()) !== undefined
}

/** Marks a scenario version as nondeterministic: no agent is judged by it until an operator clears the mark. */
export async function markNondeterministic(
  { log }: Services,
  query: Transaction<Schema>,
  { evaluationId, versionId, message }: { evaluationId: string; versionId: string; message: string },
): Promise<void> {
  await query
    .insertInto('nondeterministic_scenarios')
    .values({ version_id: versionId, evaluation_id: evaluationId, message: message.slice(0, 4_000) })
    .onConflict((conflict) => conflict.column('version_id').doNothing())
    .execute()
  log.warn('a scenario is nondeterministic: agents are not judged by it', { version_id: versionId, message })
}

type Clearing = { actor: Actor | null; name: string; version: string; ip: string | null }

/**
 * Clears the mark of a scenario version. Verifications that were inconclusive because of it are repeated in idle time.
 * For operators, if a worker was at fault. False if the version has no mark. Throws `package_not_found`,
 * `version_not_found`.
 */
export async function clearNondeterministic(
  { database }: Services,
  { actor, name, version, ip }: Clearing,
): Promise<boolean> {
  const known = requireOperator(actor, 'account:manage')
  const scenario = await findReadablePackage(database.query, known, name)
  const { id, version: exact } = await findReadableVersion(database.query, scenario, version)
  return database.transaction(async (query) => {
    const cleared = await query
      .deleteFrom('nondeterministic_scenarios')
      .where('version_id', '=', id)
      .returning(['evaluation_id', 'message', sql<string>`created_at::text`.as('marked_at')])
      .executeTakeFirst()
    if (cleared === undefined) return false
    await recordAudit(query, {
      ...{ actor: known, ip, action: 'scenario.clear_nondeterministic', subject: `${scenario.name}@${exact}` },
      data: { evaluation: cleared.evaluation_id, message: cleared.message, marked_at: cleared.marked_at },
    })
    return true
  })
}
