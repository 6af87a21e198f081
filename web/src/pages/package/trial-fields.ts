import {
  exampleLeaves,
  exampleObservation,
  type FilledLeaf,
  type JsonObservation,
  leafSize,
  nestedObservation,
  type SampleEpisode,
  type SpaceLeaf,
} from '@agentgym/contract'
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
  /** Of the number, where the scenario names it. */
  unit?: string
  /** Of the example. */
  value: string
  kind: 'number' | 'choice' | 'text' | 'json'
  /** Bounds of a number; null for none. */
  low?: number | null
  high?: number | null
  options?: { value: string; label: string }[]
}

/** The fields, filled with the first observation of the scenario's sample episode, or zeros; `view` names them. */
export function trialFields(
  leaves: readonly SpaceLeaf[],
  episode: SampleEpisode | null,
  view: SampleEpisode['view'] = episode?.view ?? null,
): TrialField[] {
  const filled = exampleLeaves(leaves, episode)
  const size = leaves.reduce((sum, leaf) => sum + leafSize(leaf), 0)
  if (size === 0 || size > mostFields || leaves.some(({ kind }) => kind === 'list'))
    return [
      {
        name: jsonField,
        label: 'Observation (JSON)',
        value: JSON.stringify(exampleObservation(leaves, episode)),
        kind: 'json',
      },
    ]
  const columns = columnNames(view)
  let column = 0
  return filled.flatMap(({ leaf, numbers, text }, at) => {
    if (leaf.kind === 'text') return [{ name: fieldName(at), label: pathOf(leaf), value: text, kind: 'text' as const }]
    return numbers.map((number, element): TrialField => {
      const own = leafSize(leaf) === 1 ? pathOf(leaf) : `${pathOf(leaf)}[${element}]`
      const { label = own, unit } = columns[column++] ?? {}
      const shared = {
        ...{ name: fieldName(at, element), label, value: String(number) },
        ...(unit === undefined ? {} : { unit }),
      }
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

/** Parses the observation in the form. Throws `request_invalid` with the invalid field. */
export function trialObservation(
  leaves: readonly SpaceLeaf[],
  fields: readonly TrialField[],
  form: FormValues,
): JsonObservation {
  if (fields.some(({ kind }) => kind === 'json')) return jsonIn(form, jsonField)
  const filled = leaves.map((leaf, at): FilledLeaf => {
    if (leaf.kind === 'text') return { leaf, numbers: [], text: form.get(fieldName(at)) }
    const numbers = Array.from({ length: leafSize(leaf) }, (_, element) => numberIn(form, fieldName(at, element)))
    return { leaf, numbers, text: '' }
  })
  return nestedObservation(filled)
}

/** Parses JSON in a field. Throws `request_invalid` with the field. */
export function jsonIn(form: FormValues, field: string): JsonObservation {
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

type ColumnName = { label?: string | undefined; unit?: string | undefined }

/** Names and units of the numbers of an observation, where the scenario's view has them. */
function columnNames(view: SampleEpisode['view']): (ColumnName | undefined)[] {
  const names: (ColumnName | undefined)[] = []
  switch (view?.kind) {
    case 'lines':
      for (const label of view.labels ?? []) names.push({ label })
      for (const { at, label, unit } of view.series ?? []) names[at] = { label, unit }
      return names
    case 'transcript':
      return (view.facts ?? []).map((label) => ({ label }))
    case 'cart':
      names[view.position] = { label: 'position' }
      if (view.angle !== undefined) names[view.angle] = { label: 'angle', unit: 'rad' }
      return names
    case 'links':
      for (const [index, { cos, sin }] of view.links.entries()) {
        const rod = view.links.length > 1 ? `rod ${index + 1}` : 'rod'
        names[cos] = { label: `cosine of the ${rod}` }
        names[sin] = { label: `sine of the ${rod}` }
      }
      return names
    default:
      return names
  }
}

const pathOf = ({ path }: SpaceLeaf) => (path.length === 0 ? 'observation' : path.join('.'))
const fieldName = (leaf: number, element = 0) => `observation-${leaf}-${element}`
