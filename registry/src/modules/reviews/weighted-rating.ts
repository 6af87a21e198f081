/** Votes of one to five stars. */
export type Votes = readonly [number, number, number, number, number]

/** As many votes' worth is every package given of the mean, so that a few votes do not make it the best or the worst. */
const priorWeight = 8
/** What an installation without votes takes the mean to be, for as many votes. */
const start = { mean: 3.5, weight: 10 }
/** A package tells at most as much of the mean as so many votes do. */
const mostOfOne = 50

export const countOf = (votes: Votes): number => votes.reduce((sum, count) => sum + count, 0)

const sumOf = (votes: Votes): number => votes.reduce((sum, count, index) => sum + count * (index + 1), 0)

/**
 * The mean of a package's stars, weighted towards `prior` while votes are few (a Bayesian mean): (w·prior + Σ stars) ÷ (w + n),
 * to two decimals. Null without any vote.
 */
export function weightedRating(votes: Votes, prior: number): number | null {
  const count = countOf(votes)
  return count === 0 ? null : toHundredths((priorWeight * prior + sumOf(votes)) / (priorWeight + count))
}

/** The mean that ratings are weighted towards, of the votes of all packages; no package outweighs the others by its number. */
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
