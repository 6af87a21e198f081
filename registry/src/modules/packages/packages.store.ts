import assert from 'node:assert'
import { AgentGymError, type LearningCurve, type ProgressEvent, type SampleEpisode } from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import { type Actor, authorize, packageNotFound } from '../../core/access/authorize.ts'
import { roleIn } from '../../core/access/memberships.store.ts'
import type { Database, Queries } from '../../core/database/database.ts'
import type { PackageTable, Schema, VersionTable } from '../../core/database/schema.ts'
import { holdsAnyLicense, packageTakenDown } from '../entitlements/index.ts'
import { findablePackageName } from './package-name.ts'

const packageColumns = [
  'id',
  'name',
  'owner_id',
  'kind',
  'visibility',
  'latest_version',
  'taken_down_at',
  'taken_down_reason',
  'created_at',
  'updated_at',
] as const
export type PackageRow = Pick<Selectable<PackageTable>, (typeof packageColumns)[number]>

/** Without manifest and README, which are large. */
const versionColumns = [
  'id',
  'package_id',
  'version',
  'state',
  'integrity',
  'shasum',
  'object_key',
  'size',
  'unpacked_size',
  'file_count',
  'bundle_hash',
  'deprecated',
  'yanked_at',
  'published_by',
  'intended_tag',
  'published_at',
  'created_at',
  'downloads',
  'files_kept',
] as const
export type VersionRow = Pick<Selectable<VersionTable>, (typeof versionColumns)[number]>
export type VersionDetails = VersionRow & Pick<Selectable<VersionTable>, 'checks' | 'manifest' | 'readme'>

export async function findPackage(query: Queries, name: string): Promise<PackageRow | undefined> {
  return query.selectFrom('packages').select(packageColumns).where('name', '=', name).executeTakeFirst()
}

export type ReadablePackage = PackageRow & {
  /** Whether the actor belongs to the owning account and sees unpublished versions. */
  member: boolean
}

/**
 * The package, if the actor may see it: everyone if it is public and has a published version, members otherwise. Finds
 * the name in any casing. Throws the same `package_not_found` for every reason; `package_taken_down` for callers who
 * are not its owner, a buyer or an operator, unless `shown`.
 */
export async function findReadablePackage(
  query: Queries,
  actor: Actor | null,
  requestedName: string,
  { takenDown = 'refused' }: { takenDown?: 'refused' | 'shown' } = {},
): Promise<ReadablePackage> {
  const name = findablePackageName(requestedName)
  const found = name === null ? undefined : await findPackage(query, name)
  if (found === undefined) throw packageNotFound(requestedName.slice(0, 214))
  const member = await belongsTo(query, actor, found.owner_id)
  if (!member && (found.visibility === 'private' || !(await hasPublishedVersion(query, found.id))))
    await authorize(query, actor, 'read', found.owner_id, { scope: 'packages:read', hidden: found.name })
  const readable = { ...found, member }
  if (takenDown === 'refused' && (await isTakenDownFor(query, actor, readable))) {
    assert(found.taken_down_at !== null)
    throw packageTakenDown(found.name, { at: found.taken_down_at, reason: found.taken_down_reason })
  }
  return readable
}

/** Buyers and operators still see it. Access to its files is checked separately. */
export async function isTakenDownFor(
  query: Queries,
  actor: Actor | null,
  { id, member, taken_down_at: takenDownAt }: ReadablePackage,
): Promise<boolean> {
  if (takenDownAt === null || member || actor?.operator === true) return false
  return !(await holdsAnyLicense(query, actor, id))
}

/** Visible to members of the owning account, in any role; with a token, if it may read packages. */
export async function belongsTo(query: Queries, actor: Actor | null, ownerId: string): Promise<boolean> {
  if (actor === null || !actor.scopes.has('packages:read')) return false
  return actor.accountId === ownerId || (await roleIn(query, ownerId, actor.accountId)) !== null
}

