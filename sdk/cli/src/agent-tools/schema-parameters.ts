/**
 * JSON schemas of arguments as parameters that a policy can choose: words, numbers within bounds, ids of records that it has been
 * shown. What does not fit is left to a language model, with the reason for each field.
 */
import { identifier } from './identifiers.ts'

export type PlannedParameter =
  | { name: string; field: string; kind: 'choice'; values: string[] }
  | { name: string; field: string; kind: 'number'; low: number; high: number; integer: boolean }
  /** `entity`: what the id belongs to, such as `order`. */
  | { name: string; field: string; kind: 'pointer'; entity: string }

export type MappedSchema = {
  parameters: PlannedParameter[]
  /** Fields that the policy does not choose: a language model writes them. */
  written: FieldNote[]
  /** Fields that it chooses in another form than the schema's. */
  changed: FieldNote[]
}
export type FieldNote = { field: string; why: string }

/** A tool has at most this many arguments; the rest is left to a language model. */
const MAX_PARAMETERS = 32
const MAX_WORDS = 256
const MAX_WORD_LENGTH = 200
const MAX_DEPTH = 4
/** Of the bounds of a number, either way. */
const MOST = 1e9

type Schema = { readonly [key: string]: unknown }
type Reading = { root: Schema; tool: string; mapped: MappedSchema; names: Set<string> }

/** Maps the schema of one tool's arguments. Never throws: what is no schema is a note. */
export function mapSchema(schema: unknown, tool: string): MappedSchema {
  const mapped: MappedSchema = { parameters: [], written: [], changed: [] }
  if (schema === null || schema === undefined) return mapped
  if (!isSchema(schema)) {
    mapped.written.push({ field: '(all)', why: 'the schema is not an object' })
    return mapped
  }
  const reading: Reading = { root: schema, tool, mapped, names: new Set() }
  const resolved = resolve(schema, reading)
  if (typeof resolved === 'string') mapped.written.push({ field: '(all)', why: resolved })
  else readObject(resolved, '', reading, 0)
  return mapped
}

function readObject(schema: Schema, prefix: string, reading: Reading, depth: number): void {
  const { properties, additionalProperties, patternProperties } = schema
  if (isSchema(properties)) {
    for (const [name, property] of Object.entries(properties)) readField(property, `${prefix}${name}`, reading, depth)
  }
  const open = isSchema(additionalProperties) || patternProperties !== undefined
  if (open) reading.mapped.written.push({ field: `${prefix}*`, why: 'the names of the fields are not fixed' })
}

function readField(given: unknown, field: string, reading: Reading, depth: number): void {
  const { parameters, written } = reading.mapped
  if (parameters.length + written.length > MAX_PARAMETERS) return
  if (parameters.length + written.length === MAX_PARAMETERS) {
    written.push({ field: '…', why: `a tool has at most ${MAX_PARAMETERS} arguments here` })
    return
  }
  const why = mapField(given, field, reading, depth)
  if (why !== null) written.push({ field, why })
}

/** Maps one field. Why it is left to a language model, if it is; null if it was mapped. */
function mapField(given: unknown, field: string, reading: Reading, depth: number): string | null {
  if (!isSchema(given)) return 'any value is allowed'
  const schema = resolve(given, reading)
  if (typeof schema === 'string') return schema
  if (schema.const !== undefined) return `always ${shown(schema.const)}`
  if (Array.isArray(schema.enum)) return mapEnum(schema.enum, field, reading)
  switch (schema.type) {
    case 'boolean':
      add(reading, field, { kind: 'choice', values: ['true', 'false'] })
      change(reading, field, 'true and false are words here')
      return null
    case 'integer':
    case 'number':
      return mapNumber(schema, field, reading)
    case 'string':
      return mapString(schema, field, reading)
    case 'array':
      return mapArray(schema, field, reading, depth)
    case 'object':
      if (!isSchema(schema.properties)) return 'the names of its fields are not fixed'
      if (depth >= MAX_DEPTH) return `objects are nested deeper than ${MAX_DEPTH}`
      readObject(schema, `${field}.`, reading, depth + 1)
      return null
    default:
      return schema.type === undefined ? 'the schema names no type' : `the type is ${shown(schema.type)}`
  }
}

function mapEnum(values: readonly unknown[], field: string, reading: Reading): string | null {
  const present = values.filter((value) => value !== null)
  const words = [
    ...new Set(present.map((value) => (typeof value === 'string' ? value : String(JSON.stringify(value))))),
  ]
  if (words.length === 0) return 'the enum is empty'
  if (words.length > MAX_WORDS) return `the enum has ${words.length} values, more than ${MAX_WORDS}`
  if (words.some((word) => word === '' || word.length > MAX_WORD_LENGTH))
    return `a value of the enum is empty or longer than ${MAX_WORD_LENGTH} characters`
  add(reading, field, { kind: 'choice', values: words })
  if (present.some((value) => typeof value !== 'string')) change(reading, field, 'values of the enum are words here')
  if (present.length < values.length) change(reading, field, 'null is not chosen')
  return null
}

