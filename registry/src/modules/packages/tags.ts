import { AgentGymError } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import semver from 'semver'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { indexPackage } from '../search/index.ts'
import type { Candidate, Tags } from './resolve-version.ts'

/** A published version for the tag rules. `createdAt`: time of the upload. */
type TaggedVersion = Pick<Candidate, 'version' | 'yanked'> & { createdAt: Date }

const tagPattern = /^[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*$/

/** Validates a tag, which must not look like a version or a range. Throws `tag_invalid`. */
export function parseTag(text: string): string {
  if (!isTag(text))
    throw new AgentGymError({
      code: 'tag_invalid',
      message: `${JSON.stringify(text.slice(0, 80))} is not a valid tag.`,
      hint: 'Use lower-case letters, digits and hyphens, starting with a letter, and not a version. Examples: next, beta.',
      data: { field: 'tag' },
    })
  return text
}

/** npm treats anything that is not a version or range, both parsed loosely, as a tag. */
function isTag(text: string): boolean {
  const loose = { loose: true }
  return (
    text.length <= 64 && tagPattern.test(text) && !semver.valid(text, loose) && semver.validRange(text, loose) === null
  )
}

/**
 * The tag that a version gets when it is published, or null.
 *
 * With a requested tag (`intended`): that tag, unless a later upload already has it, because checks may finish in a
 * different order. By default: `latest` for a stable version above the current `latest`; a prerelease gets the tag of
 * its own kind (`1.0.0-rc.1`: rc) or `next`; a stable version below `latest` gets `backport-1` of its major. None of
 * these moves backwards, and `latest` never moves to a prerelease by default.
 */
export function tagOnPublish(
  published: TaggedVersion,
  intended: string | null,
  tags: Tags,
  versions: readonly TaggedVersion[],
): string | null {
  if (intended !== null) {
    const holder = versions.find(({ version }) => version === tags.get(intended))
    return holder !== undefined && holder.createdAt > published.createdAt ? null : intended
  }
  const { version } = published
  if (isPrerelease(version)) return forwardOnly(prereleaseTag(version), version, tags)
  return forwardOnly('latest', version, tags) ?? forwardOnly(`backport-${semver.major(version)}`, version, tags)
}

/** The new `latest` after its version is yanked: the highest remaining stable version, or null. */
export function latestAfterYank(versions: readonly TaggedVersion[]): string | null {
  const [highest] = versions
    .filter(({ version, yanked }) => !yanked && !isPrerelease(version))
    .map(({ version }) => version)
    .sort(semver.rcompare)
  return highest ?? null
}

export function isPrerelease(version: string): boolean {
  return semver.prerelease(version) !== null
}

function prereleaseTag(version: string): string {
  const [kind] = semver.prerelease(version) ?? []
  return typeof kind === 'string' && isTag(kind) && kind !== 'latest' && !kind.startsWith('backport-') ? kind : 'next'
}

function forwardOnly(tag: string, version: string, tags: Tags): string | null {
  const now = tags.get(tag)
  return now === undefined || semver.gt(version, now) ? tag : null
}

/** Sets a tag; with `latest`, lists show that version of the package. The caller holds the package's lock. */
export async function putTag(
  query: Transaction<Schema>,
  packageId: string,
  tag: string,
  version: string,
): Promise<void> {
  await query
    .insertInto('tags')
    .values({ package_id: packageId, tag, version })
    .onConflict((conflict) =>
      conflict.columns(['package_id', 'tag']).doUpdateSet({ version, updated_at: sql<Date>`now()` }),
    )
    .execute()
  if (tag === 'latest') await describeByLatest(query, packageId, version)
}

/** Removes a tag; the caller holds the package's lock. */
export async function removeTag(query: Transaction<Schema>, packageId: string, tag: string): Promise<void> {
  await query.deleteFrom('tags').where('package_id', '=', packageId).where('tag', '=', tag).execute()
  if (tag === 'latest') await describeByLatest(query, packageId, null)
}

async function describeByLatest(query: Transaction<Schema>, packageId: string, version: string | null): Promise<void> {
  await query.updateTable('packages').set({ latest_version: version }).where('id', '=', packageId).execute()
  await indexPackage(query, packageId)
}

/** The published versions of a package, for the rules of tags. */
export async function taggedVersions(query: Queries, packageId: string): Promise<TaggedVersion[]> {
  const rows = await query
    .selectFrom('versions')
    .select(['version', 'yanked_at', 'created_at'])
    .where('package_id', '=', packageId)
    .where('state', '=', 'published')
    .execute()
  return rows.map(({ version, yanked_at, created_at }) => ({
    version,
    yanked: yanked_at !== null,
    createdAt: created_at,
  }))
}
