/** `42 s`, `3 min 10 s`, `2 h 5 min`. */
export function durationWords(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return joined(Math.floor(whole / 60), 'min', whole % 60, 's')
  if (whole < 360_000) return joined(Math.floor(whole / 3_600), 'h', Math.floor((whole % 3_600) / 60), 'min')
  return `${Math.round(whole / 86_400)} days`
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}
