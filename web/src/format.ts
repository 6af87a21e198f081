/** `42 s`, `3 min 10 s`, `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return joined(Math.floor(whole / 60), 'min', whole % 60, 's')
  if (whole < 360_000) return joined(Math.floor(whole / 3_600), 'h', Math.floor((whole % 3_600) / 60), 'min')
  return `${Math.round(whole / 86_400)} days`
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}

const units = ['bytes', 'kB', 'MB', 'GB']

/** `948 bytes`, `12.4 kB`: a thousand of each is one of the next. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toPrecision(3)} ${units[power]}`
}

/** `840 ms`, `6.0 s`. */
export function formatLatency(ms: number): string {
  return ms < 1_000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** `1 person`, `1,204 people`. `many` is only given where it is not `one` with an s. */
export function formatCount(value: number, one: string, many = `${one}s`): string {
  return `${value.toLocaleString('en')} ${value === 1 ? one : many}`
}

/** An error's message, with a hint behind it. Messages end with a period or, in a terminal's way, without. */
export function withHint({ message, hint }: { message: string | null; hint?: string | null | undefined }): string {
  if (message === null) return hint ?? ''
  return hint ? `${message.replace(/[.:]$/, '')}. ${hint}` : message
}
