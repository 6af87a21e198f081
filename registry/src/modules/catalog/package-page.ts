import assert from 'node:assert'
import type { Dependents, PackagePage, Quality } from '@agentgym/contract'
import { type InferResult, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { AccountTable, VersionTable } from '../../core/database/schema.ts'
import { tarballPath } from '../../core/http/package-path.ts'
import {
  findReadablePackage,
  isTakenDownFor,
  type PackageRow,
  type PackageServices,
  rendering,
  unrendered,
} from '../packages/index.ts'
import { manifestFacts, packageQuality, qualityInput } from '../search/index.ts'
import { type ListedRow, listedColumns, listedFields, visiblePackages } from './search-packages.ts'
import { similarScenarios } from './similar-scenarios.ts'

/**
 * Everything on the package's page. Of a package that was taken down, non-members see only the reason, without README
 * and versions. Throws `package_not_found`.
 */
export async function packagePage(services: PackageServices, actor: Actor | null, name: string): Promise<PackagePage> {
  const { query } = services.database
  const found = await findReadablePackage(query, actor, name, { takenDown: 'shown' })
  const page = await findPage(query, found.id)
  const isHidden = await isTakenDownFor(query, actor, found)
  return describePage(services, found, isHidden ? { ...page, latest: null, tags: {}, recent: [] } : page)
}

/** The page of a package, from the rows that the actor may see. */
export async function describePage(
  { config, readmes }: Pick<PackageServices, 'config' | 'readmes'>,
  found: Pick<PackageRow, 'taken_down_at' | 'taken_down_reason'>,
  page: PageRow,
): Promise<PackagePage> {
  const { latest } = page
  const html = latest === null ? null : (latest.readme_html ?? (await readmes.readme(latest.id, latest.readme)))
  const { taken_down_at: takenDownAt, taken_down_reason: reason } = found
  return {
    ...listedFields(page.package, config.training.currency),
    owner: page.owner,
    taken_down: takenDownAt === null ? null : { at: takenDownAt.toISOString(), reason },
    latest: latest === null ? null : latestVersion(page.package.name, latest, config.publicUrl),
    readme: latest === null || html === null ? null : { markdown: latest.readme, html },
    quality: latest === null ? { score: 0, parts: [] } : quality(page.package, latest),
    tags: page.tags,
    similar: page.similar,
    versions_count: page.published,
    versions: page.recent.map((version) => ({
      ...version,
      published_at: new Date(version.published_at).toISOString(),
    })),
  }
}

function quality({ name, kind }: PageRow['package'], latest: LatestRow): Quality {
  return packageQuality(qualityInput(kind, manifestFacts(name, latest.manifest), latest, new Date()))
}

function latestVersion(name: string, row: LatestRow, publicUrl: string): NonNullable<PackagePage['latest']> {
  const { license, homepage, repository, agentgym } = manifestFacts(name, row.manifest)
  return {
    version: row.version,
    published_at: row.published_at.toISOString(),
    license,
    homepage,
    repository,
    published_by: row.publisher,
    integrity: row.integrity,
    tarball: publicUrl + tarballPath(name, row.version),
    size: row.size,
    unpacked_size: row.unpacked_size,
    file_count: row.file_count,
    bundle_hash: row.bundle_hash,
    downloads: row.downloads,
    deprecated: row.deprecated,
    yanked: row.yanked_at !== null,
    checks: row.checks,
    agentgym,
  }
}

const latestColumns = [
  'version',
  'checks',
  'steps_per_second',
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

type LatestRow = Pick<Selectable<VersionTable>, (typeof latestColumns)[number]> & {
  id: string
  created_at: Date
  downloads: number
  publisher: string
  /** Null if an earlier version of the renderer produced it. */
  readme_html: string | null
  published_at: Date
}
/** Of a published version; times in milliseconds, because they pass through JSON. */
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
  similar: NonNullable<PackagePage['similar']>
}

/** All data of a package's page, in one round trip. */
async function findPage(query: Queries, packageId: string): Promise<PageRow> {
  return pageRow(await selectPage(query).where('packages.id', '=', packageId).executeTakeFirstOrThrow())
}

/** The same query, not yet limited to one package; `pageRow` turns its rows into the page. */
export function selectPage(query: Queries) {
  return query
    .selectFrom('packages')
    .innerJoin('accounts as owner', 'owner.id', 'packages.owner_id')
    .leftJoin('versions', (join) =>
      join.onRef('versions.package_id', '=', 'packages.id').onRef('versions.version', '=', 'packages.latest_version'),
    )
    .leftJoin('readme_html', (join) =>
      join
        .onRef('readme_html.version_id', '=', 'versions.id')
        .on('readme_html.rendering', 'in', [unrendered, rendering]),
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
    .select([tags.as('tags'), recent.as('recent'), published.as('published'), similarScenarios.as('similar')])
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
    similar: row.similar ?? [],
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

/** Maximum number on a page. */
const most = 100

/**
 * Dependents of a package that the actor may see, the most downloaded first: agents that were verified on one of its
 * versions, and packages whose latest version depends on it. Throws `package_not_found`, `package_taken_down`.
 */
export async function findDependents(query: Queries, actor: Actor | null, requestedName: string): Promise<Dependents> {
  const { id, name } = await findReadablePackage(query, actor, requestedName)
  const visible = visiblePackages(actor)
  const [agents, packages] = await Promise.all([trainedOn(query, id, visible), depending(query, name, visible)])
  return { name, agents, packages }
}

async function trainedOn(query: Queries, id: string, visible: RawBuilder<SqlBool>): Promise<Dependents['agents']> {
  const { rows } = await sql<Dependents['agents'][number]>`
    select name, version, title, scenario_version from (
      select distinct on (packages.id) packages.id, packages.name, packages.downloads, packages.title,
        versions.version, scenario.version as scenario_version
      from versions scenario
      join verdicts verification
        on verification.scenario_version_id = scenario.id and verification.state = 'verified'
      join versions on versions.id = verification.version_id
      join packages on packages.id = versions.package_id
      where scenario.package_id = ${id}::uuid and versions.state = 'published' and versions.yanked_at is null and ${visible}
      order by packages.id, versions.published_at desc, verification.created_at desc
    ) agent
    order by downloads desc, id limit ${sql.lit(most)}`.execute(query)
  return rows
}

async function depending(query: Queries, name: string, visible: RawBuilder<SqlBool>): Promise<Dependents['packages']> {
  const { rows } = await sql<Dependents['packages'][number]>`
    select packages.name, versions.version, packages.title, versions.manifest -> 'dependencies' ->> ${name}::text as range
    from versions
    join packages on packages.id = versions.package_id and packages.latest_version = versions.version
    where versions.manifest -> 'dependencies' ? ${name}::text and ${visible}
    order by packages.downloads desc, packages.id limit ${sql.lit(most)}`.execute(query)
  return rows
}
