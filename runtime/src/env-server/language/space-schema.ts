import type { SpaceDescription } from '@agentgym/contract'

/** A JSON Schema (Draft 2020-12), or a part of one. */
export type JsonSchema = { [keyword: string]: unknown }

/** The schema of a sample of an observation space, in the form that `observe` returns it, with bounds. */
export function sampleSchema(space: SpaceDescription): JsonSchema {
  switch (space.type) {
    case 'box': {
      const size = space.low.length
      const items = numberSchema(sharedBound(space.low), sharedBound(space.high))
      return { type: 'array', items, minItems: size, maxItems: size }
    }
    case 'discrete':
      return { type: 'integer', minimum: space.start, maximum: space.start + space.n - 1 }
    case 'multiDiscrete':
      return countsSchema(space.nvec)
    case 'text':
      return { type: 'string' }
    case 'list': {
      const features = { type: 'array', items: { type: 'number' }, minItems: space.features, maxItems: space.features }
      const item = { type: 'object', properties: { id: { type: 'string' }, features }, required: ['id', 'features'] }
      return { type: 'array', items: item, maxItems: space.slots }
    }
    case 'dict':
      return objectSchema(space.entries.map(({ name, space: inner }) => [name, sampleSchema(inner)]))
  }
}

/** The schema of an action: words where its choices have them, ids of the observation's items where it points. */
export function actionSchema(space: SpaceDescription): JsonSchema {
  switch (space.type) {
    case 'discrete':
      if (space.list !== undefined)
        return { type: 'string', description: `The id of an item in "${space.list}" of the observation.` }
      if (space.labels !== undefined) return { type: 'string', enum: space.labels }
      return { type: 'integer', minimum: space.start, maximum: space.start + space.n - 1 }
    case 'box': {
      const scalar = numberSchema(space.low[0] ?? null, space.high[0] ?? null)
      if (space.shape.length === 0) return space.integer === true ? { ...scalar, type: 'integer' } : scalar
      const prefixItems = space.low.map((low, i) => numberSchema(low, space.high[i] ?? null))
      return { type: 'array', prefixItems, items: false, minItems: prefixItems.length }
    }
    case 'multiDiscrete':
      return countsSchema(space.nvec)
    case 'dict':
      return objectSchema(space.entries.map(({ name, space: inner }) => [name, actionSchema(inner)]))
    default:
      return {}
  }
}

function countsSchema(nvec: readonly number[]): JsonSchema {
  const prefixItems = nvec.map((count) => ({ type: 'integer', minimum: 0, maximum: count - 1 }))
  return { type: 'array', prefixItems, items: false, minItems: nvec.length }
}

/** The bound that all elements of a box have; null where they differ. */
function sharedBound(bounds: readonly (number | null)[]): number | null {
  return bounds.every((bound) => bound === bounds[0]) ? (bounds[0] ?? null) : null
}

function numberSchema(low: number | null, high: number | null): JsonSchema {
  return {
    type: 'number',
    ...(low === null ? {} : { minimum: low }),
    ...(high === null ? {} : { maximum: high }),
  }
}

/** All properties are required and there are no others. */
export function objectSchema(properties: readonly (readonly [name: string, schema: JsonSchema])[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  }
}
