import type { Queries } from '../../core/database/database.ts'
import type { TaggedVersion } from './tag-rules.ts'

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
