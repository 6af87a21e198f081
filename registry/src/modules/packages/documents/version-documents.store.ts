import { AgentGymError, type ChangeList } from '@agentgym/contract'
import { type SqlBool, sql, type Transaction } from 'kysely'
import type { Actor } from '../../../core/access/authorize.ts'
import type { Queries } from '../../../core/database/database.ts'
import type { PictureType } from '../../../core/database/pictures-schema.ts'
import type { Schema } from '../../../core/database/schema.ts'
import type { Services } from '../../../core/services.ts'
import { findReadablePackage, findReadableVersion, lockObject } from '../packages.store.ts'
import { asText, type ReadmeRenderer } from './readme-renderer.ts'
import type { ReadmePicture, VersionDocuments } from './version-documents.ts'

/** Version of `markdownHtml`'s rules. Increase it when they change: stored HTML of another version is not shown. */
export const rendering = 3
/** Marks a README that is not rendered yet, with plain text as its HTML. */
export const unrendered = 0

/** Stores the documents rendered from a version's files. The bytes of its images are stored before the commit. */
export async function keepDocuments(
  query: Queries,
  versionId: string,
  { readmeHtml, pictures, changes }: VersionDocuments,
): Promise<void> {
  await keepReadmeHtml(query, versionId, readmeHtml)
  if (pictures.length > 0)
    await query
      .insertInto('readme_pictures')
      .values(pictures.map(({ hash, type }) => ({ version_id: versionId, hash, type })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  if (changes !== null)
    await query
      .insertInto('version_changes')
      .values({ version_id: versionId, ...changes })
      .onConflict((conflict) => conflict.column('version_id').doUpdateSet(changes))
      .execute()
}

/** Stores a README's HTML. */
export async function keepReadmeHtml(query: Queries, versionId: string, html: string): Promise<void> {
  await query
    .insertInto('readme_html')
    .values({ version_id: versionId, rendering, html })
    .onConflict((conflict) => conflict.column('version_id').doUpdateSet({ rendering, html }))
    .execute()
}

/** Stores a version's README as plain text, until a `DocumentRenderer` renders it after the commit. */
export async function keepUnrendered(query: Queries, versionId: string, readme: string): Promise<void> {
  await query
    .insertInto('readme_html')
    .values({ version_id: versionId, rendering: unrendered, html: asText(readme) })
    .execute()
}

/** The stored HTML of a version's README. HTML of an earlier renderer is replaced by a rendering without images. */
export async function readmeHtmlOf(
  { database, readmes }: Pick<Services, 'database'> & { readmes: ReadmeRenderer },
  version: { id: string; readme: string },
): Promise<string> {
  const kept = await database.query
    .selectFrom('readme_html')
    .select('html')
    .where('version_id', '=', version.id)
    .where('rendering', 'in', [unrendered, rendering])
    .executeTakeFirst()
  return kept?.html ?? readmes.readme(version.id, version.readme)
}

const pictureKey = (hash: string): string => `sha256/${hash}`

/**
 * An image in a version's README, if the actor may read the version. Throws `package_not_found`, `package_taken_down`,
 * `version_not_found`, and `picture_not_found` for all other files of the package.
 */
export async function readReadmePicture(
  { database: { query }, objects }: Pick<Services, 'database' | 'objects'>,
  actor: Actor | null,
  { name, version, hash }: { name: string; version: string; hash: string },
): Promise<{ type: PictureType; bytes: Uint8Array; visibility: 'public' | 'private' }> {
  const found = await findReadablePackage(query, actor, name)
  const { id } = await findReadableVersion(query, found, version)
  const picture = await query
    .selectFrom('readme_pictures')
    .select('type')
    .where('version_id', '=', id)
    .where('hash', '=', hash)
    .executeTakeFirst()
  const bytes = picture === undefined ? undefined : await objects.get(pictureKey(hash))
  if (picture === undefined || bytes === undefined)
    throw new AgentGymError({
      code: 'picture_not_found',
      message: `The README of ${found.name}@${version} has no such image.`,
      hint: 'Image URLs are in the HTML of the README.',
      data: { name: found.name, version },
    })
  return { type: picture.type, bytes, visibility: found.visibility }
}

/** Release notes of one version; null if its changelog has none. */
export async function changesOf(query: Queries, versionId: string): Promise<{ markdown: string; html: string } | null> {
  const row = await query
    .selectFrom('version_changes')
    .select(['markdown', 'html'])
    .where('version_id', '=', versionId)
    .executeTakeFirst()
  return row ?? null
}

/**
 * Release notes of the versions that the actor may see, newest upload first. Throws `package_not_found`,
 * `version_not_found`.
 */
export async function listChanges(
  query: Queries,
  actor: Actor | null,
  name: string,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<ChangeList> {
  const found = await findReadablePackage(query, actor, name)
  const end = before === undefined ? null : await findReadableVersion(query, found, before)
  const changes = await query
    .selectFrom('version_changes')
    .innerJoin('versions', 'versions.id', 'version_changes.version_id')
    .select(['versions.version', 'version_changes.markdown', 'version_changes.html'])
    .where('versions.package_id', '=', found.id)
    .$if(!found.member, (all) => all.where('versions.state', '=', 'published'))
    .$if(end !== null, (all) =>
      all.where(sql<SqlBool>`(versions.created_at, versions.id) < (${end?.created_at}, ${end?.id}::uuid)`),
    )
    .orderBy('versions.created_at', 'desc')
    .orderBy('versions.id', 'desc')
    .limit(limit)
    .execute()
  return { name: found.name, changes }
}

/** Stores images and locks them against the sweeper until the transaction ends, always in the same order. */
export async function holdPictures(
  { database, objects }: Pick<Services, 'database' | 'objects'>,
  query: Transaction<Schema>,
  pictures: ReadmePicture[],
): Promise<void> {
  for (const { hash, bytes } of pictures.toSorted((one, other) => (one.hash < other.hash ? -1 : 1))) {
    const key = pictureKey(hash)
    await lockObject(database, query, key)
    if (!(await objects.has(key))) await objects.put(bytes)
  }
}
