import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { indexPackage } from '../search/index-package.ts'

/** Sets a tag, and with `latest` what lists show of the package. The caller holds the package's lock. */
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
