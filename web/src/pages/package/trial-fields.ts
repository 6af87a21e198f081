import type { SampleEpisode, SpaceLeaf } from '@agentgym/contract'
import { type FormValues, invalidField } from '../../app/form.ts'

/** Maximum number of separate fields; larger observations are entered as JSON. */
const mostFields = 24
/** Maximum number of options in a list; beyond it, the number is typed. */
const mostOptions = 256
const jsonField = 'observation'

/** A field of the observation form. */
export type TrialField = {
  name: string
  label: string
  /** Of the example. */
  value: string
  kind: 'number' | 'choice' | 'text' | 'json'
  /** Bounds of a number; null for none. */
  low?: number | null
  high?: number | null
  options?: { value: string; label: string }[]
}

/** As returned by the scenario's `observe`, in JSON. */
export type Observation = null | number | string | Observation[] | { [key: string]: Observation }
/** A leaf of the observation with its value. */
type Filled = { leaf: SpaceLeaf; numbers: number[]; text: string }

/** The fields, filled with the first observation of the scenario's sample episode, or zeros. */
export function trialFields(leaves: readonly SpaceLeaf[], episode: SampleEpisode | null): TrialField[] {
  const filled = exampleOf(leaves, episode)
  const size = leaves.reduce((sum, leaf) => sum + sizeOf(leaf), 0)
  if (size === 0 || size > mostFields || leaves.some(({ kind }) => kind === 'list'))
    return [
      {
        name: jsonField,
        label: 'Observation (JSON)',
        value: JSON.stringify(exampleObservation(leaves, episode)),
        kind: 'json',
      },
    ]
  const columns = columnNames(episode)
  let column = 0
  return filled.flatMap(({ leaf, numbers, text }, at) => {
    if (leaf.kind === 'text') return [{ name: fieldName(at), label: pathOf(leaf), value: text, kind: 'text' as const }]
    return numbers.map((number, element): TrialField => {
      const own = sizeOf(leaf) === 1 ? pathOf(leaf) : `${pathOf(leaf)}[${element}]`
      const shared = { name: fieldName(at, element), label: columns[column++] ?? own, value: String(number) }
      if (leaf.kind === 'box')
        return { ...shared, kind: 'number', low: leaf.low?.[element] ?? null, high: leaf.high?.[element] ?? null }
      const count = leaf.counts[element] ?? 1
      if (count > mostOptions) return { ...shared, kind: 'number', low: leaf.start, high: leaf.start + count - 1 }
      const options = Array.from({ length: count }, (_, index) => {
        const value = String(leaf.start + index)
        return { value, label: leaf.labels?.[index] ?? value }
      })
      return { ...shared, kind: 'choice', options }
    })
  })
}

/** The first observation of the scenario's sample episode, or zeros. */
export function exampleObservation(leaves: readonly SpaceLeaf[], episode: SampleEpisode | null): Observation {
  return nested(exampleOf(leaves, episode))
}

/** Parses the observation in the form. Throws `request_invalid` with the invalid field. */
export function trialObservation(
  leaves: readonly SpaceLeaf[],
  fields: readonly TrialField[],
  form: FormValues,
): Observation {
  if (fields.some(({ kind }) => kind === 'json')) return jsonIn(form, jsonField)
  const filled = leaves.map((leaf, at): Filled => {
    if (leaf.kind === 'text') return { leaf, numbers: [], text: form.get(fieldName(at)) }
    const numbers = Array.from({ length: sizeOf(leaf) }, (_, element) => numberIn(form, fieldName(at, element)))
    return { leaf, numbers, text: '' }
  })
  return nested(filled)
}

/** Parses JSON in a field. Throws `request_invalid` with the field. */
export function jsonIn(form: FormValues, field: string): Observation {
  try {
    return JSON.parse(form.get(field))
  } catch (error) {
    throw invalidField(field, `invalid JSON: ${error instanceof Error ? error.message : ''}`)
  }
}

function numberIn(form: FormValues, field: string): number {
  const text = form.get(field).trim()
  const number = Number(text)
  if (text === '' || !Number.isFinite(number)) throw invalidField(field, 'enter a number')
  return number
}

function exampleOf(leaves: readonly SpaceLeaf[], episode: SampleEpisode | null): Filled[] {
  const { observation = [], texts = [] } = episode?.steps[0] ?? {}
  let number = 0
  let text = 0
  return leaves.map((leaf) => {
    if (leaf.kind === 'text') return { leaf, numbers: [], text: texts[text++] ?? '' }
    const numbers = Array.from({ length: sizeOf(leaf) }, (_, element) => {
      const seen = observation[number++] ?? 0
      // The example is rounded to five digits, so values rounded past a bound are clamped.
      const [low, high] = [leaf.low?.[element] ?? -Infinity, leaf.high?.[element] ?? Infinity]
      if (leaf.kind === 'list') return seen
      return leaf.kind === 'box' ? Math.min(high, Math.max(low, seen)) : leaf.start + seen
    })
    return { leaf, numbers, text: '' }
  })
}

/** Column names of the example, if the scenario defines them. */
function columnNames(episode: SampleEpisode | null): (string | undefined)[] {
  const view = episode?.view ?? null
  if (view?.kind === 'lines') return view.labels ?? []
  if (view?.kind === 'transcript') return view.facts ?? []
  const names: (string | undefined)[] = []
  if (view?.kind === 'cart') {
    names[view.position] = 'position'
    if (view.angle !== undefined) names[view.angle] = 'angle'
  }
  return names
}

/** The observation as returned by the scenario's `observe`: nested dicts, flat boxes. */
function nested(filled: readonly Filled[], depth = 0): Observation {
  const [first] = filled
  if (first === undefined) return null
  if (first.leaf.path.length === depth) return sampleOf(first)
  const keys = new Map<string, Filled[]>()
  for (const one of filled) {
    const key = one.leaf.path[depth]
    keys.set(key, [...(keys.get(key) ?? []), one])
  }
  return Object.fromEntries([...keys].map(([key, inner]) => [key, nested(inner, depth + 1)]))
}

function sampleOf({ leaf, numbers, text }: Filled): Observation {
  if (leaf.kind === 'text') return text
  if (leaf.kind === 'list') return itemsOf(leaf, numbers)
  return leaf.kind === 'discrete' ? numbers[0] : numbers
}

/** The filled slots of a list; an example keeps no ids. */
function itemsOf({ shape: [slots, columns] }: SpaceLeaf, numbers: readonly number[]): Observation[] {
  const rows = Array.from({ length: slots }, (_, slot) => numbers.slice(slot * columns, (slot + 1) * columns))
  const filled = rows.filter(([present]) => present === 1)
  return filled.map(([, ...features], index) => ({ id: `item ${index + 1}`, features }))
}

function sizeOf({ kind, shape }: SpaceLeaf): number {
  return kind === 'box' || kind === 'multiDiscrete' || kind === 'list'
    ? shape.reduce((product, size) => product * size, 1)
    : 1
}

const pathOf = ({ path }: SpaceLeaf) => (path.length === 0 ? 'observation' : path.join('.'))
const fieldName = (leaf: number, element = 0) => `observation-${leaf}-${element}`
