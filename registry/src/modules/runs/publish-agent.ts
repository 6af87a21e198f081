import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Actor } from '../../core/access/authorise.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import {
  createVersion,
  keepLearningCurve,
  type PackageServices,
  type VettedPackage,
  vetPackage,
} from '../packages/index.ts'
import type { End, RunContext, RunRow } from './run-state.ts'

type Published = Extract<End, { state: 'completed' }>['published']

/** An agent that may be published, or why it may not; null where nobody asked for that. */
export type VettedAgent = { objectKey: string; vetted: VettedPackage | { error: ErrorReport } } | null

/** Looks at a run's agent before the transaction that may publish it. */
export async function vetRunAgent(services: PackageServices, run: RunRow): Promise<VettedAgent> {
  const { publish_name: name, publish_version: version, agent_object_key: objectKey } = run
  if (name === null || version === null || objectKey === null) return null
  const bytes = await services.objects.get(objectKey)
  if (bytes === undefined) throw new Error(`${objectKey}, the agent of run ${run.id}, is missing from the store`)
  try {
    return { objectKey, vetted: await vetPackage(services, bytes, name, version) }
  } catch (error) {
    return { objectKey, vetted: { error: reportOf(error) } }
  }
}

/**
 * Publishes a run's agent under the name and version that were reserved for it, as an upload of whoever started the run
 * would, in the transaction that ends the run. What stands against it ends up in the result: the run completes all the same.
 */
export async function publishRunAgent(
  query: Transaction<Schema>,
  services: Pick<Services, 'database' | 'objects' | 'config'>,
  { queue }: RunContext,
  run: RunRow,
  agent: NonNullable<VettedAgent>,
): Promise<NonNullable<Published>> {
  const { objectKey, vetted } = agent
  if ('error' in vetted) return vetted
  const { name, version } = vetted.manifest
  // What fails within leaves nothing, and the transaction able to go on.
  await sql`savepoint publishing`.execute(query)
  try {
    const actor = await publisherOf(query, run)
    const visibility = run.publish_visibility ?? undefined
    const added = { actor, vetted, objectKey, visibility, ip: null }
    const { id: versionId } = await createVersion(query, { ...services, queue }, added)
    await keepLearningCurve(query, run.id, versionId)
    await sql`release savepoint publishing`.execute(query)
    return { versionId, name, version }
  } catch (error) {
    const report = reportOf(error)
    await sql`rollback to savepoint publishing`.execute(query)
    return { error: report }
  }
}

/** Whoever started the run, as far as they may still publish. */
async function publisherOf(query: Transaction<Schema>, { created_by: accountId }: RunRow): Promise<Actor> {
  const { username, disabled_at: disabledAt } = await query
    .selectFrom('accounts')
    .select(['username', 'disabled_at'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (disabledAt !== null)
    throw new AgentGymError({ code: 'forbidden', message: `The account ${username} is disabled.` })
  const scopes = new Set(['packages:publish'] as const)
  return { accountId, username, emailVerified: false, operator: false, tokenId: null, scopes }
}

function reportOf(error: unknown): ErrorReport {
  if (!(error instanceof AgentGymError)) throw error
  return error.toReport()
}
