import { AgentGymError } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import semver from 'semver'
import type { Actor } from '../../core/access/authorise.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { authoriseScope, findPackage, type PackageName, parsePackageName, parseVersion } from '../packages/index.ts'

export type PublicationRequest = { name: string; version?: string; visibility?: 'public' | 'private' }
export type Publication = {
  name: PackageName
  version: string | undefined
  visibility: 'public' | 'private' | undefined
}

/** Throws `name_invalid`, `version_invalid`. */
export function parsePublication({ name, version, visibility }: PublicationRequest): Publication {
  return {
    name: parsePackageName(name),
    version: version === undefined ? undefined : parseVersion(version),
    visibility,
  }
}

/**
 * The version that a run's agent gets, which nobody else's agent can get from here on: the one asked for or, above all that
 * are taken, the next patch. To be called under the package's lock, in the transaction that writes the run. What the run
 * `runId` holds itself is free to it.
 *
 * Throws `forbidden` where the actor may not publish under that name, `package_kind_changed` where it is a scenario's,
 * `package_visibility_fixed`, `name_taken` for a look-alike, and `version_exists`.
 */
export async function reservePublication(
  query: Transaction<Schema>,
  actor: Actor,
  { name, version, visibility }: Publication,
  runId: string | null = null,
): Promise<{ publish_name: string; publish_version: string; publish_visibility: 'public' | 'private' | null }> {
  await authoriseScope(query, actor, name)
  await requireAgentsName(query, name, visibility)
  const taken = await takenVersions(query, name.full, runId)
  if (version !== undefined && taken.includes(version)) throw versionTaken(name.full, version)
  return {
    publish_name: name.full,
    publish_version: version ?? nextPatch(taken),
    publish_visibility: visibility ?? null,
  }
}

async function requireAgentsName(
  query: Transaction<Schema>,
  name: PackageName,
  visibility: Publication['visibility'],
): Promise<void> {
  const found = await findPackage(query, name.full)
  if (found === undefined) return requireDistinctName(query, name)
  if (found.kind !== 'agent')
    throw new AgentGymError({
      code: 'package_kind_changed',
      message: `${name.full} is published as ${found.kind}; a run publishes an agent.`,
      hint: 'Choose another name for it.',
      data: { name: name.full },
    })
  if (visibility !== undefined && visibility !== found.visibility)
    throw new AgentGymError({
      code: 'package_visibility_fixed',
      message: `${name.full} is ${found.visibility}; publishing a version does not make it ${visibility}.`,
      hint: 'Leave the visibility out.',
      data: { name: name.full },
    })
}

async function requireDistinctName(query: Transaction<Schema>, name: PackageName): Promise<void> {
  const other = await query
    .selectFrom('packages')
    .select('id')
    .where('name_canonical', '=', name.canonical)
    .executeTakeFirst()
  if (other !== undefined)
    throw new AgentGymError({
      code: 'name_taken',
      message: `${name.full} is too easily mistaken for another package of @${name.scope}.`,
      hint: 'Choose a name that differs by more than . _ - or by l, i, 1, o, 0.',
      data: { name: name.full },
    })
}

/** The next patch above all versions of a package that are taken, but by the run itself. */
export async function freeVersion(query: Queries, name: string, runId: string): Promise<string> {
  return nextPatch(await takenVersions(query, name, runId))
}

/** Versions that are there, in whatever state, and those that runs hold. */
async function takenVersions(query: Queries, name: string, runId: string | null): Promise<string[]> {
  const rows = await query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select('versions.version')
    .where('packages.name', '=', name)
    .union(
      query
        .selectFrom('training_runs')
        .select((select) => select.ref('publish_version').$notNull().as('version'))
        .where('publish_name', '=', name)
        .where('state', 'not in', ['failed', 'cancelled'])
        .$if(runId !== null, (other) => other.where('id', '!=', runId)),
    )
    .execute()
  return rows.map(({ version }) => version)
}

/** `0.1.0` where there is none: as agents are called that were trained on one's own machine. */
function nextPatch(taken: readonly string[]): string {
  const [highest] = semver.rsort([...taken])
  return highest === undefined ? '0.1.0' : (semver.inc(highest, 'patch') ?? highest)
}

function versionTaken(name: string, version: string): AgentGymError {
  return new AgentGymError({
    code: 'version_exists',
    message: `${name}@${version} is published, or another run publishes its agent as that.`,
    hint: 'Leave the version out for the next free one.',
    data: { name, version },
  })
}
