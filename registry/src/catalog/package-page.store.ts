import type { Selectable } from 'kysely'
import type { Queries } from '../database/database.ts'
import type { AccountTable, VersionTable } from '../database/schema.ts'
import { type ListedRow, listedColumns } from './search-packages.store.ts'

const latestColumns = [
  'id',
  'version',
  'checks',
  'manifest',
  'readme',
  'integrity',
  'size',
  'unpacked_size',
  'file_count',
  'bundle_hash',
  'deprecated',
  'yanked_at',
  'published_at',
  'created_at',
  'downloads',
] as const

export type PageRow = {
  package: ListedRow
  owner: Pick<Selectable<AccountTable>, 'username' | 'kind' | 'display_name'>
  /** The version that `latest` names. */
  latest: (Pick<Selectable<VersionTable>, (typeof latestColumns)[number]> & { publisher: string }) | null
}

const shownVersions = 10

export async function findPage(query: Queries, packageId: string): Promise<PageRow> {
  const found = await query
    .selectFrom('packages')
    .select([...listedColumns, 'owner_id'])
    .where('id', '=', packageId)
    .executeTakeFirstOrThrow()
  const { owner_id, ...row } = found
  const owner = query
    .selectFrom('accounts')
    .select(['username', 'kind', 'display_name'])
    .where('id', '=', owner_id)
    .executeTakeFirstOrThrow()
  const latest = query
    .selectFrom('versions')
    .innerJoin('accounts', 'accounts.id', 'versions.published_by')
    .select(latestColumns.map((column) => `versions.${column}` as const))
    .select('accounts.username as publisher')
    .where('package_id', '=', packageId)
    .where('version', '=', row.latest_version ?? '')
    .executeTakeFirst()
  const [ownerRow, latestRow] = await Promise.all([owner, latest])
  return { package: row, owner: ownerRow, latest: latestRow ?? null }
}

export async function recentVersions(
  query: Queries,
  packageId: string,
): Promise<Pick<Selectable<VersionTable>, 'version' | 'published_at' | 'downloads' | 'deprecated' | 'yanked_at'>[]> {
  return query
    .selectFrom('versions')
    .select(['version', 'published_at', 'downloads', 'deprecated', 'yanked_at'])
    .where('package_id', '=', packageId)
    .where('state', '=', 'published')
    .orderBy('published_at', 'desc')
    .orderBy('id', 'desc')
    .limit(shownVersions)
    .execute()
}

export async function countVersions(query: Queries, packageId: string): Promise<number> {
  const row = await query
    .selectFrom('versions')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('package_id', '=', packageId)
    .where('state', '=', 'published')
    .executeTakeFirstOrThrow()
  return row.count
}
