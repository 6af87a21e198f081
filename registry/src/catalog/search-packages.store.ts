import type { SearchRequest } from '@agentgym/contract'
import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Actor } from '../auth/actor.ts'
import type { Queries } from '../database/database.ts'
import type { PackageTable } from '../database/schema.ts'
import type { PageEnd } from './page-cursor.ts'
import type { SearchQuery } from './search-text.ts'
import { searchExpression } from './search-vectors.ts'
import { visiblePackages } from './visible-packages.ts'

const listedColumns = [
  'id',
  'name',
  'kind',
  'visibility',
  'price_minor',
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

export type PackageSearch = Omit<SearchRequest, 'q' | 'cursor'> & { words: SearchQuery | null; after: PageEnd | null }

/** One page, and where it ended if there are more. */
export async function searchPackages(
  query: Queries,
  actor: Actor | null,
  search: PackageSearch,
): Promise<{ rows: ListedRow[]; end: PageEnd | null }> {
  const { key, type } = sortKey(search)
  const keyed = query
    .selectFrom('packages')
    .select(listedColumns)
    .select(key.as('sort_key'))
    .where('latest_version', 'is not', null)
    .where(visiblePackages(actor))
    .where(matches(search))
    .where(filters(search))
    .where(search.after === null ? sql<SqlBool>`true` : isAfter(key, type, search.after))
    .orderBy(key, 'desc')
    .orderBy('id', 'desc')
    .limit(search.limit + 1)
  const found = await keyed.execute()
  const rows = found.slice(0, search.limit)
  const last = rows.at(-1)
  const more = found.length > search.limit
  return { rows, end: more && last !== undefined ? { key: keyText(last.sort_key), id: last.id } : null }
}

/** Packages that hold the searched words. */
export function matches({ words }: Pick<PackageSearch, 'words'>): RawBuilder<SqlBool> {
  if (words === null) return sql<SqlBool>`true`
  return sql<SqlBool>`packages.search @@ ${searchExpression(words.tsquery)}`
}

function filters({ kind, category, difficulty, algorithm, price }: PackageSearch): RawBuilder<SqlBool> {
  const conditions: RawBuilder<unknown>[] = []
  if (kind !== undefined) conditions.push(sql`packages.kind = ${kind}`)
  if (category !== undefined) conditions.push(sql`packages.category = ${category}`)
  if (difficulty !== undefined) conditions.push(sql`packages.difficulty = ${difficulty}`)
  if (algorithm !== undefined) conditions.push(sql`packages.algorithm = ${algorithm}`)
  if (price !== undefined)
    conditions.push(price === 'free' ? sql`packages.price_minor = 0` : sql`packages.price_minor > 0`)
  return conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`
}

type SortKey = { key: RawBuilder<number | Date>; type: RawBuilder<unknown> }

function sortKey({ sort, words }: PackageSearch): SortKey {
  if (sort === 'newest') return { key: sql<Date>`packages.updated_at`, type: sql`timestamptz` }
  if (sort === 'quality') return { key: sql<number>`packages.quality`, type: sql`integer` }
  if (sort === 'relevance' && words !== null) return { key: relevance(words), type: sql`bigint` }
  return { key: sql<number>`packages.downloads`, type: sql`bigint` }
}

/**
 * Where the words stand (ts_rank, less for long texts), far more for a package of that very name, a little more for what
 * is used and good. READMEs find but do not rank: repeating a word gains nothing. An integer, so that a page's end is
 * exactly what it was.
 */
function relevance({ tsquery, name }: SearchQuery): RawBuilder<number> {
  const words = sql`ts_rank('{0, 0.2, 0.5, 1}', packages.search_rank, ${searchExpression(tsquery)}, 1)`
  const named = sql`case when packages.name = ${name} or split_part(packages.name, '/', 2) = ${name} then 1 else 0 end`
  const used = sql`0.05 * least(1, ln(1 + packages.downloads) / 14)`
  const good = sql`0.05 * packages.quality / 100.0`
  return sql<number>`(1000000 * (${words} + ${named} + ${used} + ${good}))::bigint`
}

/** As one comparison of rows, which an index on (key, id) can answer. */
function isAfter(key: RawBuilder<unknown>, type: RawBuilder<unknown>, after: PageEnd): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${key}, packages.id) < (${after.key}::${type}, ${after.id}::uuid)`
}

function keyText(key: number | Date): string {
  return key instanceof Date ? key.toISOString() : String(key)
}
