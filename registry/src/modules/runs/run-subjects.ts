import { AgentGymError, type AgentParent, type PolicySpec, type TrainingAlgorithm } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { z } from 'zod'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { ServerConfig } from '../../core/services.ts'
import { requireTarball } from '../entitlements/index.ts'
import { chooseVersion, type ReadablePackage, type VersionRow } from '../packages/index.ts'
import type { RunServices } from './run-services.ts'

export type TrainableScenario = {
  packageId: string
  versionId: string
  /** Whether the caller belongs to the owning account. */
  member: boolean
  name: string
  version: string
  /** SHA-256 (hex) of the bundle. */
  hash: string | null
  /** `agentgym.training` of its package.json. */
  training: Record<string, unknown>
}

/**
 * The scenario version that `name[@range]` resolves to for a run: installable and trainable. Throws
 * `package_not_found`, `version_not_found`; `version_not_published` and `version_yanked` if it was named exactly;
 * `request_invalid` if it is not a scenario.
 */
export async function resolveScenario(services: RunServices, actor: Actor, target: string): Promise<TrainableScenario> {
  const { found, row } = await resolveTarget(services.database.query, actor, target)
  const { name, id: packageId, member } = found
  requireUsable({ found, row }, scenarioUse)
  const training = await trainingBlockOf(services, row.id)
  return { packageId, versionId: row.id, member, name, version: row.version, hash: row.bundle_hash, training }
}

/** The agent that a run starts from: what the trainer needs to know of it, and what the run records. */
export type StartingAgent = {
  packageId: string
  versionId: string
  /** Whether the caller belongs to the owning account. */
  member: boolean
  algorithm: TrainingAlgorithm
  policy: PolicySpec
  parent: AgentParent
}

/**
 * The agent version that `name[@range]` resolves to. Whether the caller may have its files is checked when the run is
 * written. Throws as `resolveScenario`.
 */
export async function resolveStartingAgent(
  { database }: Pick<RunServices, 'database'>,
  actor: Actor,
  target: string,
): Promise<StartingAgent> {
  const { found, row } = await resolveTarget(database.query, actor, target)
  requireUsable({ found, row }, agentUse)
  const { package: manifest, agent } = await database.query
    .selectFrom('versions')
    .innerJoin('agent_versions', 'agent_versions.version_id', 'versions.id')
    .select(['versions.manifest as package', 'agent_versions.manifest as agent'])
    .where('versions.id', '=', row.id)
    .executeTakeFirstOrThrow()
  const { license } = licenseSchema.parse(manifest)
  const { algorithm, policy, model_hash } = agent
  const parent = { name: found.name, version: row.version, model_hash, license }
  return { packageId: found.id, versionId: row.id, member: found.member, algorithm, policy, parent }
}

const licenseSchema = z.object({ license: z.string().nullable().default(null) })

/**
 * Checks, in the transaction that writes or resumes a run, that its user may have the files of the agent that it starts
 * from, as for a download: training from it counts as using a license. Throws as `requireTarball`.
 */
export async function requireStartable(
  query: Transaction<Schema>,
  { publicUrl }: Pick<ServerConfig, 'publicUrl'>,
  actor: Actor,
  agent: { packageId: string; member: boolean; parent: Pick<AgentParent, 'name' | 'version'> },
): Promise<void> {
  const { packageId: id, member, parent } = agent
  const { name, version } = parent
  await requireTarball(query, { actor, found: { id, name, member }, version, publicUrl }, { use: true })
}

type Resolved = { found: ReadablePackage; row: VersionRow }

function resolveTarget(query: Queries, actor: Actor, target: string): Promise<Resolved> {
  // The first @ is the scope's.
  const at = target.indexOf('@', 1)
  const name = at === -1 ? target : target.slice(0, at)
  return chooseVersion(query, actor, name, at === -1 ? '' : target.slice(at + 1))
}

/** What a request names a package for: the field, the kind of package, and texts of its refusals. */
type Use = { field: 'scenario' | 'from'; kind: 'scenario' | 'agent'; instead: string; purpose: string; new: string }

const scenarioUse: Use = {
  ...{ field: 'scenario', kind: 'scenario', instead: 'Name the scenario it was trained on.' },
  ...{ purpose: 'trained on', new: 'train on' },
}
const agentUse: Use = {
  ...{ field: 'from', kind: 'agent', instead: 'Name an agent, such as one from its leaderboard.' },
  ...{ purpose: 'started from', new: 'start from' },
}

function requireUsable({ found, row }: Resolved, use: Use): void {
  const data = { name: found.name, version: row.version }
  const shown = `${found.name}@${row.version}`
  if (found.kind !== use.kind)
    throw new AgentGymError({
      code: 'request_invalid',
      message: `The field "${use.field}" is invalid: ${shown} is ${found.kind === 'agent' ? 'an agent' : 'a scenario'}.`,
      hint: use.instead,
      data: { field: use.field, ...data },
    })
  if (row.state !== 'published')
    throw new AgentGymError({
      code: 'version_not_published',
      message: `${shown} ${row.state === 'checking' ? 'is still being checked' : 'was rejected'}, so it cannot be ${use.purpose}.`,
      hint: `\`agentgym info ${shown}\` shows its checks.`,
      data,
    })
  if (row.yanked_at !== null)
    throw new AgentGymError({
      code: 'version_yanked',
      message: `${shown} is yanked: new runs cannot ${use.new} it.`,
      hint: 'Choose another version, or omit it to use the latest one.',
      data,
    })
}

const manifestSchema = z.object({
  agentgym: z.object({ training: z.record(z.string(), z.unknown()).default({}) }),
})

async function trainingBlockOf(
  { database, trainingDefaults }: RunServices,
  versionId: string,
): Promise<Record<string, unknown>> {
  const kept = trainingDefaults.get(versionId)
  if (kept !== undefined) return kept
  const { manifest } = await database.query
    .selectFrom('versions')
    .select('manifest')
    .where('id', '=', versionId)
    .executeTakeFirstOrThrow()
  const { training } = manifestSchema.parse(manifest).agentgym
  trainingDefaults.set(versionId, training)
  return training
}
