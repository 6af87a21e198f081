import type { Symbols } from './terminal.ts'

/**
 * The values as a row of `width` block characters, scaled between the least and the greatest. More values than
 * columns: each column shows the mean of its share. Nulls are left out.
 */
export function sparkline(values: readonly (number | null)[], width: number, symbols: Symbols): string {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value))
  if (known.length === 0 || width <= 0) return ''
  const columns = resample(known, Math.min(width, known.length))
  const low = Math.min(...columns)
  const high = Math.max(...columns)
  const top = symbols.spark.length - 1
  return columns
    .map(
      (value) => symbols.spark[high === low ? Math.floor(top / 2) : Math.round(((value - low) / (high - low)) * top)],
    )
    .join('')
}

/** Means over `count` equal shares of the values; `count` is at most the number of values. */
function resample(values: readonly number[], count: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    const from = Math.floor((index * values.length) / count)
    const to = Math.max(from + 1, Math.floor(((index + 1) * values.length) / count))
    let sum = 0
    for (let at = from; at < to; at++) sum += values[at]
    return sum / (to - from)
  })
}
