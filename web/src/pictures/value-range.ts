/** An axis for these values. Room above and below; a level line lies in the middle. What is too large to be added up is cut. */
export function valueRange(values: readonly number[]): [low: number, high: number] {
  if (values.length === 0) return [0, 1]
  const bounded = values.map((value) => Math.min(1e300, Math.max(-1e300, value)))
  const [low, high] = [Math.min(...bounded), Math.max(...bounded)]
  const room = low === high ? Math.max(1, Math.abs(low) * 0.1) : (high - low) * 0.05
  return [low - room, high + room]
}
