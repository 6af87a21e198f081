import { createHmac } from 'node:crypto'
import type { AgentManifest } from '@agentgym/contract'
import type { Selectable, Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import type { EvaluationTable } from '../../core/database/training-schema.ts'
import type { JobQueue } from '../../core/queue/job-queue.ts'

/** Episodes of the run whose seed nobody knew. */
const heldOutEpisodes = 100

/**
 * Has a worker run a new agent's version again, in the transaction that writes the version. Its held-out seed depends on
 * the model and the scenario: publishing the same model once more gives no second throw of the dice.
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

type Verified = { versionId: string; agent: AgentManifest; requestedBy: string | null; traceparent: string | null }

/** Has a worker run an agent's version; the same agent always by the same held-out seed. */
export async function enqueueVerification(
  query: Transaction<Schema>,
  { queue, secret }: { queue: JobQueue; secret: Uint8Array },
  { versionId, agent, requestedBy, traceparent }: Verified,
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
  await queue.enqueue(query, 'evaluate', row.id)
  return row
}
