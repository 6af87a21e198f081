import assert from 'node:assert'
import { type InferResult, type Selectable, sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { AccountTable, VersionTable } from '../../core/database/schema.ts'
import { rendering } from '../packages/documents/version-documents.store.ts'
import { type ListedRow, listedColumns } from './search-packages.store.ts'

const latestColumns = [
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
  'state',
] as const

export type LatestRow = Pick<Selectable<VersionTable>, (typeof latestColumns)[number]> & {
  id: string
  created_at: Date
  downloads: number
  publisher: string
  /** Null where an earlier edition of the sanitiser made it. */
  readme_html: string | null
  published_at: Date
}
/** Of a published version; times in milliseconds, for they go through JSON. */
type RecentVersion = {
  version: string
  published_at: number
  downloads: number
  deprecated: string | null
  yanked: boolean
}

export type PageRow = {
  package: ListedRow
  owner: Pick<Selectable<AccountTable>, 'username' | 'kind' | 'display_name'>
  /** The version that `latest` names. */
  latest: LatestRow | null
  tags: Record<string, string>
  /** The last ten published, newest first. */
  recent: RecentVersion[]
  published: number
}

/** All that a package's page is made of, in one round trip. */
export async function findPage(query: Queries, packageId: string): Promise<PageRow> {
  return pageRow(await selectPage(query).where('packages.id', '=', packageId).executeTakeFirstOrThrow())
}

/** The same as a query that does not say yet of which package; of its rows, `pageRow` makes the page's. */
export function selectPage(query: Queries) {
  return query
    .selectFrom('packages')
    .innerJoin('accounts as owner', 'owner.id', 'packages.owner_id')
    .leftJoin('versions', (join) =>
      join.onRef('versions.package_id', '=', 'packages.id').onRef('versions.version', '=', 'packages.latest_version'),
    )
    .leftJoin('readme_html', (join) =>
      join.onRef('readme_html.version_id', '=', 'versions.id').on('readme_html.rendering', '=', rendering),
    )
    .leftJoin('accounts as publisher', 'publisher.id', 'versions.published_by')
    .select(listedColumns.map((column) => `packages.${column}` as const))
    .select(['owner.username', 'owner.kind as owner_kind', 'owner.display_name'])
    .select([
      'versions.id as version_id',
      'versions.created_at as version_created_at',
      'versions.downloads as version_downloads',
    ])
    .select(latestColumns.map((column) => `versions.${column}` as const))
    .select(['publisher.username as publisher', 'readme_html.html as readme_html'])
    .select([tags.as('tags'), recent.as('recent'), published.as('published')])
}

type SelectedPage = InferResult<ReturnType<typeof selectPage>>[number]

export function pageRow(row: SelectedPage): PageRow {
  return {
    package: pick(row, listedColumns),
    owner: { username: row.username, kind: row.owner_kind, display_name: row.display_name },
    latest: latestOf(row),
    tags: row.tags ?? {},
    recent: row.recent ?? [],
    published: row.published,
  }
}

const tags = sql<Record<string, string> | null>`(
  select json_object_agg(tag, version order by tag) from tags where package_id = packages.id)`
const recent = sql<RecentVersion[] | null>`(select json_agg(recent) from (
  select version, (1000 * extract(epoch from published_at))::bigint as published_at, downloads, deprecated,
    yanked_at is not null as yanked
  from versions where package_id = packages.id and state = 'published'
  order by versions.published_at desc, id desc limit 10) recent)`
const published = sql<number>`(
  select count(*) from versions where package_id = packages.id and state = 'published')`

type JoinedVersion = {
  [Column in keyof Omit<LatestRow, 'id' | 'created_at' | 'downloads'>]: LatestRow[Column] | null
} & {
  version_id: string | null
  version_created_at: Date | null
  version_downloads: number | null
}

function latestOf(row: JoinedVersion): LatestRow | null {
  if (row.version_id === null) return null
  const { version_id: id, version_created_at: created_at, version_downloads: downloads, publisher, readme_html } = row
  const latest = { ...pick(row, latestColumns), id, created_at, downloads, publisher, readme_html }
  assert(isWhole(latest), 'what `latest` names is published')
  return latest
}

/** Columns of a left join are null together. */
function isWhole(row: { version: string | null; published_at: Date | null }): row is LatestRow {
  return row.version !== null && row.published_at !== null
}

function pick<Row extends object, Column extends keyof Row>(row: Row, columns: readonly Column[]): Pick<Row, Column> {
  return Object.fromEntries(columns.map((column) => [column, row[column]])) as Pick<Row, Column>
}
