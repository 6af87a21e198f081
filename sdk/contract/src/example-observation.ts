import type { SampleEpisode } from './sample-episode.ts'
import type { SpaceLeaf } from './space-description.ts'

/** As returned by the scenario's `observe`, in JSON. */
export type JsonObservation = null | number | string | JsonObservation[] | { [key: string]: JsonObservation }
/** A leaf of an observation with its value. */
export type FilledLeaf = { leaf: SpaceLeaf; numbers: number[]; text: string }

/** The first observation of the scenario's sample episode, or zeros (a list has one item). */
export function exampleObservation(leaves: readonly SpaceLeaf[], episode: SampleEpisode | null): JsonObservation {
  return nestedObservation(exampleLeaves(leaves, episode))
}

/** Every leaf with its value in that observation. */
export function exampleLeaves(leaves: readonly SpaceLeaf[], episode: SampleEpisode | null): FilledLeaf[] {
  const { observation = [], texts = [] } = episode?.steps[0] ?? {}
  let number = 0
  let text = 0
  return leaves.map((leaf) => {
    if (leaf.kind === 'text') return { leaf, numbers: [], text: texts[text++] ?? '' }
    const numbers = Array.from({ length: leafSize(leaf) }, (_, element) => {
      const seen = observation[number++] ?? 0
      // The example is rounded to five digits, so values rounded past a bound are clamped.
      const [low, high] = [leaf.low?.[element] ?? -Infinity, leaf.high?.[element] ?? Infinity]
      // One item where no episode shows any: a tool that takes one could not be called without.
      if (leaf.kind === 'list') return episode === null && element === 0 ? 1 : seen
      return leaf.kind === 'box' ? Math.min(high, Math.max(low, seen)) : leaf.start + seen
    })
    return { leaf, numbers, text: '' }
  })
}

/** The observation as returned by the scenario's `observe`: nested dicts, flat boxes. */
export function nestedObservation(filled: readonly FilledLeaf[], depth = 0): JsonObservation {
  const [first] = filled
  if (first === undefined) return null
  if (first.leaf.path.length === depth) return sampleOf(first)
  const keys = new Map<string, FilledLeaf[]>()
  for (const one of filled) {
    const key = one.leaf.path[depth]
    keys.set(key, [...(keys.get(key) ?? []), one])
  }
  return Object.fromEntries([...keys].map(([key, inner]) => [key, nestedObservation(inner, depth + 1)]))
}

function sampleOf({ leaf, numbers, text }: FilledLeaf): JsonObservation {
  if (leaf.kind === 'text') return text
  if (leaf.kind === 'list') return itemsOf(leaf, numbers)
  return leaf.kind === 'discrete' ? numbers[0] : numbers
}

/** The filled slots of a list; an example keeps no ids. */
function itemsOf({ shape: [slots, columns] }: SpaceLeaf, numbers: readonly number[]): JsonObservation[] {
  const rows = Array.from({ length: slots }, (_, slot) => numbers.slice(slot * columns, (slot + 1) * columns))
  const filled = rows.filter(([present]) => present === 1)
  return filled.map(([, ...features], index) => ({ id: `item ${index + 1}`, features }))
}

/** Numbers of a leaf. */
export function leafSize({ kind, shape }: SpaceLeaf): number {
  return kind === 'box' || kind === 'multiDiscrete' || kind === 'list'
    ? shape.reduce((product, size) => product * size, 1)
    : 1
}
