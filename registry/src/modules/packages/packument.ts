import type { Readable } from 'node:stream'
import type { Actor } from '../../core/access/authorize.ts'
import { tarballPath } from '../../core/http/package-path.ts'
import type { Services } from '../../core/services.ts'
import { requireTarball } from '../entitlements/index.ts'
import {
  findReadablePackage,
  findReadableVersion,
  listVersionManifests,
  tagsOf,
  type VersionManifest,
} from './packages.store.ts'

/** A package for npm clients. */
export type Packument = {
  name: string
  'dist-tags': Record<string, string>
  versions: Record<string, Record<string, unknown>>
  time: Record<string, string>
  modified: string
  description?: string
  readme?: string
}

/**
 * The packument, built from our rows alone: the listed fields of each version's package.json, with `dist` and
 * `deprecated` from the database.
 *
 * Clients choose versions themselves and do not support yanks. A yanked version (and for members an unpublished one) is
 * included, so that it can be installed by its exact number, but marked as deprecated, so that clients prefer other
 * matching versions.
 */
export async function packumentOf(
  { database, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  name: string,
): Promise<Packument> {
  const found = await findReadablePackage(database.query, actor, name)
  // Reads tags first, so that every tagged version exists when versions are read.
  const tags = await tagsOf(database.query, found.id)
  const rows = await listVersionManifests(database.query, found)
  const latest =
    found.latest_version === null ? undefined : await findReadableVersion(database.query, found, found.latest_version)
  const modified = new Date(Math.max(...[found.updated_at, ...rows.map((row) => row.created_at)].map(Number)))
  return {
    name: found.name,
    'dist-tags': Object.fromEntries(tags),
    versions: Object.fromEntries(
      rows.map((row) => [row.version, publishedManifest(found.name, row, config.publicUrl)]),
    ),
    time: {
      created: found.created_at.toISOString(),
      modified: modified.toISOString(),
      ...Object.fromEntries(rows.map((row) => [row.version, (row.published_at ?? row.created_at).toISOString()])),
    },
    modified: modified.toISOString(),
    ...(latest === undefined ? {} : { description: descriptionOf(latest), readme: latest.readme }),
  }
}

export type OpenTarball = { body: Readable; size: number; integrity: string; versionId: string }

/**
 * A version's tarball, if the actor may see that version and download its files. `use`: false for a request that only
 * checks for it (HEAD). Throws `package_not_found`, `version_not_found`, and what `requireTarball` throws.
 */
export async function openTarball(
  { database, objects, config }: Pick<Services, 'database' | 'objects' | 'config'>,
  actor: Actor | null,
  { name, version, use }: { name: string; version: string; use: boolean },
): Promise<OpenTarball> {
  const { query } = database
  const found = await findReadablePackage(query, actor, name)
  const row = await findReadableVersion(query, found, version)
  await requireTarball(query, { actor, found, version, publicUrl: config.publicUrl }, { use })
  const object = await objects.stream(row.object_key)
  if (object === undefined) throw new Error(`${row.object_key} of ${found.name}@${version} is missing from the store`)
  return { ...object, integrity: row.integrity, versionId: row.id }
}

/**
 * Fields of package.json in packuments: descriptions, and what Node loads. None of them makes a client fetch, link or
 * run anything, so installing a package fetches only that package. (Clients trust the packument: with `_hasShrinkwrap`
 * they would install what a lock file in the tarball lists.)
 */
const servedFields = [
  ...['description', 'keywords', 'license', 'author', 'contributors', 'homepage', 'repository', 'bugs', 'funding'],
  ...['type', 'main', 'module', 'browser', 'exports', 'imports', 'types', 'typings', 'sideEffects'],
  ...['engines', 'os', 'cpu', 'libc', 'agentgym'],
]

function publishedManifest(name: string, row: VersionManifest, publicUrl: string): Record<string, unknown> {
  const deprecated = deprecationOf(row)
  const served = servedFields.filter((field) => Object.hasOwn(row.manifest, field))
  return {
    ...Object.fromEntries(served.map((field) => [field, row.manifest[field]])),
    name,
    version: row.version,
    _id: `${name}@${row.version}`,
    ...(deprecated === null ? {} : { deprecated }),
    dist: {
      tarball: publicUrl + tarballPath(name, row.version),
      integrity: row.integrity,
      shasum: row.shasum,
      fileCount: row.file_count,
      unpackedSize: row.unpacked_size,
    },
  }
}

function deprecationOf({ state, yanked_at, deprecated }: VersionManifest): string | null {
  if (state === 'checking') return 'This version is still being checked.'
  if (state === 'rejected') return 'This version was rejected.'
  if (yanked_at !== null) return `This version was yanked.${deprecated === null ? '' : ` ${deprecated}`}`
  return deprecated
}

function descriptionOf({ manifest }: VersionManifest): string {
  return typeof manifest.description === 'string' ? manifest.description : ''
}
