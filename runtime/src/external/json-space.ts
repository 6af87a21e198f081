import type { SpaceDescription } from '@agentgym/contract'

/** The parts of a JSON schema that say what a value may be; everything else is ignored. */
export type JsonSchema = {
  type?: string | string[]
  title?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  minimum?: number
  maximum?: number
  items?: JsonSchema
  minItems?: number
  maxItems?: number
  properties?: Record<string, JsonSchema>
  required?: string[]
  anyOf?: JsonSchema[]
  allOf?: JsonSchema[]
  $ref?: string
  $defs?: Record<string, JsonSchema>
}

/** Larger ranges of integers are numbers, not choices. */
const MAX_CHOICES = 4096
/** Of a text, whatever its length. */
export const TEXT = { type: 'text', maxTokens: 64, vocabulary: 4096 } as const

/** The schema behind local references and `X | null`. */
export function resolved(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema {
  if (depth > 16) return {}
  const name = /^#\/\$defs\/(.+)$/.exec(schema.$ref ?? '')?.[1]
  if (name !== undefined) return resolved({ ...root.$defs?.[name] }, root, depth + 1)
  const [only, ...others] = (schema.anyOf ?? schema.allOf ?? []).filter(({ type }) => type !== 'null')
  if (only !== undefined && others.length === 0) return { ...resolved(only, root, depth + 1), default: schema.default }
  return schema
}

/**
 * The space of a value that is chosen: enumerations, booleans and small ranges of integers are choices, bounded numbers
 * boxes. A string is what is wrong with it, as the end of a sentence.
 */
export function choiceSpace(schema: JsonSchema): SpaceDescription | string {
  const { enum: values, minimum, maximum, items, minItems, maxItems } = schema
  if (values !== undefined && values.length > 0) return choices(values)
  switch (typeOf(schema)) {
    case 'boolean':
      return choices([false, true])
    case 'integer':
      if (minimum === undefined || maximum === undefined) return 'is an integer without minimum and maximum'
      if (maximum - minimum + 1 <= MAX_CHOICES) return { type: 'discrete', n: maximum - minimum + 1, start: minimum }
      return { type: 'box', shape: [], low: [minimum], high: [maximum], integer: true }
    case 'number':
      return { type: 'box', shape: [], low: [minimum ?? null], high: [maximum ?? null] }
    case 'array': {
      const fixed = minItems !== undefined && minItems === maxItems && minItems > 0 && minItems <= MAX_CHOICES
      if (!fixed || items === undefined || !['number', 'integer'].includes(typeOf(items) ?? '')) {
        return 'is a list that is not of a fixed number of numbers'
      }
      const bounds = (bound: number | undefined) => new Array(minItems).fill(bound ?? null)
      return { type: 'box', shape: [minItems], low: bounds(items.minimum), high: bounds(items.maximum) }
    }
    case 'string':
      return 'is free text, which a policy cannot write'
    default:
      return `is of a kind that a policy cannot choose (${typeOf(schema) ?? 'without type'})`
  }
}

function choices(values: readonly unknown[]): SpaceDescription {
  return { type: 'discrete', n: values.length, start: 0, labels: values.map(String) }
}

/**
 * The space of a value that is observed, by its schema and a value that was. Null where it is no numbers, choice or text.
 */
export function observedSpace(schema: JsonSchema, value: unknown): SpaceDescription | null {
  const type = typeOf(schema)
  if (schema.enum !== undefined && schema.enum.length > 1) return choices(schema.enum)
  if (type === 'boolean') return choices([false, true])
  if (type === 'string' || typeof value === 'string') return TEXT
  if (type === 'number' || type === 'integer' || typeof value === 'number') return unbounded([1])
  const shape = shapeOf(value)
  return shape === null ? null : unbounded(shape)
}

function unbounded(shape: number[]): SpaceDescription {
  const open = new Array(shape.reduce((product, length) => product * length, 1)).fill(null)
  return { type: 'box', shape, low: open, high: open }
}

/** Of nested lists of numbers, all of one length in each depth; null for anything else. */
function shapeOf(value: unknown): number[] | null {
  if (typeof value === 'number') return []
  if (!Array.isArray(value) || value.length === 0) return null
  const shapes = value.map(shapeOf)
  const [first] = shapes
  if (first === null || shapes.some((shape) => String(shape) !== String(first))) return null
  return [value.length, ...first]
}

function typeOf({ type }: JsonSchema): string | undefined {
  return Array.isArray(type) ? type.find((name) => name !== 'null') : type
}
