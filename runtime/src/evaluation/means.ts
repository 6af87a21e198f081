/** Null, never NaN, for no values. */
export function mean(values: number[]): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length
}

/** Mean of each metric over the episodes that reported it, names in order of first appearance. */
export function metricMeans(episodes: Record<string, number>[]): Record<string, number> {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const metrics of episodes) {
    for (const [name, value] of Object.entries(metrics)) {
      const entry = sums.get(name) ?? { sum: 0, count: 0 }
      entry.sum += value
      entry.count += 1
      sums.set(name, entry)
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, count }]) => [name, sum / count]))
}
