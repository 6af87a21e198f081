import { confidenceInterval, isBetter, type Measure, significance, significanceOfAttempt } from './noise.ts'

/*
 * Leaderboard scores. Scores are noisy, so frequent publishing could select the luckiest result. As in the Ladder of
 * Blum and Hardt (2015), a score changes only if the difference is significant, and the threshold grows with the
 * account's attempts.
 */

/** A verified result of an account on one scenario version. */
export type Attempt = {
  packageId: string
  versionId: string
  /** Results of one season use the same episodes. Null for results from before seasons existed. */
  season: number | null
  /** Number of the attempt among the account's versions for this scenario, from 1. */
  attempt: number
  measure: Measure
}

/** The package's entry after that version was verified. */
export type Standing = {
  packageId: string
  versionId: string
  season: number | null
  /** The score used for ranking. */
  score: number
  low: number | null
  high: number | null
}

type Scored = { score: number; measure: Measure }
type Entry = Scored & { versionId: string; season: number | null }

/**
 * The standing after each version, from all results of one account on one scenario version, in the order of
 * their verification; `order` gives the order in which a package's versions were published.
 *
 * - The first result of a season sets the entry's score: its episodes are new to everybody.
 * - Later in the season, a result that is worse beyond noise lowers the score, and one that is better raises it, up to the
 *   account's best score of the season. Within noise the score stays.
 * - Beyond that best score, a result must be better than the one that earned it, by the bound of the account's attempts.
 *   So neither many versions, nor many packages, nor a low entry on purpose buy another draw.
 */
export function standingsOf(attempts: readonly Attempt[], order: (versionId: string) => number): Map<string, Standing> {
  const entries = new Map<string, Entry>()
  const bests = new Map<number | null, Scored>()
  const standings = new Map<string, Standing>()
  for (const { packageId, versionId, season, attempt, measure } of attempts) {
    const entry = entries.get(packageId)
    if (entry !== undefined && isOutdated(entry, { season, versionId }, order)) continue
    const standing = entry?.season === season ? entry : undefined
    const next = nextScore(standing, bests.get(season), measure, significanceOfAttempt(attempt))
    if (next.score > (bests.get(season)?.score ?? Number.NEGATIVE_INFINITY)) bests.set(season, next)
    entries.set(packageId, { versionId, season, ...next })
    const interval = confidenceInterval(next.measure)
    standings.set(versionId, {
      ...{ packageId, versionId, season, score: next.score },
      low: interval === null ? null : next.score - (next.measure.mean - interval.low),
      high: interval === null ? null : next.score + (interval.high - next.measure.mean),
    })
  }
  return standings
}

/** A re-verified older version, or a result that arrives after its season, does not affect the entry. */
function isOutdated(
  entry: Entry,
  { season, versionId }: Pick<Attempt, 'season' | 'versionId'>,
  order: (versionId: string) => number,
): boolean {
  return order(versionId) < order(entry.versionId) || (season ?? -1) < (entry.season ?? -1)
}

/** The score after another result, with the result that supports it. `best`: the account's best of the season. */
function nextScore(entry: Scored | undefined, best: Scored | undefined, measure: Measure, alpha: number): Scored {
  const isNewBest = best === undefined || (measure.mean > best.score && isBetter(measure, best.measure, alpha))
  const score = isNewBest ? measure.mean : Math.min(measure.mean, best.score)
  if (entry === undefined || isNewBest) return { score, measure }
  if (isBetter(entry.measure, measure, significance)) return { score: Math.min(score, entry.score), measure }
  if (score > entry.score && isBetter(measure, entry.measure, significance)) return { score, measure }
  return { score: entry.score, measure: entry.measure }
}