function mapNumber(schema: Schema, field: string, reading: Reading): string | null {
  const integer = schema.type === 'integer' || isWhole(schema.multipleOf)
  const low = bound(schema.minimum, schema.exclusiveMinimum, integer, 1)
  const high = bound(schema.maximum, schema.exclusiveMaximum, integer, -1)
  if (low === null || high === null) {
    const missing = low === null ? (high === null ? 'minimum and maximum' : 'a minimum') : 'a maximum'
    return `the schema has no bounds: add ${missing}, within ±1e9`
  }
  if (!(low < high)) return `the bounds ${low} and ${high} leave no range`
  add(reading, field, { kind: 'number', low, high, integer })
  const step = schema.multipleOf
  if (typeof step === 'number' && step !== 1) change(reading, field, `any number, not only multiples of ${step}`)
  return null
}

/** A bound that float32 has; null where there is none. `inward`: 1 for a minimum, -1 for a maximum. */
function bound(inclusive: unknown, exclusive: unknown, integer: boolean, inward: 1 | -1): number | null {
  const strict = typeof exclusive === 'number' ? exclusive : exclusive === true ? inclusive : undefined
  const value = typeof strict === 'number' ? strict : inclusive
  if (typeof value !== 'number' || !Number.isFinite(value) || Math.abs(value) > MOST) return null
  if (!integer) return value
  const whole = inward === 1 ? Math.ceil(value) : Math.floor(value)
  return strict === undefined || whole !== value ? whole : whole + inward
}

function mapString(schema: Schema, field: string, reading: Reading): string | null {
  const entity = entityOf(field, schema, reading.tool)
  if (entity === null) {
    const { format, pattern } = schema
    if (typeof format === 'string') return `text of the format ${format.slice(0, 40)}`
    return pattern === undefined ? 'free text' : 'text of a pattern'
  }
  add(reading, field, { kind: 'pointer', entity })
  return null
}

function mapArray({ items }: Schema, field: string, reading: Reading, depth: number): string | null {
  if (!isSchema(items)) return 'a list of any values'
  const schema = resolve(items, reading)
  if (typeof schema === 'string') return `a list whose items cannot be read: ${schema}`
  if (schema.type === 'object' || schema.type === 'array') return `a list of ${schema.type}s`
  // `order_ids` is a list of what `order_id` is.
  const why = mapField(schema, field, reading, depth + 1)
  if (why !== null) return `a list of: ${why}`
  change(reading, field, 'a list of one item')
  return null
}

/** What an id belongs to: `order_id`, `orderId` and `order_ids` to `order`; `id` to the last word of the tool's name. */
function entityOf(field: string, { format }: Schema, tool: string): string | null {
  const words = wordsOf(field.split('.').at(-1) ?? field)
  const last = words.at(-1)
  if (last !== 'id' && last !== 'ids' && last !== 'uuid' && format !== 'uuid') return null
  const entity = format === 'uuid' && last !== 'id' && last !== 'ids' && last !== 'uuid' ? last : words.at(-2)
  const found = entity ?? singular(wordsOf(tool).at(-1) ?? 'record')
  return identifier(singular(found ?? 'record'), 'record').toLowerCase()
}

/** Lower-case words of a name: `getOrderByID`, `get_order-by.id` → get, order, by, id. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

export function singular(word: string): string {
  if (/(ss|us|is)$/.test(word)) return word
  return word
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x)es$/, '$1')
    .replace(/s$/, '')
}

/** Follows `$ref` within the schema, and takes the one branch of an `anyOf` beside null. A sentence if it cannot. */
function resolve(schema: Schema, { root }: Reading): Schema | string {
  let current = schema
  for (let hops = 0; hops < 16; hops += 1) {
    if (typeof current.$ref === 'string') {
      const target = lookUp(root, current.$ref)
      if (target === null) return `the reference ${current.$ref.slice(0, 80)} leads nowhere in this schema`
      current = target
      continue
    }
    const branches = current.anyOf ?? current.oneOf ?? current.allOf
    if (Array.isArray(branches) && current.type === undefined && current.enum === undefined) {
      const real = branches.filter((branch) => isSchema(branch) && branch.type !== 'null')
      if (real.every((branch) => branch.const !== undefined) && real.length > 1 && current.allOf === undefined)
        return { enum: real.map((branch) => branch.const) }
      if (real.length !== 1) return `the schema has ${real.length} alternatives`
      current = real[0]
      continue
    }
    if (Array.isArray(current.type)) {
      const types = current.type.filter((type) => type !== 'null')
      if (types.length !== 1) return `the schema has ${types.length} types`
      return { ...current, type: types[0] }
    }
    return current
  }
  return 'the schema refers to itself'
}

function lookUp(root: Schema, reference: string): Schema | null {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return null
  let found: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isSchema(found) || !Object.hasOwn(found, key)) return null
    found = found[key]
  }
  return isSchema(found) ? found : null
}

type Omitted<P> = P extends unknown ? Omit<P, 'name' | 'field'> : never

function add({ mapped, names }: Reading, field: string, parameter: Omitted<PlannedParameter>): void {
  const name = identifier(field.replaceAll('.', '_'), 'argument', names)
  names.add(name)
  mapped.parameters.push({ name, field, ...parameter } as PlannedParameter)
}

function change({ mapped }: Reading, field: string, why: string): void {
  mapped.changed.push({ field, why })
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isWhole(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value)
}

function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 80)
}
