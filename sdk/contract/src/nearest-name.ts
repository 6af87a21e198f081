/**
 * The known name that a mistyped one most likely meant ("Did you mean …?"); undefined when none is close. Case does not
 * count, nor `-` against `_`. Close is at most two edits in five characters; swapping two neighbours is one edit.
 */
export function nearestName<Name extends string>(typed: string, known: readonly Name[]): Name | undefined {
  const word = normalized(typed)
  let nearest: Name | undefined
  let least = Number.POSITIVE_INFINITY
  for (const name of known) {
    const other = normalized(name)
    const edits = editDistance(word, other)
    const allowed = Math.max(1, Math.floor(0.4 * Math.max(word.length, other.length)))
    // One edit in a single character is another character.
    if (edits > allowed || edits >= Math.max(word.length, other.length) || edits >= least) continue
    nearest = name
    least = edits
  }
  return nearest
}

function normalized(name: string): string {
  // Longer than any name: what is compared stays small.
  return name.slice(0, 200).toLowerCase().replaceAll('_', '-')
}

/**
 * Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours, no part edited twice.
 * https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance#Optimal_string_alignment_distance
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const substitution = last[column - 1] + (a[row - 1] === b[column - 1] ? 0 : 1)
      current[column] = Math.min(last[column] + 1, current[column - 1] + 1, substitution)
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) current[column] = Math.min(current[column], beforeLast[column - 2] + 1)
    }
    beforeLast = last
    last = current
  }
  return last[b.length]
}
