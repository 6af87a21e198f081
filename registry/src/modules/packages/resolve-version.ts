import semver from 'semver'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { tarballPath } from '../../core/http/package-path.ts'
import type { Services } from '../../core/services.ts'
import {
  findReadablePackage,
  listVersions,
  type ReadablePackage,
  tagsOf,
  type VersionRow,
  versionNotFound,
} from './packages.store.ts'

type ResolvedVersion = {
  name: string
  version: string
  /** `sha512-…` (base64). */
  integrity: string
  /** Address of the tarball. */
  tarball: string
  deprecated: string | null
  yanked: boolean
}

/**
 * Resolves an exact version, a tag or a range, to the version that npm chooses from the packument. Only members can
 * resolve an unpublished version, by its exact number. Throws `package_not_found`, `version_not_found`.
 */
export async function resolveVersion(
  { database, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  name: string,
  wanted: string,
): Promise<ResolvedVersion> {
  const { found, row } = await chooseVersion(database.query, actor, name, wanted)
  return {
    name: found.name,
    version: row.version,
    integrity: row.integrity,
    tarball: config.publicUrl + tarballPath(found.name, row.version),
    deprecated: row.deprecated,
    yanked: row.yanked_at !== null,
  }
}

/** The same with its row. A version requested exactly may be unpublished or yanked. */
export async function chooseVersion(
  query: Queries,
  actor: Actor | null,
  name: string,
  wanted: string,
): Promise<{ found: ReadablePackage; row: VersionRow }> {
  const found = await findReadablePackage(query, actor, name)
  // Tags first, as for the packument, so that tagged versions exist.
  const tags = await tagsOf(query, found.id)
  const rows = await listVersions(query, found)
  const candidates = rows.map((row) => ({ ...row, yanked: row.yanked_at !== null || row.state !== 'published' }))
  const chosen = selectVersion(candidates, tags, wanted)
  const row = rows.find(({ version }) => version === chosen?.version)
  if (row === undefined) throw versionNotFound(found.name, wanted, tags)
  return { found, row }
}

/** Input for choosing a version. Ranges consider only published versions. */
export type Candidate = { version: string; deprecated: string | null; yanked: boolean }

export type Tags = ReadonlyMap<string, string>

/** Parses ranges in npm's loose mode. */
const loose = { loose: true }

/**
 * Resolves an exact version, a tag or a range, as npm and pnpm do: an exact one in any state; for a range the version
 * tagged `latest` if it fits and is not deprecated, else the highest that is not deprecated, else the highest. A range
 * never resolves to a yanked version. Undefined if nothing fits.
 */
export function selectVersion(candidates: readonly Candidate[], tags: Tags, wanted: string): Candidate | undefined {
  const text = wanted.trim()
  const exact = semver.clean(text, loose)
  if (exact !== null) return candidates.find(({ version }) => version === exact)
  const range = semver.validRange(text, loose)
  if (range === null) return byVersion(candidates, tags.get(text))
  const open = candidates.filter(({ yanked }) => !yanked)
  const latest = byVersion(open, tags.get('latest'))
  // npm treats `*` as latest, even if it is a prerelease.
  if (latest !== undefined && latest.deprecated === null && (text === '' || text === '*' || fits(latest, range)))
    return latest
  const [best] = open
    .filter((candidate) => fits(candidate, range))
    .sort(
      (a, b) => Number(a.deprecated !== null) - Number(b.deprecated !== null) || semver.rcompare(a.version, b.version),
    )
  return best
}

function fits({ version }: Candidate, range: string): boolean {
  return semver.satisfies(version, range, loose)
}

function byVersion(candidates: readonly Candidate[], version: string | undefined): Candidate | undefined {
  return candidates.find((candidate) => candidate.version === version)
}
