import type { Facets, ListedPackage, SearchRequest } from '@agentgym/contract'
import { type RawBuilder, type Selectable, type SqlBool, sql, type Transaction } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database, Queries } from '../../core/database/database.ts'
import type { PageEnd } from '../../core/database/page-cursor.ts'
import type { PackageTable, Schema } from '../../core/database/schema.ts'
import type { SearchQuery } from '../search/index.ts'
import { bestReturns } from '../verification/index.ts'

export const listedColumns = [
  'id',
  'name',
  'kind',
  'visibility',
  'price_minor',
  'price_kind',
  'rating',
  'star_mean',
  'votes',
  'latest_version',
  'title',
  'summary',
  'category',
  'difficulty',
  'algorithm',
  'trained_on',
  'keywords',
  'quality',
  'downloads',
  'trainings',
  'plays',
  'created_at',
  'updated_at',
] as const
export type ListedRow = Pick<Selectable<PackageTable>, (typeof listedColumns)[number]>

/** One page, its end if there are more, and the number of packages before filters. */
export type FoundPackages = { rows: ListedRow[]; end: PageEnd | null } & Counted

/** `scenarios`: the most frequent ones of a list of agents, with all filters but that of the scenario. */
type Counted = { groups: FacetGroup[]; scenarios: FacetValue[] }
type FacetValue = { value: string; count: number }

export async function searchPackages(
  database: Database,
  actor: Actor | null,
  search: PackageSearch,
): Promise<FoundPackages> {
  const { words } = search
  if (words !== null) return database.transaction((query) => searchByWords(query, actor, search, words))
  const [page, groups, scenarios] = await Promise.all([
    browse(database.query, actor, search),
    countAll(database.query, actor, search),
    listsAgents(search) ? countScenarios(database.query, actor, search) : [],
  ])
  return { ...page, groups, scenarios }
}

/** Only agents have a scenario and an outcome. */
function listsAgents({ kind, scenario, solved }: PackageSearch): boolean {
  return kind === 'agent' || scenario !== undefined || solved !== undefined
}

/** Without search words: reads the index of the sort order until the page is full. */
async function browse(
  query: Queries,
  actor: Actor | null,
  search: PackageSearch,
): Promise<Pick<FoundPackages, 'rows' | 'end'>> {
  const column = browsedBy(search.sort)
  const found = await query
    .selectFrom('packages')
    .select(listedColumns)
    .where('latest_version', 'is not', null)
    .where(visiblePackages(actor))
    .where(filters(search))
    .where(search.after === null ? sql<SqlBool>`true` : isAfter(column, search.after))
    .orderBy(column, 'desc')
    .orderBy('id', 'desc')
    .limit(search.limit + 1)
    .execute()
  const rows = found.slice(0, search.limit)
  const last = found.length > search.limit ? rows.at(-1) : undefined
  return { rows, end: last === undefined ? null : { key: Number(last[column]), id: last.id } }
}

type BrowsedBy = 'downloads' | 'updated_at' | 'quality'

function browsedBy(sort: PackageSearch['sort']): BrowsedBy {
  if (sort === 'newest') return 'updated_at'
  return sort === 'quality' ? 'quality' : 'downloads'
}

/** A row comparison that uses the index on (column, id). */
function isAfter(column: BrowsedBy, { key, id }: PageEnd): RawBuilder<SqlBool> {
  const value = column === 'updated_at' ? new Date(key) : key
  return sql<SqlBool>`(${sql.ref(column)}, id) < (${value}, ${id}::uuid)`
}

/** Public packages are counted by triggers; the actor's own private ones are few. */
async function countAll(query: Queries, actor: Actor | null, search: PackageSearch): Promise<FacetGroup[]> {
  const columns = sql`kind, category, difficulty, algorithm, case when paid then 'paid' else 'free' end as price`
  // No other group has the chosen scenario.
  const agents =
    search.scenario === undefined
      ? sql`(select 'agent' as kind, '' as scenario, * from agent_facets where packages > 0)`
      : sql`(select 'agent' as kind, * from agent_counts where packages > 0 and scenario = ${search.scenario})`
  // Agents are counted by scenario and outcome only for lists of agents: the groups are many.
  const counted = listsAgents(search)
    ? sql<FacetGroup>`
      select ${columns}, '' as solved, '' as scenario, packages from package_counts
      where kind <> 'agent' and packages > 0
      union all
      select ${columns}, case when solved then 'yes' else 'no' end, ${chosenScenario(search)}, sum(packages)::bigint
      from ${agents} agents group by 1, 2, 3, 4, 5, 6, 7`
    : sql<FacetGroup>`
      select ${columns}, '' as solved, '' as scenario, packages from package_counts where packages > 0`
  if (!readsPrivate(actor)) return (await counted.execute(query)).rows
  const own = sql<FacetGroup>`select ${groupColumns(search)}, count(*) as packages from packages
    where ${isOwnHidden(actor)} group by 1, 2, 3, 4, 5, 6, 7`
  const [all, mine] = await Promise.all([counted.execute(query), own.execute(query)])
  return [...all.rows, ...mine.rows]
}

