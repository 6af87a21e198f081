import type { SearchRequest } from '@agentgym/contract'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { PageEnd } from './page-cursor.ts'
import type { SearchQuery } from './search-text.ts'
import { searchExpression } from './search-vectors.ts'

/** A search, checked: its words (null for none) and where the page before it ended. */
export type PackageSearch = Omit<SearchRequest, 'q' | 'cursor'> & { words: SearchQuery | null; after: PageEnd | null }

/**
 * Packages that hold the searched words. Where English leaves them as they are, they are looked up once: beginnings of common
 * words stand in long lists of the index.
 */
export function matches({ tsquery }: SearchQuery): RawBuilder<SqlBool> {
  const english = sql`to_tsquery('english', ${tsquery})`
  const simple = sql`to_tsquery('simple', ${tsquery})`
  return sql<SqlBool>`packages.search @@ (case when ${english} = ${simple} then ${simple} else ${searchExpression(tsquery)} end)`
}

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
export function relevance({ tsquery, name }: SearchQuery): RawBuilder<number> {
  const words = sql`ts_rank('{0, 0.2, 0.5, 1}', packages.search_rank, ${searchExpression(tsquery)})`
  const named = sql`case when packages.name = ${name} or split_part(packages.name, '/', 2) = ${name} then 1 else 0 end`
  const used = sql`0.05::float8 * least(1, ln(1::float8 + packages.downloads) / 14)`
  const good = sql`0.05::float8 * packages.quality / 100`
  return sql<number>`(1000000 * (${words} + ${named} + ${used} + ${good}))::bigint`
}
