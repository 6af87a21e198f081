import type { SearchRequest } from '@agentgym/contract'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { PageEnd } from '../../core/database/page-cursor.ts'
import type { SearchQuery } from '../search/search-text.ts'

/** A search, checked: its words (null for none) and where the page before it ended. */
export type PackageSearch = Omit<SearchRequest, 'q' | 'cursor'> & { words: SearchQuery | null; after: PageEnd | null }

/**
 * The one row of `words`, which `matches` and `relevance` look into: the words as English has them (without such as "the",
 * which no text needs to hold) and as they are, and what to look up. That is looked up once where English leaves it as it
 * is: beginnings of common words stand in long lists of the index. Made once a search, whoever plans it: a plan for any
 * words would make it anew for every row.
 */
export function searchedFor({ tsquery }: SearchQuery): RawBuilder<unknown> {
  return sql`words as materialized (
    select english || simple as ranked, case when english = simple then simple else english || simple end as matched
    from (select to_tsquery('english', ${tsquery}) as english, to_tsquery('simple', ${tsquery}) as simple) made)`
}

/** Packages that hold the searched words. */
export const matches = sql<SqlBool>`packages.search @@ (select matched from words)`

/** Rows of `packages`, or what else has its columns, that pass the search's filters. */
export function filters({ kind, category, difficulty, algorithm, price }: PackageSearch): RawBuilder<SqlBool> {
  const conditions: RawBuilder<unknown>[] = [sql`true`]
  if (kind !== undefined) conditions.push(sql`kind = ${kind}`)
  if (category !== undefined) conditions.push(sql`category = ${category}`)
  if (difficulty !== undefined) conditions.push(sql`difficulty = ${difficulty}`)
  if (algorithm !== undefined) conditions.push(sql`algorithm = ${algorithm}`)
  if (price !== undefined) conditions.push(price === 'free' ? sql`price_minor = 0` : sql`price_minor > 0`)
  return sql<SqlBool>`(${sql.join(conditions, sql` and `)})`
}

/**
 * Where the words stand (ts_rank: names, then titles and keywords, then summaries), before all a package of that very
 * name; among those alike, what is used and good. That share is smaller than the step from one place to the next, so no
 * download makes up for words. READMEs find but do not rank: repeating a word there gains nothing. An integer, so that a
 * page's end is exactly what it was.
 */
export function relevance({ name }: SearchQuery): RawBuilder<number> {
  const words = sql`ts_rank('{0, 0.2, 0.5, 1}', packages.search_rank, (select ranked from words))`
  const named = sql`case when packages.name = ${name} or split_part(packages.name, '/', 2) = ${name} then 1 else 0 end`
  const used = sql`0.05::float8 * least(1, ln(1::float8 + packages.downloads) / 14)`
  const good = sql`0.05::float8 * packages.quality / 100`
  return sql<number>`(1000000 * (${words} + ${named} + ${used} + ${good}))::bigint`
}