/** Packages that are not in the counts, and that the actor may see. */
function isOwnHidden(actor: Actor): RawBuilder<SqlBool> {
  return sql<SqlBool>`(latest_version is not null and (visibility = 'private' or taken_down_at is not null)
    and ${ownPackages(actor)})`
}

async function countScenarios(query: Queries, actor: Actor | null, search: PackageSearch): Promise<FacetValue[]> {
  const { scenario: _, ...others } = search
  const own = readsPrivate(actor)
    ? sql`select trained_on as scenario, count(*) as packages from packages
        where trained_on is not null and ${isOwnHidden(actor)} and ${filters(others)} group by 1`
    : sql`select '' as scenario, 0::bigint as packages where false`
  const { rows } = await sql<FacetValue>`
    with own as (${own}), counts as (${countsOfScenarios(others)})
    select scenario as value, sum(packages)::int as count
    from (select * from counts union all select * from own) counted
    group by scenario order by 2 desc, 1 limit ${sql.lit(maxValues)}`.execute(query)
  return rows
}

/** Public agents by scenario: the most frequent scenarios, and those of `own`, if their sums are kept; else all that fit. */
function countsOfScenarios(search: Omit<PackageSearch, 'scenario'>): RawBuilder<unknown> {
  const { kind, category, difficulty, algorithm, price, solved } = search
  const isNarrowed = [category, difficulty, algorithm, price].some((value) => value !== undefined)
  if (isNarrowed || kind === 'scenario' || solved === 'no')
    return sql`select scenario, packages from agent_counts
      where packages > 0 and scenario <> '' and ${filters(search, { kind: sql`'agent'`, paid: sql`paid`, solved: sql`solved` })}`
  const column = sql.ref(solved === undefined ? 'packages' : 'solved')
  return sql`select scenario, ${column} as packages from agent_scenarios where ${column} > 0 and scenario in (
    (select scenario from agent_scenarios order by ${column} desc, scenario limit ${sql.lit(maxValues)})
    union select scenario from own)`
}

/** Columns of a group of packages. Scenarios are many: all but the chosen one are a group together. */
function groupColumns(search: PackageSearch): RawBuilder<unknown> {
  const solved = listsAgents(search)
    ? sql`case when kind <> 'agent' then '' when solved then 'yes' else 'no' end`
    : sql`''`
  return sql`kind, coalesce(category, '') as category, coalesce(difficulty, '') as difficulty,
    coalesce(algorithm, '') as algorithm, case when price_minor > 0 then 'paid' else 'free' end as price,
    ${solved} as solved, ${chosenScenario(search, sql`trained_on`)} as scenario`
}

function chosenScenario({ scenario }: PackageSearch, column: RawBuilder<unknown> = sql`scenario`): RawBuilder<unknown> {
  return scenario === undefined ? sql`''` : sql`case when ${column} = ${scenario} then ${scenario}::text else '' end`
}

/** A row parsed from JSON: its times are strings. */
type Hit = Omit<ListedRow, 'created_at' | 'updated_at'> & { key: number; created_at: string; updated_at: string }

/**
 * Reads every hit once, for its rank and for the facets, together with the rows of the page.
 *
 * The planner uses the index only if sequential scans are off: it does not know that reading a row's tsvector costs
 * many times as much as reading the row. It also prefers parallel workers and JIT compilation, which help a single
 * query on an idle machine, but not many at once.
 */
