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
