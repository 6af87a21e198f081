import type { AgentManifest, Verification } from '@agentgym/contract'
import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { EvaluationTable } from '../../core/database/training-schema.ts'
import type { Services } from '../../core/services.ts'
import { currentSeason, seedOfSeason } from './seasons.ts'

/** Number of held-out episodes of a verification. */
const heldOutEpisodes = 100

/** What starting a verification needs. */
export type VerificationServices = Pick<Services, 'database' | 'queue' | 'config' | 'log'>

/** Episodes of a verification: claimed and held-out. */
export function verificationEpisodes({ evaluation }: AgentManifest): number {
  return evaluation.episodes + heldOutEpisodes
}

/** Queues the verification of a new agent version, in the transaction that writes the version. */
export async function startVerification(
  query: Transaction<Schema>,
  services: VerificationServices,
  started: { versionId: string; agent: AgentManifest; account: string; owner: string },
): Promise<void> {
  const { versionId, agent } = started
  await query
    .insertInto('agent_versions')
    .values({ version_id: versionId, manifest: JSON.stringify(agent) })
    .execute()
  await enqueueVerification(query, services, { ...started, requestedBy: null, traceparent: null })
}

type Verified = {
  versionId: string
  agent: AgentManifest
  /** Account of the job. Default: the requester, else the installation. */
  account?: string
  /** The organization that owns the version, if the job counts toward its limits. */
  owner?: string
  requestedBy: string | null
  traceparent: string | null
  /** Runs only when no other jobs wait. */
  idle?: boolean
}

/** Priority of jobs for idle time. */
const idlePriority = -1

/**
 * Queues the verification of an agent's version. Its held-out episodes are those of its scenario in this season:
 * another model or version does not change them.
 */
export async function enqueueVerification(
  query: Transaction<Schema>,
  services: VerificationServices,
  { versionId, agent, requestedBy, account = requestedBy ?? undefined, owner, traceparent, idle = false }: Verified,
): Promise<Selectable<EvaluationTable>> {
  const season = await currentSeason(query, services)
  const seed = seedOfSeason(season.secret, agent.scenario.hash)
  const row = await query
    .insertInto('evaluations')
    .values({
      ...{ purpose: 'verification', version_id: versionId, episodes: heldOutEpisodes, seed },
      ...{ requested_by: requestedBy, traceparent, season_id: season.id },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const priority = idle ? idlePriority : 0
  const episodes = verificationEpisodes(agent)
  await services.queue.enqueue(query, 'evaluate', row.id, { account, owner, priority, episodes })
  return row
}

/** Times are in milliseconds, because they may pass through JSON. */
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
 * The verification state of a version: its latest decisive verification, else the latest one, else pending. Null if the
 * version is not verified. New requests and inconclusive runs do not hide a decisive result.
 */
export async function describeVerification(query: Queries, versionId: string): Promise<Verification | null> {
  const { rows } = await latestVerification(sql`${versionId}::uuid`).execute(query)
  return verificationOf(rows[0])
}

/** Selects its row; none if the version is not verified. */
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