async function searchByWords(
  query: Transaction<Schema>,
  actor: Actor | null,
  search: PackageSearch,
  words: SearchQuery,
): Promise<FoundPackages> {
  await plannerSettings.execute(query)
  const { scenario: _, ...others } = search
  const scenarios = listsAgents(search)
    ? sql`(select json_agg(counted) from (
        select trained_on as value, count(*) as count from found where trained_on is not null and ${filters(others)}
        group by 1 order by 2 desc, 1 limit ${sql.lit(maxValues)}
      ) counted)`
    : sql`null`
  const { rows } = await sql<{ hits: Hit[] | null } & { [Part in keyof Counted]: Counted[Part] | null }>`
    with ${searchedFor(words)}, found as materialized (
      select id, ${hitKey(search.sort, words)} as key, kind, category, difficulty, algorithm, price_minor, trained_on,
        solved
      from packages
      where latest_version is not null and ${visiblePackages(actor)} and ${matches}
    ), page as (
      select id, key from found
      where ${filters(search)} and ${hitIsAfter(search.after)}
      order by key desc, id desc limit ${search.limit + 1}
    )
    select
      (select json_agg(listed order by key desc, id desc) from (
        select page.key, ${listedOfHit} from page join packages on packages.id = page.id
      ) listed) as hits,
      (select json_agg(counted) from (
        select ${groupColumns(search)}, count(*) as packages from found group by 1, 2, 3, 4, 5, 6, 7
      ) counted) as groups,
      ${scenarios} as scenarios`.execute(query)
  const [{ hits, groups, scenarios: counted }] = rows
  const page = (hits ?? []).slice(0, search.limit)
  const last = (hits?.length ?? 0) > search.limit ? page.at(-1) : undefined
  return {
    rows: page.map(rowOfHit),
    end: last === undefined ? null : { key: last.key, id: last.id },
    groups: groups ?? [],
    scenarios: counted ?? [],
  }
}

