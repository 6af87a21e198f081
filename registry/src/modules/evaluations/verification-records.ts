import { createHmac } from 'node:crypto'
import type { AgentManifest, Verification } from '@agentgym/contract'
import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { EvaluationTable } from '../../core/database/training-schema.ts'
import type { JobQueue } from '../../core/queue/job-queue.ts'

/** Episodes of the run whose seeds were secret. */
const heldOutEpisodes = 100

/**
 * Queues the verification of a new agent version, in the transaction that writes the version. Its held-out seed depends
 * on the model and the scenario: publishing the same model again does not reroll the dice.
 */
export async function startVerification(
  query: Transaction<Schema>,
  { queue, secret }: { queue: JobQueue; secret: Uint8Array },
  { versionId, agent }: { versionId: string; agent: AgentManifest },
): Promise<void> {
  await query
    .insertInto('agent_versions')
    .values({ version_id: versionId, manifest: JSON.stringify(agent) })
    .execute()
  await enqueueVerification(query, { queue, secret }, { versionId, agent, requestedBy: null, traceparent: null })
}

type Verified = {
  versionId: string
  agent: AgentManifest
  requestedBy: string | null
  traceparent: string | null
  /** Nobody waits for it: it comes after all other jobs. */
  idle?: boolean
}

/** Priority of jobs for idle time. */
const idlePriority = -1

/** Queues the verification of an agent's version; the same agent always gets the same held-out seed. */
export async function enqueueVerification(
  query: Transaction<Schema>,
  { queue, secret }: { queue: JobQueue; secret: Uint8Array },
  { versionId, agent, requestedBy, traceparent, idle = false }: Verified,
): Promise<Selectable<EvaluationTable>> {
  const seed = createHmac('sha256', secret)
    .update(`held-out seed\n${agent.model_hash}\n${agent.scenario.hash}`)
    .digest()
    .readUInt32BE()
  const row = await query
    .insertInto('evaluations')
    .values({
      ...{ purpose: 'verification', version_id: versionId, episodes: heldOutEpisodes, seed },
      ...{ requested_by: requestedBy, traceparent },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await queue.enqueue(query, 'evaluate', row.id, { priority: idle ? idlePriority : 0 })
  return row
}

/** Times in milliseconds, because they may pass through JSON. */
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
 * The result of verifying a version: its latest decisive verification, else its latest one or, before the first, that a
 * worker is running it. Null if the version is not to be verified. Neither a new request nor a run that decides nothing
 * hides a decisive result.
 */
export async function describeVerification(query: Queries, versionId: string): Promise<Verification | null> {
  const { rows } = await latestVerification(sql`${versionId}::uuid`).execute(query)
  return verificationOf(rows[0])
}

/** Selects its row; none if the version is not to be verified. */
export function latestVerification(versionId: RawBuilder<unknown>): RawBuilder<VerificationRow> {
  return sql<VerificationRow>`
    select (1000 * extract(epoch from evaluations.created_at))::bigint as begun_at,
      (1000 * extract(epoch from verifications.created_at))::bigint as created_at, verifications.state,
      verifications.message, verifications.statement, verifications.signature, verifications.key_id
    from evaluations left join verifications on verifications.evaluation_id = evaluations.id
    where evaluations.version_id = ${versionId} and evaluations.purpose = 'verification'
    order by (exists (select from verdicts where verdicts.evaluation_id = evaluations.id)) desc,
      verifications.created_at desc nulls last, evaluations.created_at desc, evaluations.id limit 1`
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
