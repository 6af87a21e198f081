const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 })
const oneDecimal = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** `1234567` → `1,234,567`. */
export function formatCount(count: number): string {
  return grouped.format(count)
}

/** A return, loss or metric in about four significant digits: `475`, `312.4`, `0.0213`, `1.2e-7`; null is a dash. */
export function formatValue(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '-'
  const size = Math.abs(value)
  if (size >= 1e7) return value.toExponential(2)
  if (size === 0) return '0'
  if (Number.isInteger(value)) return grouped.format(value)
  if (size >= 100) return oneDecimal.format(value)
  if (size >= 1) return value.toFixed(2)
  if (size >= 0.001) return value.toFixed(4)
  return value.toExponential(1)
}

/** A target as its author wrote it: `475`, `0.95`. */
export function formatTarget(value: number): string {
  return exact.format(value)
}

/** `0.4 s`, `12 s`, `3 min 05 s`, `2 h 14 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

/** `812 B`, `3.4 kB`, `1.2 MB` (powers of ten, as npm counts). */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`
  return `${(bytes / 1e6).toFixed(1)} MB`
}

const units: [string, number][] = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
]

/** How long ago a moment was, in its largest unit: `12 s`, `3 min`, `5 h`, `40 d`. `nowMs` is milliseconds since 1970. */
export function formatAge(moment: string, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(moment)) / 1000))
  const [unit, size] = units.find(([, least]) => seconds >= least) ?? ['s', 1]
  return `${Math.floor(seconds / size)} ${unit}`
}
