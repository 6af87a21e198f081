import { createRng } from '@agentgym/scenario'
import type { Counts } from './importance-sampling.ts'

export type Interval = { mean: number; low: number; high: number }

/** Of the standard normal distribution: its middle 95% are this far from 0. */
const NORMAL_95 = 1.96

/**
 * 95% intervals from a bootstrap over whole episodes (Efron, 1979): 1.96 standard deviations of a statistic's values on `replicates`
 * samples of as many episodes, drawn with replacement, around its value on the log (`mean`) and on all episodes, whose last
 * `pseudo` are not of the log. All statistics see the same samples, so a difference of two is paired.
 *
 * Percentiles of the samples' values would lean to one side where few episodes fail: of logs with 60 episodes that count, they hold a
 * true share of 0.97 in 90%. Around one of the two values alone, the interval of a share, or that of a difference, would be too low.
 */
export function bootstrap(
  { episodes, pseudo }: { episodes: number; pseudo: number },
  statistics: readonly ((counts: Counts) => number)[],
  { replicates, seed }: { replicates: number; seed: number },
): Interval[] {
  const rng = createRng(seed)
  const drawn = statistics.map(() => new Float64Array(replicates))
  const counts = new Uint32Array(episodes)
  for (let b = 0; b < replicates; b += 1) {
    counts.fill(0)
    for (let i = 0; i < episodes; i += 1) counts[rng.int(episodes)] += 1
    for (let s = 0; s < statistics.length; s += 1) drawn[s][b] = statistics[s](counts)
  }
  const all = new Uint32Array(episodes).fill(1)
  const log = Uint32Array.from(all).fill(0, episodes - pseudo)
  return statistics.map((statistic, s) => {
    // A sample in which no episode has a weight says nothing.
    const values = drawn[s].filter((value) => !Number.isNaN(value)).sort()
    const [mean, whole, half] = [statistic(log), statistic(all), NORMAL_95 * deviationOf(values)]
    // Where the returns end, so do the samples' values.
    const low = Math.max(values[0], Math.min(mean, whole) - half)
    const high = Math.min(values[values.length - 1], Math.max(mean, whole) + half)
    return { mean, low: Math.min(mean, low), high: Math.max(mean, high) }
  })
}

function deviationOf(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}
