const units = ['bytes', 'kB', 'MB', 'GB']

/** `948 bytes`, `12.4 kB`: a thousand of each is one of the next. */
export function shownBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toPrecision(3)} ${units[power]}`
}
