import type { AgentManifest, LeasedEvaluation } from '@agentgym/contract'
import type { Selectable } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { VersionState } from '../../core/database/schema.ts'
import type { EvaluationTable } from '../../core/database/training-schema.ts'

/** A published tarball, as a job names one. */
export type PublishedTarball = { name: string; version: string; integrity: string; objectKey: string }
export type ScenarioVersion = PublishedTarball & {
  versionId: string
  hash: string
  success: Record<string, number>
  /** Whether it is public. */
  open: boolean
  /**
   * Why agents are not judged by it: it gave different results for the same actions. Null if it is deterministic so
   * far.
   */
  nondeterministic: string | null
}

/** The evaluated agent. Without a version, a run's agent. */
export type EvaluatedAgent = PublishedTarball & {
  version_id: string | null
  packageId: string | null
  ownerId: string
  state: VersionState | null
  intendedTag: string
  manifest: AgentManifest | null
}

export type Subject = { agent: EvaluatedAgent; scenario: ScenarioVersion | null }

export async function findEvaluation(query: Queries, id: string): Promise<Selectable<EvaluationTable> | undefined> {
  return query.selectFrom('evaluations').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The tasks for a worker: none if this registry does not have the scenario. */
export function tasksOf(
  { purpose, episodes, seed }: Pick<Selectable<EvaluationTable>, 'purpose' | 'episodes' | 'seed'>,
  { agent, scenario }: Subject,
): LeasedEvaluation['evaluation']['tasks'] {
  if (scenario === null) return []
  if (purpose === 'requested') return [{ id: 'requested', episodes, seed, task_order: 'drawn' }]
  if (agent.manifest === null) return []
  const { evaluation: claim } = agent.manifest
  return [
    { id: 'claim', episodes: claim.episodes, seed: claim.seed, task_order: claim.tasks?.order ?? 'numbered' },
    { id: 'held_out', episodes, seed, task_order: 'drawn' },
  ]
}

/** The agent and scenario of an evaluation: undefined if the agent does not exist (any more). */
export async function subjectOf(query: Queries, evaluation: Selectable<EvaluationTable>): Promise<Subject | undefined> {
  if (evaluation.run_id !== null) return subjectOfRun(query, evaluation.run_id)
  const row = await query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .innerJoin('agent_versions', 'agent_versions.version_id', 'versions.id')
    .select(['packages.name', 'packages.owner_id', 'packages.id as package_id', 'agent_versions.manifest'])
    .select([
      'versions.version',
      'versions.integrity',
      'versions.object_key',
      'versions.state',
      'versions.intended_tag',
    ])
    .where('versions.id', '=', evaluation.version_id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const agent: EvaluatedAgent = {
    name: row.name,
    version: row.version,
    integrity: row.integrity,
    objectKey: row.object_key,
    version_id: evaluation.version_id,
    packageId: row.package_id,
    ownerId: row.owner_id,
    state: row.state,
    intendedTag: row.intended_tag,
    manifest: row.manifest,
  }
  return { agent, scenario: await scenarioOfAgent(query, row.manifest, row.owner_id) }
}

/**
 * The scenario version that an agent names, if this registry published exactly those bytes and they are public or
 * belong to the agent's own account. Otherwise an agent could reveal a private scenario.
 */
async function scenarioOfAgent(
  query: Queries,
  manifest: AgentManifest,
  ownerId: string,
): Promise<ScenarioVersion | null> {
  const { name, version, hash } = manifest.scenario
  const row = await scenarios(query)
    .where('packages.name', '=', name)
    .where('versions.version', '=', version)
    .where('versions.bundle_hash', '=', hash)
    .where('versions.state', '=', 'published')
    .where((where) => where.or([where('packages.visibility', '=', 'public'), where('packages.owner_id', '=', ownerId)]))
    .executeTakeFirst()
  return row === undefined ? null : scenarioVersion(row)
}

async function subjectOfRun(query: Queries, runId: string): Promise<Subject | undefined> {
  const run = await query
    .selectFrom('training_runs')
    .select([
      'owner_id',
      'scenario_version_id',
      'publish_name',
      'publish_version',
      'agent_object_key',
      'agent_integrity',
    ])
    .where('id', '=', runId)
    .executeTakeFirst()
  if (run?.agent_object_key == null || run.agent_integrity === null) return undefined
  const scenario = await scenarios(query).where('versions.id', '=', run.scenario_version_id).executeTakeFirstOrThrow()
  const agent: EvaluatedAgent = {
    name: run.publish_name ?? `run ${runId}`,
    version: run.publish_version ?? '0.1.0',
    integrity: run.agent_integrity,
    objectKey: run.agent_object_key,
    version_id: null,
    packageId: null,
    ownerId: run.owner_id,
    state: null,
    intendedTag: '',
    manifest: null,
  }
  return { agent, scenario: scenarioVersion(scenario) }
}

function scenarios(query: Queries) {
  return query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .leftJoin('nondeterministic_scenarios as unstable', 'unstable.version_id', 'versions.id')
    .select(['versions.id', 'packages.name', 'versions.version', 'versions.integrity', 'versions.object_key'])
    .select([
      'versions.bundle_hash',
      'versions.manifest',
      'packages.visibility',
      'unstable.message as nondeterministic',
    ])
    .where('packages.kind', '=', 'scenario')
}

type ScenarioRow = {
  id: string
  name: string
  version: string
  integrity: string
  object_key: string
  bundle_hash: string | null
  manifest: Record<string, unknown>
  visibility: 'public' | 'private'
  nondeterministic: string | null
}

function scenarioVersion(row: ScenarioRow): ScenarioVersion {
  const { agentgym } = row.manifest as { agentgym?: { success?: Record<string, number> } }
  return {
    versionId: row.id,
    name: row.name,
    version: row.version,
    integrity: row.integrity,
    objectKey: row.object_key,
    hash: row.bundle_hash ?? '',
    success: agentgym?.success ?? {},
    open: row.visibility === 'public',
    nondeterministic: row.nondeterministic,
  }
}
