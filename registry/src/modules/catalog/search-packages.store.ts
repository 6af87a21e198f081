import { type RawBuilder, type Selectable, type SqlBool, sql, type Transaction } from 'kysely'
import type { Actor } from '../../core/access/actor.ts'
import type { Database, Queries } from '../../core/database/database.ts'
import { ahead, sendAhead } from '../../core/database/flights.ts'
import type { PageEnd } from '../../core/database/page-cursor.ts'
import { prepared } from '../../core/database/prepared-statements.ts'
import type { PackageTable, Schema } from '../../core/database/schema.ts'
import type { SearchQuery } from '../search/search-text.ts'
import { dimensions, type FacetGroup } from './facet-counts.ts'
import { filters, matches, type PackageSearch, relevance, searchedFor } from './package-search.ts'
import { ownPackages, readsPrivate, visiblePackages } from './visible-packages.ts'

export const listedColumns = [
  'id',
  'name',
  'kind',
  'visibility',
  'price_minor',
  'price_kind',
  'rating',
  'votes',
  'latest_version',
  'title',
  'summary',
  'category',
  'difficulty',
  'algorithm',
  'keywords',
  'quality',
  'downloads',
  'created_at',
  'updated_at',
] as const
export type ListedRow = Pick<Selectable<PackageTable>, (typeof listedColumns)[number]>

/** One page, where it ended if there are more, and how many packages there are before filters. */
export type FoundPackages = { rows: ListedRow[]; end: PageEnd | null; groups: FacetGroup[] }

export async function searchPackages(
  database: Database,
  actor: Actor | null,
  search: PackageSearch,
): Promise<FoundPackages> {
  const { words } = search
  if (words !== null) return database.transaction((query) => searchByWords(query, actor, search, words))
  const [page, groups] = await Promise.all([browse(database.query, actor, search), countAll(database.query, actor)])
  return { ...page, groups }
}

/** Without words: down the index of the sort order, until the page is full. */
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

/** As one comparison of rows, which an index on (column, id) can answer. */
function isAfter(column: BrowsedBy, { key, id }: PageEnd): RawBuilder<SqlBool> {
  const value = column === 'updated_at' ? new Date(key) : key
  return sql<SqlBool>`(${sql.ref(column)}, id) < (${value}, ${id}::uuid)`
}

/** Public ones are counted already, by triggers; the actor's own private ones are few. */
async function countAll(query: Queries, actor: Actor | null): Promise<FacetGroup[]> {
  const counted = query
    .selectFrom('package_counts')
    .select(['kind', 'category', 'difficulty', 'algorithm'])
    .select(sql<string>`case when paid then 'paid' else 'free' end`.as('price'))
    .select('packages')
    .where('packages', '>', 0)
  if (!readsPrivate(actor)) return counted.execute()
  const own = sql<FacetGroup>`select ${groupColumns}, count(*) as packages from packages
    where latest_version is not null and (visibility = 'private' or taken_down_at is not null)
      and ${ownPackages(actor)} group by 1, 2, 3, 4, 5`
  const [all, mine] = await Promise.all([counted.execute(), own.execute(query)])
  return [...all, ...mine.rows]
}

const groupColumns = sql`kind, coalesce(category, '') as category, coalesce(difficulty, '') as difficulty,
  coalesce(algorithm, '') as algorithm, case when price_minor > 0 then 'paid' else 'free' end as price`

/** A row as JSON has it: its times are texts. */
type Hit = Omit<ListedRow, 'created_at' | 'updated_at'> & { key: number; created_at: string; updated_at: string }

/**
 * Every hit is looked at once, for its place in the order and for the counts; the page's rows come in the same answer.
 *
 * The planner takes the index only if it may not read the whole table: it does not know that looking into the tsvector
 * of a row costs many times what looking at the row costs. It also tends to more processes and to compiling, which pay
 * for one query alone on a machine and not for many at once. All that is said in one flight with the search. It is then one
 * plan whatever the words, so most searches find theirs made; with filters there are too many texts to keep one of each.
 */
async function searchByWords(
  query: Transaction<Schema>,
  actor: Actor | null,
  search: PackageSearch,
  words: SearchQuery,
): Promise<FoundPackages> {
  const isPlain = search.after === null && dimensions.every((dimension) => search[dimension] === undefined)
  await sendAhead(query, plannerSettings.compile(query))
  const { rows } = await sql<{ hits: Hit[] | null; groups: FacetGroup[] | null }>`
    ${isPlain && !readsPrivate(actor) ? prepared : sql``}
    with ${searchedFor(words)}, found as materialized (
      select id, ${hitKey(search.sort, words)} as key, kind, category, difficulty, algorithm, price_minor
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
        select ${groupColumns}, count(*) as packages from found group by 1, 2, 3, 4, 5
      ) counted) as groups`.execute(query)
  const [{ hits, groups }] = rows
  const page = (hits ?? []).slice(0, search.limit)
  const last = (hits?.length ?? 0) > search.limit ? page.at(-1) : undefined
  return {
    rows: page.map(rowOfHit),
    end: last === undefined ? null : { key: last.key, id: last.id },
    groups: groups ?? [],
  }
}

const plannerSettings = sql`${prepared}${ahead} select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
  set_config('max_parallel_workers_per_gather', '0', true)`

const listedOfHit = sql.join(listedColumns.map((column) => sql.ref(`packages.${column}`)))

function rowOfHit({ key, created_at: createdAt, updated_at: updatedAt, ...fields }: Hit): ListedRow {
  return { ...fields, created_at: new Date(createdAt), updated_at: new Date(updatedAt) }
}

function hitIsAfter(after: PageEnd | null): RawBuilder<SqlBool> {
  return after === null ? sql<SqlBool>`true` : sql<SqlBool>`(key, id) < (${after.key}::bigint, ${after.id}::uuid)`
}

/** An integer whatever the order, for it goes through JSON. */
function hitKey(sort: PackageSearch['sort'], words: SearchQuery): RawBuilder<number> {
  if (sort === 'relevance') return relevance(words)
  if (sort === 'newest') return sql<number>`(1000 * extract(epoch from updated_at))::bigint`
  return sort === 'quality' ? sql<number>`quality::bigint` : sql<number>`downloads`
}
