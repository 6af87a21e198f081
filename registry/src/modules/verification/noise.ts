/* Confidence intervals and tests for mean returns, by Student's t. */

/** The result of one agent on the episodes of one season. `returns`: of each episode, in order; null in older results. */
export type Measure = { mean: number; std: number | null; episodes: number; returns: readonly number[] | null }

/** Family-wise error rate over all attempts of an account. */
export const significance = 0.05

/**
 * The share of the k-th attempt: significance / (k (k + 1)). The shares of any number of attempts sum to at most
 * `significance`.
 */
export function significanceOfAttempt(k: number): number {
  return significance / (k * (k + 1))
}

/** The mean's two-sided 95% confidence interval; null without a deviation. */
export function confidenceInterval({ mean, std, episodes, returns }: Measure): { low: number; high: number } | null {
  const deviation = returns === null ? std : deviationOf(returns)
  if (deviation === null || episodes < 2) return null
  const margin = (quantileOfT(0.975, episodes - 1) * deviation) / Math.sqrt(episodes)
  return { low: mean - margin, high: mean + margin }
}

/**
 * Whether `a` is better than `b` at the one-sided significance level `alpha`. A paired test of the episodes' returns if
 * both have them, otherwise a test by means and deviations.
 */
export function isBetter(a: Measure, b: Measure, alpha: number): boolean {
  if (a.returns !== null && b.returns !== null && a.returns.length === b.returns.length) {
    const others = b.returns
    const differences = a.returns.map((value, episode) => value - others[episode])
    return exceeds(
      meanOf(differences),
      deviationOf(differences) ** 2 / differences.length,
      differences.length - 1,
      alpha,
    )
  }
  if (a.std === null || b.std === null) return false
  const variance = a.std ** 2 / a.episodes + b.std ** 2 / b.episodes
  return exceeds(a.mean - b.mean, variance, Math.min(a.episodes, b.episodes) - 1, alpha)
}

function exceeds(difference: number, variance: number, freedom: number, alpha: number): boolean {
  return freedom >= 1 && difference > 0 && difference > quantileOfT(1 - alpha, freedom) * Math.sqrt(variance)
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Sample standard deviation; 0 for one value. */
export function deviationOf(values: readonly number[]): number {
  if (values.length < 2) return 0
  const mean = meanOf(values)
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1))
}

/** Student's t: the normal quantile with its expansion in 1 / degrees of freedom (Abramowitz and Stegun, 26.7.5). */
export function quantileOfT(p: number, freedom: number): number {
  const z = quantileOfNormal(p)
  const terms = [
    z,
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92_160,
  ]
  return terms.reduce((sum, term, power) => sum + term / freedom ** power, 0)
}

/** Acklam's rational approximation, with a relative error below 1.2e-9. */
export function quantileOfNormal(p: number): number {
  if (p < 0.02425) return tail(Math.sqrt(-2 * Math.log(p)))
  if (p > 1 - 0.02425) return -tail(Math.sqrt(-2 * Math.log1p(-p)))
  const q = p - 0.5
  return (q * polynomial(centralOver, q * q)) / polynomial(centralUnder, q * q)
}

function tail(q: number): number {
  return polynomial(tailOver, q) / polynomial(tailUnder, q)
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0)
}

const centralOver = [
  -3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1,
  2.506628277459239,
]
const centralUnder = [
  -5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1, 1,
]
const tailOver = [
  -7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
]
const tailUnder = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1]
