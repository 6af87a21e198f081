import { closest, distance } from 'fastest-levenshtein'

/** The name that a mistyped word most likely meant; undefined when none is near. */
export function closestName(word: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined
  const nearest = closest(word, names)
  return distance(word, nearest) <= Math.max(2, Math.floor(nearest.length * 0.4)) ? nearest : undefined
}
