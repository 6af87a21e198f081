import type { Actor } from '../../core/access/actor.ts'
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
import { selectVersion } from './select-version.ts'

export type ResolvedVersion = {
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
 * The version that an exact version, a tag or a range means: the same as npm chooses from the packument. Members get a
 * version that is not published by naming it exactly, others never. Throws `package_not_found`, `version_not_found`.
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

/** The same with its row, which need not be published or free of a yank where it was named exactly. */
export async function chooseVersion(
  query: Queries,
  actor: Actor | null,
  name: string,
  wanted: string,
): Promise<{ found: ReadablePackage; row: VersionRow }> {
  const found = await findReadablePackage(query, actor, name)
  // Tags first, as for the packument: whatever they name is there already.
  const tags = await tagsOf(query, found.id)
  const rows = await listVersions(query, found)
  const candidates = rows.map((row) => ({ ...row, yanked: row.yanked_at !== null || row.state !== 'published' }))
  const chosen = selectVersion(candidates, tags, wanted)
  const row = rows.find(({ version }) => version === chosen?.version)
  if (row === undefined) throw versionNotFound(found.name, wanted, tags)
  return { found, row }
}
