import { type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely'
import type { Database, Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { counts, majorOf } from './reviews.store.ts'

type Rating = { mean: number | null; score: number | null; votes: number; byStars: Votes }

/** Lock of every change of a package's votes, held until its rating is updated. */
export async function lockRating(query: Transaction<Schema>, packageId: string): Promise<void> {
  await query.selectFrom('packages').select('id').where('id', '=', packageId).forNoKeyUpdate().execute()
}

/** The rating computed from a package's votes, not the stored one. */
export async function readRating(query: Queries, packageId: string): Promise<Rating> {
  const { mean } = await query.selectFrom('rating_prior').select('mean').executeTakeFirstOrThrow()
  const [found] = await votesOf(query, sql`packages.id = ${packageId}`)
  const byStars = found?.byStars ?? [0, 0, 0, 0, 0]
  return { mean: starMean(byStars), score: weightedRating(byStars, mean), votes: countOf(byStars), byStars }
}

/** Stores the package's rating, in the transaction of the change, after locking the rating. */
export async function writeRating(query: Transaction<Schema>, packageId: string): Promise<void> {
  const { mean, score, votes } = await readRating(query, packageId)
  await query
    .updateTable('packages')
    .set({ rating: score, star_mean: mean, votes })
    .where('id', '=', packageId)
    .where(sql<SqlBool>`(rating, star_mean, votes) is distinct from (
        ${score}::double precision, ${mean}::double precision, ${votes}::integer)`)
    .execute()
}

/**
 * Updates the rating of a package whose votes changed without a new review, for example because a reviewer was
 * disabled. Call it last in the transaction.
 */
export async function refreshRating(query: Transaction<Schema>, packageId: string): Promise<void> {
  await lockRating(query, packageId)
  await writeRating(query, packageId)
}

/** The same, for changes that can only remove votes, such as refunds. Cheap if there are no votes. */
export async function dropLostVotes(query: Transaction<Schema>, packageId: string): Promise<void> {
  const voted = await query
    .selectFrom('packages')
    .select('id')
    .where('id', '=', packageId)
    .where('votes', '>', 0)
    .executeTakeFirst()
  if (voted !== undefined) await refreshRating(query, packageId)
}

/** Updates the prior mean to the current mean of all votes, and every rating that differs as a result. */
export async function refreshRatings(database: Database): Promise<void> {
  const all = await votesOf(database.query, sql`true`)
  const mean = ratingPrior(all.map(({ byStars }) => byStars))
  await database.query.updateTable('rating_prior').set({ mean }).where('mean', '<>', mean).execute()
  for (const { packageId, byStars, starMean: shown, score, votes } of all) {
    const isCurrent = score === weightedRating(byStars, mean) && shown === starMean(byStars)
    if (isCurrent && votes === countOf(byStars)) continue
    await database.transaction((query) => refreshRating(query, packageId))
  }
}

type PackageVotes = {
  packageId: string
  byStars: Votes
  starMean: number | null
  score: number | null
  votes: number
}

/**
 * The votes of packages that have ever been reviewed, with the stored ratings. One vote per user: the newest valid one,
 * for any version. Hidden and withdrawn reviews do not count.
 */
async function votesOf(query: Queries, which: RawBuilder<unknown>): Promise<PackageVotes[]> {
  const column = (name: string) => sql.ref(name)
  const isCounted = counts({
    author: column('reviews.author_id'),
    packageId: column('reviews.package_id'),
    major: majorOf(column('versions.version')),
  })
  const { rows } = await sql<Omit<PackageVotes, 'byStars'> & { given: number[] | null }>`
    with vote as (
      select distinct on (reviews.package_id, reviews.author_id) reviews.package_id, reviews.stars
      from reviews join versions on versions.id = reviews.version_id join packages on packages.id = reviews.package_id
      where ${which} and reviews.hidden_at is null and reviews.deleted_at is null and ${isCounted}
      order by reviews.package_id, reviews.author_id, reviews.updated_at desc, reviews.id desc
    )
    select packages.id as "packageId", packages.rating as score, packages.star_mean as "starMean", packages.votes,
      (select json_agg(stars) from vote where package_id = packages.id) as given
    from packages where ${which} and exists (select from reviews where package_id = packages.id)`.execute(query)
  return rows.map(({ given, ...stored }) => ({ ...stored, byStars: tally(given ?? []) }))
}

function tally(given: readonly number[]): Votes {
  const of = (stars: number) => given.filter((one) => one === stars).length
  return [of(1), of(2), of(3), of(4), of(5)]
}

/** Votes of one to five stars. */
export type Votes = readonly [number, number, number, number, number]

/** Weight of the prior mean in votes, so that a few votes are not decisive. */
const priorWeight = 8
/** Mean of an installation without votes, and its weight in votes. */
const start = { mean: 3.5, weight: 10 }
/** Maximum weight of a package in the mean, in votes. */
const mostOfOne = 50

const countOf = (votes: Votes): number => votes.reduce((sum, count) => sum + count, 0)

const sumOf = (votes: Votes): number => votes.reduce((sum, count, index) => sum + count * (index + 1), 0)

/**
 * The mean of a package's stars, weighted towards `prior` while votes are few (a Bayesian mean): (w·prior + Σ stars) ÷ (w + n),
 * to two decimals. Null without any vote.
 */
export function weightedRating(votes: Votes, prior: number): number | null {
  const count = countOf(votes)
  return count === 0 ? null : toHundredths((priorWeight * prior + sumOf(votes)) / (priorWeight + count))
}

/** The plain mean of a package's stars, to two decimals, for display. Null without votes. */
function starMean(votes: Votes): number | null {
  const count = countOf(votes)
  return count === 0 ? null : toHundredths(sumOf(votes) / count)
}

/** The prior mean of ratings: the mean of all packages' votes, with the weight of each package limited. */
export function ratingPrior(packages: Iterable<Votes>): number {
  let stars = start.mean * start.weight
  let weight = start.weight
  for (const votes of packages) {
    const count = countOf(votes)
    if (count === 0) continue
    const counted = Math.min(count, mostOfOne)
    stars += (counted * sumOf(votes)) / count
    weight += counted
  }
  return toHundredths(stars / weight)
}

const toHundredths = (value: number): number => Math.round(value * 100) / 100
