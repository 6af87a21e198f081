/** Two-sided 95 % quantiles of Student's t, by degrees of freedom from 1. */
const T_95 = [
  12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622, 2.2281, 2.201, 2.1788, 2.1604, 2.1448, 2.1314,
]

export type PairedInterval = { mean: number; low: number; high: number; pairs: number }

/**
 * Mean difference a - b of pairs that share a seed, with its 95 % interval by Student's t. With one pair nothing is known
 * of the noise: the interval is unbounded.
 */
export function pairedInterval(a: readonly number[], b: readonly number[]): PairedInterval {
  const differences = a.map((value, i) => value - b[i])
  const pairs = differences.length
  const mean = differences.reduce((sum, value) => sum + value, 0) / pairs
  if (pairs < 2) return { mean, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY, pairs }
  const variance = differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (pairs - 1)
  const t = T_95[pairs - 2] ?? 1.96 + 2.6 / (pairs - 1)
  const half = t * Math.sqrt(variance / pairs)
  return { mean, low: mean - half, high: mean + half, pairs }
}
