import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import type { Schema, VersionTable } from '../../core/database/schema.ts'
import { type ManifestFacts, manifestFacts, packageQuality, type QualityInput } from './package-quality.ts'

const dayMs = 24 * 60 * 60 * 1000

/**
 * Updates a package's catalog entry from the version in `packages.latest_version`: title, summary, category,
 * difficulty, algorithm, keywords, quality, search vectors and `updated_at`, and of an agent its scenario and outcome. Must be called in the transaction that
 * moved `latest` or deprecated that version, after it; does nothing for a package without one.
 */
export async function indexPackage(query: Transaction<Schema>, packageId: string): Promise<void> {
  const latest = await query
    .selectFrom('packages')
    .innerJoin('versions', (join) =>
      join.onRef('versions.package_id', '=', 'packages.id').onRef('versions.version', '=', 'packages.latest_version'),
    )
    .leftJoin('agent_versions', 'agent_versions.version_id', 'versions.id')
    .select(['packages.name', 'packages.kind', 'versions.manifest', 'versions.readme', 'versions.checks'])
    .select(sql<string | null>`agent_versions.manifest ->> 'algorithm'`.as('trained_by'))
    .select(sql<string | null>`agent_versions.manifest -> 'scenario' ->> 'name'`.as('trained_on'))
    .select(['versions.deprecated', 'versions.published_at', 'versions.steps_per_second'])
    .where('packages.id', '=', packageId)
    .executeTakeFirst()
  if (latest === undefined) return
  const facts = manifestFacts(latest.name, latest.manifest)
  const { title, summary, category, difficulty, keywords } = facts
  const algorithm = latest.trained_by?.slice(0, 40) ?? facts.algorithm
  const words = searchedWords({ ...facts, algorithm, name: latest.name, readme: latest.readme })
  const { search, searchRank } = searchVectors({
    name: sql`${words.name}`,
    title: sql`${words.title}`,
    labels: sql`${words.labels}`,
    summary: sql`${words.summary}`,
    readme: sql`${words.readme}`,
  })
  await query
    .updateTable('packages')
    .set({ title, summary, category, difficulty, algorithm, keywords: JSON.stringify(keywords) })
    .set({ quality: packageQuality(qualityInput(latest.kind, facts, latest, new Date())).score })
    .set({ search, search_rank: searchRank })
    .set({ trained_on: latest.trained_on })
    .set({
      updated_at: sql`coalesce((select max(published_at) from versions where package_id = ${packageId}), updated_at)`,
    })
    .where('id', '=', packageId)
    .execute()
  if (latest.kind === 'agent') await refreshSolved(query, packageId)
}

/** Records whether an agent's latest version is verified and meets all targets; call it where a verdict changes. */
export async function refreshSolved(query: Transaction<Schema>, packageId: string): Promise<void> {
  await sql`
    update packages set solved = exists (
      select from versions join verdicts on verdicts.version_id = versions.id
      where versions.package_id = packages.id and versions.version = packages.latest_version
        and verdicts.state = 'verified'
        and verdicts.statement::jsonb #>> '{held_out,success,ok}' = 'true'
        and verdicts.statement::jsonb #> '{held_out,success,criteria}' <> '[]'::jsonb)
    where id = ${packageId} and kind = 'agent'`.execute(query)
}

type JudgedVersion = Pick<
  Selectable<VersionTable>,
  'readme' | 'checks' | 'steps_per_second' | 'deprecated' | 'published_at'
>

export function qualityInput(
  kind: QualityInput['kind'],
  facts: ManifestFacts,
  version: JudgedVersion,
  now: Date,
): QualityInput {
  return {
    kind,
    readme: version.readme,
    summary: facts.summary,
    keywords: facts.keywords,
    linked: facts.homepage !== null || facts.repository !== null,
    checks: version.checks,
    stepsPerSecond: version.steps_per_second,
    successCriteria: facts.successCriteria,
    deprecated: version.deprecated !== null,
    daysSincePublish: (now.getTime() - (version.published_at ?? now).getTime()) / dayMs,
  }
}

type SearchedTexts = {
  name: string
  title: string
  summary: string
  category: string | null
  algorithm: string | null
  keywords: readonly string[]
  readme: string
}

/** Indexed length of a README, whose beginning describes the topic. */
const maxReadmeCharacters = 50_000
/** A tsvector is limited to a megabyte, and normalizing can lengthen text many times, so text is truncated. */
const maxWordsCharacters = 60_000

/** The same texts as words, for `searchVectors`. */
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
 * All texts use the configuration `english`, so that "balancing" finds "balance". All but the README also use `simple`,
 * so that prefixes match regardless of stemming, and names match exactly.
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

const word = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts without spaces between words: each character is a word. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu
const latinMarks = /[\u0300-\u036f]/g
/** Control characters, in particular NUL, which PostgreSQL does not accept. */
const notInNames = /\p{C}/gu
/** PostgreSQL allows 2,046 bytes per word; normalizing can expand one character to eighteen. */
const maxWordCharacters = 80
const maxQueryWords = 12

/**
 * Splits a text into words, by the same rule for texts and queries: lower case, without accents, only letters and
 * digits. PostgreSQL's parser would see addresses, paths and signed numbers in `cart-pole/1.0`.
 */
function searchWords(text: string): string[] {
  const folded = text.normalize('NFKD').replace(latinMarks, '').toLowerCase()
  return (folded.replace(unspaced, ' $& ').match(word) ?? []).map((found) => found.slice(0, maxWordCharacters))
}

/** Words of a package's name: scope, parts, and the joined parts, so that `cartpole` finds `cart-pole`. */
function nameWords(name: string): string[] {
  const [scope, base] = name.replace(/^@/, '').split('/')
  const parts = searchWords(base)
  return [...searchWords(scope), ...parts, ...(parts.length > 1 ? [parts.join('')] : [])]
}

/** A query for `to_tsquery('simple', …)` that finds packages with any of the words; null if there is none. */
export function anyWord(texts: readonly string[]): string | null {
  const words = [...new Set(texts.flatMap(searchWords))].filter((found) => found.length > 1)
  return words.length === 0 ? null : words.slice(0, 24).join(' | ')
}

export type SearchQuery = {
  /**
   * Query for `to_tsquery`: all words, the last as a prefix unless it is a single Latin letter or digit, which would
   * match too many words. Contains only letters, digits, `&` and `:*`.
   */
  tsquery: string
  /** The query as a package name: `@acme/cart-pole`, or `cart-pole`, also for `cart pole`. */
  name: string
}

/** Null if the text contains no word. */
export function searchQuery(text: string): SearchQuery | null {
  const words = searchWords(text).slice(0, maxQueryWords)
  if (words.length === 0) return null
  const name = text.trim().toLowerCase().replace(/\s+/g, '-').replace(notInNames, '')
  return {
    tsquery: words.join(' & ') + (/^[a-z0-9]$/.test(words[words.length - 1]) ? '' : ':*'),
    name: name.includes('/') && !name.startsWith('@') ? `@${name}` : name,
  }
}