async function hasPublishedVersion(query: Queries, packageId: string): Promise<boolean> {
  const row = await query
    .selectFrom('versions')
    .select('id')
    .where('package_id', '=', packageId)
    .where('state', '=', 'published')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

type ListedVersion = VersionRow & { checks_passed: number; checks_count: number }

/** Those that the actor may see, oldest first. */
export async function listVersions(query: Queries, { id, member }: ReadablePackage): Promise<ListedVersion[]> {
  let versions = query
    .selectFrom('versions')
    .select(versionColumns)
    .select(
      sql<number>`jsonb_array_length(jsonb_path_query_array(checks, '$[*] ? (@.ok == true)'))`.as('checks_passed'),
    )
    .select(sql<number>`jsonb_array_length(checks)`.as('checks_count'))
    .where('package_id', '=', id)
  if (!member) versions = versions.where('state', '=', 'published')
  return versions.orderBy('created_at').orderBy('id').execute()
}

export type VersionManifest = VersionRow & Pick<Selectable<VersionTable>, 'manifest'>

/** The same with their manifests. */
export async function listVersionManifests(
  query: Queries,
  { id, member }: ReadablePackage,
): Promise<VersionManifest[]> {
  let versions = query
    .selectFrom('versions')
    .select([...versionColumns, 'manifest'])
    .where('package_id', '=', id)
  if (!member) versions = versions.where('state', '=', 'published')
  return versions.orderBy('created_at').orderBy('id').execute()
}

export async function findVersion(query: Queries, packageId: string, version: string): Promise<VersionRow | undefined> {
  return query
    .selectFrom('versions')
    .select(versionColumns)
    .where('package_id', '=', packageId)
    .where('version', '=', version)
    .executeTakeFirst()
}

/** One version in full, if the actor may see it. Throws `version_not_found`. */
export async function findReadableVersion(
  query: Queries,
  found: ReadablePackage,
  version: string,
): Promise<VersionDetails> {
  const row = await query
    .selectFrom('versions')
    .select([...versionColumns, 'checks', 'manifest', 'readme'])
    .where('package_id', '=', found.id)
    .where('version', '=', version)
    .executeTakeFirst()
  if (row === undefined || (row.state !== 'published' && !found.member)) throw versionNotFound(found.name, version)
  return row
}

export async function tagsOf(query: Queries, packageId: string): Promise<Map<string, string>> {
  const rows = await query
    .selectFrom('tags')
    .select(['tag', 'version'])
    .where('package_id', '=', packageId)
    .orderBy('tag')
    .execute()
  return new Map(rows.map(({ tag, version }) => [tag, version]))
}

/** `tags`: existing tags to suggest, if known. */
export function versionNotFound(name: string, wanted: string, tags?: ReadonlyMap<string, string>): AgentGymError {
  const shown = wanted.slice(0, 100)
  const named = [...(tags ?? [])].map(([tag, version]) => `${tag} (${version})`).join(', ')
  return new AgentGymError({
    code: 'version_not_found',
    message: `${name} has no version ${JSON.stringify(shown)}.`,
    hint: named === '' ? undefined : `Its tags: ${named}.`,
    data: { name, wanted: shown, ...(tags === undefined ? {} : { tags: Object.fromEntries(tags) }) },
  })
}

/** The first lock of every change to a package, its versions or its tags. Works across replicas. */
export async function lockPackage(database: Database, query: Transaction<Schema>, name: string): Promise<void> {
  await database.lock(query, `package:${name}`)
}

/** Locked before a row references an object, and by the orphan sweeper. Always after the package's lock. */
export async function lockObject(database: Database, query: Transaction<Schema>, key: string): Promise<void> {
  await database.lock(query, `object:${key}`)
}

/** Stores the first episode that a worker recorded of a version; later ones are ignored. */
export async function keepSampleEpisode(query: Queries, versionId: string, episode: SampleEpisode): Promise<void> {
  await query
    .insertInto('sample_episodes')
    .values({ version_id: versionId, episode: JSON.stringify(episode) })
    .onConflict((conflict) => conflict.column('version_id').doNothing())
    .execute()
}

/**
 * A version's episode, if the actor may read the version. Throws `package_not_found`, `version_not_found`,
 * `sample_episode_not_found`.
 */
export async function readSampleEpisode(
  query: Queries,
  actor: Actor | null,
  requestedName: string,
  version: string,
): Promise<SampleEpisode> {
  const found = await findReadablePackage(query, actor, requestedName)
  return sampleEpisodeOf(query, found.name, await findReadableVersion(query, found, version))
}

/** The episode of a version that the actor may read. Throws `sample_episode_not_found`. */
export async function sampleEpisodeOf(
  query: Queries,
  name: string,
  { id, version }: { id: string; version: string },
): Promise<SampleEpisode> {
  const row = await query
    .selectFrom('sample_episodes')
    .select('episode')
    .where('version_id', '=', id)
    .executeTakeFirst()
  if (row !== undefined) return row.episode
  throw new AgentGymError({
    code: 'sample_episode_not_found',
    message: `${name}@${version} has no sample episode.`,
    data: { name, version },
  })
}

/** Limit of the contract. */
const maxPoints = 200

/** What a learning curve needs of a point. */
type PackedPoint = Pick<ProgressEvent, 'iteration' | 'steps' | 'return_mean'>

/**
 * Stores a run's learning curve for the agent version it produced: at most 200 evenly spaced points, including the
 * last. `packed`: those that are no longer in training_metrics. Does nothing if no episode ended in the run.
 */
export async function keepLearningCurve(
  query: Queries,
  { runId, versionId, packed }: { runId: string; versionId: string; packed: PackedPoint[] },
): Promise<void> {
  await sql`
    insert into learning_curves (version_id, points)
    select ${versionId}::uuid, jsonb_agg(jsonb_build_object('steps', steps, 'return_mean', return_mean) order by steps)
    from (
      select distinct on (part) part, iteration, data -> 'steps' as steps, data -> 'return_mean' as return_mean
      from (
        select iteration, data, ntile(${sql.lit(maxPoints)}) over (order by iteration) as part
        from (
          select iteration, data from training_metrics where run_id = ${runId}
          union all
          select (data ->> 'iteration')::bigint, data from jsonb_array_elements(${JSON.stringify(packed)}::jsonb) as data
        ) as points
        where jsonb_typeof(data -> 'return_mean') = 'number'
      ) as ended
      order by part, iteration desc
    ) as kept
    having count(*) > 0`.execute(query)
}

/** Null if no run on this server produced the version. */
export async function learningCurveOf(query: Queries, versionId: string): Promise<LearningCurve | null> {
  const row = await query
    .selectFrom('learning_curves')
    .select('points')
    .where('version_id', '=', versionId)
    .executeTakeFirst()
  return row?.points ?? null
}
