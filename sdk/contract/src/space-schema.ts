import type { SpaceDescription } from './space-description.ts'

/** A JSON Schema, Draft 2020-12. */
export type JsonSchema = { [keyword: string]: unknown }

/** Ids of a list's items have at most so many characters, as the engine takes them. */
const longestId = 200

/** JSON Schema of an observation in the form that the scenario's `observe` returns. */
export function observationSchema(space: SpaceDescription): JsonSchema {
  switch (space.type) {
    case 'box':
      return numbersOf(space.shape, { type: 'number', ...boundsOf(space) })
    case 'discrete':
      return { type: 'integer', minimum: space.start, maximum: space.start + space.n - 1, ...wordsFor(space) }
    case 'multiDiscrete':
      return listOf(space.nvec.length, { type: 'integer', minimum: 0, maximum: Math.max(...space.nvec) - 1 })
    case 'text':
      return { type: 'string' }
    case 'list': {
      const features = listOf(space.features, { type: 'number' })
      const id = { type: 'string', minLength: 1, maxLength: longestId }
      return { type: 'array', maxItems: space.slots, items: objectOf({ id, features }) }
    }
    case 'dict':
      return objectOf(
        Object.fromEntries(space.entries.map(({ name, space: inner }) => [name, observationSchema(inner)])),
      )
  }
}

/** JSON Schema of an action mask, as the scenario's `actionMask` returns it; undefined for actions without choices. */
export function maskSchema(action: SpaceDescription): JsonSchema | undefined {
  const boolean = { type: 'boolean' }
  switch (action.type) {
    case 'discrete':
      return listOf(action.n, boolean)
    case 'multiDiscrete':
      return listOf(action.nvec.length, { type: 'array', items: boolean })
    case 'dict': {
      const parts = action.entries.flatMap(({ name, space }) => {
        const inner = maskSchema(space)
        return inner === undefined ? [] : [[name, inner] as const]
      })
      return parts.length === 0 ? undefined : objectOf(Object.fromEntries(parts))
    }
    default:
      return undefined
  }
}

function objectOf(properties: { [name: string]: JsonSchema }): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties) }
}

function listOf(length: number, items: JsonSchema): JsonSchema {
  return { type: 'array', items, minItems: length, maxItems: length }
}

/** One list of all numbers or, of several axes, lists in lists as well. */
function numbersOf(shape: readonly number[], number: JsonSchema): JsonSchema {
  const flat = listOf(
    shape.reduce((product, size) => product * size, 1),
    number,
  )
  if (shape.length < 2) return flat
  return { anyOf: [shape.reduceRight((items, size) => listOf(size, items), number), flat] }
}

/** Bounds that all numbers of a box share. */
function boundsOf({ low, high }: Extract<SpaceDescription, { type: 'box' }>): JsonSchema {
  const bounds: JsonSchema = {}
  if (low[0] !== null && low.every((bound) => bound === low[0])) bounds.minimum = low[0]
  if (high[0] !== null && high.every((bound) => bound === high[0])) bounds.maximum = high[0]
  return bounds
}

function wordsFor({ labels, start }: Extract<SpaceDescription, { type: 'discrete' }>): JsonSchema {
  if (labels === undefined) return {}
  return { description: labels.map((word, i) => `${start + i}: ${word}`).join(', ') }
}
