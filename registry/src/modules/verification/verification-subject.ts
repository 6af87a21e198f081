import { isDeepStrictEqual } from 'node:util'
import {
  type AgentManifest,
  compareEvaluations,
  type Evaluation,
  type EvaluationResultRequest,
  type LeasedEvaluation,
} from '@agentgym/contract'
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
}

/** The agent that an evaluation is of. Without a version: a run's. */
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

/** What a worker should run: nothing if this registry does not have the scenario. */
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
    .select(['versions.id', 'packages.name', 'versions.version', 'versions.integrity', 'versions.object_key'])
    .select(['versions.bundle_hash', 'versions.manifest', 'packages.visibility'])
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
  }
}

/** What a worker's result means for an agent's version. */
export type Verdict =
  /** The model itself fails its checks: the version is rejected. */
  | { state: 'failed'; published: boolean; message: string }
  | { state: 'mismatch' | 'unavailable'; published: true; message: string }
  | { state: 'verified'; published: true; claim: Evaluation; heldOut: Evaluation; outputHash: string }

type Result = Pick<EvaluationResultRequest, 'checks' | 'output_hash' | 'results'>

/**
 * Judges the result. A model that fails its checks is rejected. An agent whose scenario this registry does not have is
 * published as it is. A claim that differs in any bit is published and marked; one that matches is verified. `scenario`
 * contains what the scenario's own package states.
 */
export function judgeVerification(
  manifest: AgentManifest,
  scenario: { success: Record<string, number> } | null,
  { checks, output_hash: outputHash, results }: Result,
): Verdict {
  const failed = checks.find(({ ok }) => !ok)
  if (failed !== undefined) return { state: 'failed', published: false, message: failed.message }
  if (outputHash === null)
    return { state: 'failed', published: false, message: 'The golden batch produced no outputs.' }
  if (scenario === null || results.length === 0) {
    const { name, version } = manifest.scenario
    const message = `This registry does not have the exact ${name}@${version} that the agent was trained on, so the agent was not verified.`
    return { state: 'unavailable', published: true, message }
  }
  for (const { id, error } of results) {
    if (error !== null)
      return { state: 'failed', published: true, message: `${taskNames[id]} failed: ${error.message}` }
  }
  const claim = evaluationOf(results, 'claim')
  const heldOut = evaluationOf(results, 'held_out')
  if (claim === null || heldOut === null)
    return { state: 'failed', published: true, message: 'The worker reported no results.' }
  const message = mismatchOf(manifest, scenario, claim)
  if (message !== null) return { state: 'mismatch', published: true, message }
  return { state: 'verified', published: true, claim, heldOut, outputHash }
}

const taskNames = {
  claim: 'The claimed evaluation',
  held_out: 'The held-out evaluation',
  requested: 'The run',
} as const

/** Success is judged by the criteria in agent.json, so they must be the scenario's own. */
function mismatchOf(
  manifest: AgentManifest,
  scenario: { success: Record<string, number> },
  claim: Evaluation,
): string | null {
  if (!isDeepStrictEqual(manifest.scenario.success, scenario.success))
    return `The success criteria in agent.json differ from those of ${manifest.scenario.name}@${manifest.scenario.version}.`
  const differences = compareEvaluations(manifest.evaluation, claim)
  if (!isDeepStrictEqual(manifest.evaluation.success, claim.success))
    differences.push({ field: 'success', expected: manifest.evaluation.success.ok, found: claim.success.ok })
  if (differences.length === 0) return null
  const words = differences.slice(0, 4).map(({ field, expected, found }) => {
    return `${field} is ${shown(found)}, not ${shown(expected)}`
  })
  return `The re-run differs from the claims in agent.json: ${words.join('; ')}${differences.length > 4 ? '; and more' : ''}.`
}

function shown(value: unknown): string {
  return value === null ? 'nothing' : String(value).slice(0, 80)
}

function evaluationOf(results: Result['results'], id: 'claim' | 'held_out'): Evaluation | null {
  return results.find((result) => result.id === id)?.evaluation ?? null
}
