/** The standard normal's 97.5th percentile. */
const Z = 1.959964

/** Wilson's 95% interval of a share of `n` (1927), which says something where all, or none, succeeded. */
export function shareInterval(share: number, n: number): [number, number] {
  const spread = Z * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2))
  const [center, scale] = [share + Z ** 2 / (2 * n), 1 + Z ** 2 / n]
  // Without the last bits, in which 1 would miss itself.
  const end = (value: number) => Math.min(1, Math.max(0, Number((value / scale).toFixed(6))))
  return [end(center - spread), end(center + spread)]
}

/** 1.96 standard errors on both sides of a mean; of one value, the value alone. */
export function meanInterval(values: readonly number[]): [number, number] {
  const n = values.length
  const center = values.reduce((sum, value) => sum + value, 0) / n
  const squares = values.reduce((sum, value) => sum + (value - center) ** 2, 0)
  const half = n === 1 ? 0 : Z * Math.sqrt(squares / (n - 1) / n)
  return [center - half, center + half]
}

/** Of at least one value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
