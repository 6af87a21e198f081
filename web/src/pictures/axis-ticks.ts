/** About `count` round numbers from `low` to `high`: 1, 2 or 5 times a power of ten apart. */
export function axisTicks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / Math.max(1, count)
  if (!(rough > 0) || !Number.isFinite(rough)) return [low]
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5].find((multiple) => multiple * power >= rough) ?? 10) * power
  const first = Math.ceil(low / step - 1e-9)
  const last = Math.floor(high / step + 1e-9)
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)))
}
