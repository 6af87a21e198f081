import { createRng } from '@agentgym/scenario'

/**
 * Statistics of a few runs, after Agarwal et al. (2021), "Deep Reinforcement Learning at the Edge of the Statistical
 * Precipice", and their library rliable.
 */

/** The interquartile mean: of the scores that are left without ⌊n / 4⌋ at either end (`scipy.stats.trim_mean`, 0.25). */
export function interquartileMean(scores: readonly number[]): number {
  const cut = Math.floor(scores.length / 4)
  const middle = scores.toSorted((a, b) => a - b).slice(cut, scores.length - cut)
  return middle.reduce((sum, score) => sum + score, 0) / middle.length
}

export type Interval = { low: number; high: number }

/** Resamplings; beyond these, the ends of an interval move by less than they are printed with. */
const RESAMPLINGS = 10_000

/**
 * The percentile interval that holds 95% of the interquartile means of resampled scores. Scores are drawn with replacement
 * among the seeds of each scenario apart (the strata), so every resampling has as many of each as were run.
 */
export function stratifiedBootstrap(strata: readonly (readonly number[])[], seed = 1): Interval {
  const rng = createRng(seed)
  const means = Array.from({ length: RESAMPLINGS }, () =>
    interquartileMean(strata.flatMap((scores) => scores.map(() => rng.pick(scores)))),
  ).sort((a, b) => a - b)
  return { low: quantile(means, 0.025), high: quantile(means, 0.975) }
}

/** Of sorted values, with linear interpolation between neighbors (`numpy.percentile`). */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1)
  const below = Math.floor(at)
  const above = Math.min(below + 1, sorted.length - 1)
  return sorted[below] + (at - below) * (sorted[above] - sorted[below])
}