const plannerSettings = sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
  set_config('max_parallel_workers_per_gather', '0', true)`

const listedOfHit = sql.join(listedColumns.map((column) => sql.ref(`packages.${column}`)))

function rowOfHit({ key, created_at: createdAt, updated_at: updatedAt, ...fields }: Hit): ListedRow {
  return { ...fields, created_at: new Date(createdAt), updated_at: new Date(updatedAt) }
}

function hitIsAfter(after: PageEnd | null): RawBuilder<SqlBool> {
  return after === null ? sql<SqlBool>`true` : sql<SqlBool>`(key, id) < (${after.key}::bigint, ${after.id}::uuid)`
}

/** An integer in every order, because it passes through JSON. */
function hitKey(sort: PackageSearch['sort'], words: SearchQuery): RawBuilder<number> {
  if (sort === 'relevance') return relevance(words)
  if (sort === 'newest') return sql<number>`(1000 * extract(epoch from updated_at))::bigint`
  return sort === 'quality' ? sql<number>`quality::bigint` : sql<number>`downloads`
}

/** A validated search: its words (null for none) and the end of the previous page. */
export type PackageSearch = Omit<SearchRequest, 'q' | 'cursor'> & { words: SearchQuery | null; after: PageEnd | null }

/**
 * The one row of `words`, which `matches` and `relevance` read: the words stemmed as English (without stop words such
 * as "the", which no text needs to contain), the words as they are, and the query. A word that English leaves unchanged
 * is looked up once: prefixes of common words have long lists in the index. Materialized: a generic plan would compute
 * it again for every row.
 */
function searchedFor({ tsquery }: SearchQuery): RawBuilder<unknown> {
  return sql`words as materialized (
    select english || simple as ranked, case when english = simple then simple else english || simple end as matched
    from (select to_tsquery('english', ${tsquery}) as english, to_tsquery('simple', ${tsquery}) as simple) made)`
}

/** Packages that contain the searched words. */
const matches = sql<SqlBool>`packages.search @@ (select matched from words)`

/** Rows of `packages`, or of another source with its columns, that pass the search's filters. */
function filters(
  search: Omit<PackageSearch, 'words' | 'after' | 'sort' | 'limit'>,
  columns = packageColumns,
): RawBuilder<SqlBool> {
  const { kind, category, difficulty, algorithm, price, scenario, solved } = search
  const conditions: RawBuilder<unknown>[] = [sql`true`]
  if (kind !== undefined) conditions.push(sql`${columns.kind} = ${kind}`)
  if (category !== undefined) conditions.push(sql`category = ${category}`)
  if (difficulty !== undefined) conditions.push(sql`difficulty = ${difficulty}`)
  if (algorithm !== undefined) conditions.push(sql`algorithm = ${algorithm}`)
  if (price !== undefined) conditions.push(price === 'free' ? sql`not ${columns.paid}` : columns.paid)
  if (scenario !== undefined) conditions.push(sql`trained_on = ${scenario}`)
  if (solved !== undefined) conditions.push(sql`${columns.kind} = 'agent' and ${columns.solved} = ${solved === 'yes'}`)
  return sql<SqlBool>`(${sql.join(conditions, sql` and `)})`
}

const packageColumns = { kind: sql`kind`, paid: sql`(price_minor > 0)`, solved: sql`coalesce(solved, false)` }

/**
 * Ranks by where the words appear (ts_rank: names, then titles and keywords, then summaries), with an exact name match
 * first; ties are broken by use and quality. Their share is smaller than the step from one rank to the next, so
 * downloads never outweigh words. READMEs match but do not rank: repeating a word there gains nothing. An integer, so
 * that page boundaries are exact.
 */
function relevance({ name }: SearchQuery): RawBuilder<number> {
  const words = sql`ts_rank('{0, 0.2, 0.5, 1}', packages.search_rank, (select ranked from words))`
  const named = sql`case when packages.name = ${name} or split_part(packages.name, '/', 2) = ${name} then 1 else 0 end`
  const used = sql`0.05::float8 * least(1, ln(1::float8 + packages.downloads) / 14)`
  const good = sql`0.05::float8 * packages.quality / 100`
  return sql<number>`(1000000 * (${words} + ${named} + ${used} + ${good}))::bigint`
}

/** The filters of a search. */
const dimensions = ['kind', 'category', 'difficulty', 'algorithm', 'price', 'solved', 'scenario'] as const
type Dimension = (typeof dimensions)[number]

/** Number of packages with these values; '' for none. */
type FacetGroup = Record<Dimension, string> & { packages: number }

const maxValues = 50

/** Facets and total of a search, from its results before filters, grouped by all dimensions at once. */
export function facetCounts({ groups, scenarios }: Counted, search: PackageSearch): { facets: Facets; total: number } {
  const fits = (group: FacetGroup, except?: Dimension) =>
    dimensions.every((dimension) => {
      const wanted = search[dimension]
      return dimension === except || wanted === undefined || group[dimension] === wanted
    })
  const facet = (dimension: Dimension) => {
    const fitting = groups.filter((group) => fits(group, dimension))
    return addUp(fitting, dimension)
  }
  return {
    facets: {
      kind: facet('kind'),
      category: facet('category'),
      difficulty: facet('difficulty'),
      algorithm: facet('algorithm'),
      price: facet('price'),
      scenario: scenarios,
      solved: facet('solved'),
    },
    total: groups.filter((group) => fits(group)).reduce((sum, group) => sum + group.packages, 0),
  }
}

function addUp(groups: FacetGroup[], dimension: Dimension): { value: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const group of groups) {
    const value = group[dimension]
    if (value !== '') counts.set(value, (counts.get(value) ?? 0) + group.packages)
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, maxValues)
}

/**
 * A condition on rows of `packages`: those that the actor may know of. The equivalent of `authorize(…, 'read')` for
 * queries: everyone sees public packages; members of the account, in any role, see private ones, with a session or a
 * token with the scope `packages:read`. Lists show packages that were taken down to members only.
 */
export function visiblePackages(actor: Actor | null): RawBuilder<SqlBool> {
  const listed = sql`packages.visibility = 'public' and packages.taken_down_at is null`
  if (!readsPrivate(actor)) return sql<SqlBool>`(${listed})`
  return sql<SqlBool>`(${listed} or ${ownPackages(actor)})`
}

/** A condition on rows of `packages`: those of the actor and of the organizations that the actor belongs to. */
function ownPackages(actor: Actor): RawBuilder<SqlBool> {
  return sql<SqlBool>`(packages.owner_id = ${actor.accountId} or packages.owner_id in (
    select organisation_id from memberships where user_id = ${actor.accountId}))`
}

function readsPrivate(actor: Actor | null): actor is Actor {
  return actor?.scopes.has('packages:read') ?? false
}

/** `currency`: that of every price of the installation. */
export async function listedPackages(query: Queries, rows: ListedRow[], currency: string): Promise<ListedPackage[]> {
  const best = await bestReturns(
    query,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({
    ...listedFields(row, currency),
    quality: row.quality,
    best_return: best.get(row.id) ?? null,
  }))
}

export function listedFields(
  { id, quality, created_at, updated_at, rating, star_mean, ...fields }: ListedRow,
  currency: string,
): Omit<ListedPackage, 'quality' | 'best_return'> {
  const shown = { ...fields, rating: star_mean ?? rating }
  return { ...shown, currency, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() }
}
