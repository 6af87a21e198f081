import { type RawBuilder, sql } from 'kysely'
import { nameWords, searchWords } from './search-text.ts'

export type SearchedTexts = {
  name: string
  title: string
  summary: string
  category: string | null
  algorithm: string | null
  keywords: readonly string[]
  readme: string
}

/** A README may be long; what it is about stands at its beginning. */
const maxReadmeCharacters = 50_000
/** A tsvector holds a megabyte, and normalising can make a text many times as long: what is longer is cut. */
const maxWordsCharacters = 60_000

/** The same texts as strings of words, ready for `searchVectors`. */
export function searchedWords(
  texts: SearchedTexts,
): Record<'name' | 'title' | 'labels' | 'summary' | 'readme', string> {
  const readme = texts.readme.slice(0, maxReadmeCharacters).replace(/\bhttps?:\/\/\S+/g, ' ')
  const labels = [...texts.keywords, texts.category ?? '', texts.algorithm ?? ''].join(' ')
  const joined = (words: string[]) => words.join(' ').slice(0, maxWordsCharacters)
  return {
    name: joined(nameWords(texts.name)),
    title: joined(searchWords(texts.title)),
    labels: joined(searchWords(labels)),
    summary: joined(searchWords(texts.summary)),
    readme: joined(searchWords(readme)),
  }
}

type Words = Record<keyof ReturnType<typeof searchedWords>, RawBuilder<unknown>>

/**
 * The tsvectors of a package: names weigh A, titles and keywords B, summaries C, READMEs D.
 *
 * Everything is there in the configuration `english`, so that "balancing" finds "balance"; all but the README also in
 * `simple`, so that the beginning of a word finds it however English would stem it, and names are found as they are.
 */
export function searchVectors(words: Words): { search: RawBuilder<string>; searchRank: RawBuilder<string> } {
  const weighed = (configuration: 'english' | 'simple') => sql`(
    setweight(to_tsvector(${sql.lit(configuration)}, ${words.name}), 'A')
    || setweight(to_tsvector(${sql.lit(configuration)}, ${words.title}), 'B')
    || setweight(to_tsvector(${sql.lit(configuration)}, ${words.labels}), 'B')
    || setweight(to_tsvector(${sql.lit(configuration)}, ${words.summary}), 'C'))`
  const searchRank = sql<string>`(${weighed('english')} || ${weighed('simple')})`
  return { searchRank, search: sql<string>`(${searchRank} || setweight(to_tsvector('english', ${words.readme}), 'D'))` }
}
