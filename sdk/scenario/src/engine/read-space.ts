import { definitionError, describeValue } from './faults.ts'
import { append, fround, isArray, isInteger, isNaNumber, nullObject, objectHasOwn, regExpExec } from './primordials.ts'

/** Largest flat row: 4 MiB of float32 an environment. */
const MAX_ROW = 1 << 20
/** Largest number of values of one categorical component; indices stay exact in float32. */
const MAX_CATEGORIES = 1 << 16
const MAX_VOCABULARY = 1 << 20
const MAX_ENTRIES = 256
const MAX_DEPTH = 8
const MAX_LABEL = 200
const MAX_SLOTS = 256
const MAX_FEATURES = 1024

/**
 * Sentence encoders that a text space may name. `dimensions`: numbers that the policy sees. `vocabulary`: word pieces.
 * `mostTokens` are as many as the encoder was trained to read.
 */
export const textEncoders = {
  minilm: { dimensions: 384, vocabulary: 30522, defaultTokens: 128, mostTokens: 256 },
} as const
export type TextEncoderName = keyof typeof textEncoders

/** A word piece of English has 4 to 5 characters: texts that are cut here are cut by their tokens anyway. */
const CHARACTERS_A_TOKEN = 8

/** UTF-16 units of a text that an encoder gets to see. */
export function encodedCharacters(maxTokens: number): number {
  return CHARACTERS_A_TOKEN * maxTokens
}

/** Leaf names are these joined by dots; they name ONNX inputs and tool parameters. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

export function isName(name: unknown): name is string {
  return typeof name === 'string' && regExpExec(NAME, name) !== null
}

/** Index of a label, -1 where it is not there. */
export function indexOf(labels: readonly string[], label: string): number {
  let index = labels.length - 1
  while (index >= 0 && labels[index] !== label) index -= 1
  return index
}

function fail(path: string, what: string): never {
  throw definitionError(`${path}: ${what}`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function readCount(value: unknown, path: string, largest: number): number {
  if (!isInteger(value) || value < 1 || value > largest) {
    fail(path, `must be an integer from 1 to ${largest}, got ${describeValue(value)}`)
  }
  return value
}

function readCounts(value: unknown, path: string, longest: number, largest: number, shortest = 1): number[] {
  if (!isArray(value)) fail(path, `must be an array of positive integers, got ${describeValue(value)}`)
  const length = value.length
  if (!isInteger(length) || length < shortest || length > longest)
    fail(path, `must have 1 to ${longest} entries, has ${length}`)
  const counts: number[] = []
  for (let i = 0; i < length; i += 1) append(counts, readCount(value[i], `${path}[${i}]`, largest))
  return counts
}

/** One bound an element: null or an infinity means none. */
function readBounds(value: unknown, path: string, size: number): (number | null)[] {
  if (!isArray(value)) fail(path, `must be an array of ${size} numbers, got ${describeValue(value)}`)
  if (value.length !== size) fail(path, `must have one number an element, ${size}, has ${value.length}`)
  const bounds: (number | null)[] = []
  for (let i = 0; i < size; i += 1) append(bounds, readBound(value[i], `${path}[${i}]`))
  return bounds
}

function readBound(value: unknown, path: string): number | null {
  if (value === null || value === Infinity || value === -Infinity) return null
  if (typeof value !== 'number' || isNaNumber(value)) fail(path, `must be a number, got ${describeValue(value)}`)
  const rounded = fround(value)
  if (rounded - rounded !== 0) fail(path, `${value} does not fit float32; use Infinity for "no bound"`)
  return value
}

function readBox(space: Record<string, unknown>, path: string): SpaceDescription {
  // Only a tool's number has no dimensions: box() asks for one at least.
  const shape = readCounts(space.shape, `${path}.shape`, 8, MAX_ROW, 0)
  let size = 1
  for (let i = 0; i < shape.length; i += 1) size *= shape[i]
  if (size > MAX_ROW) fail(`${path}.shape`, `has ${size} elements; at most ${MAX_ROW}`)
  const low = readBounds(space.low, `${path}.low`, size)
  const high = readBounds(space.high, `${path}.high`, size)
  for (let i = 0; i < size; i += 1) {
    const bottom = low[i]
    const top = high[i]
    if (bottom !== null && top !== null && bottom > top)
      fail(path, `low[${i}] = ${bottom} lies above high[${i}] = ${top}`)
  }
  const box: BoxDescription = { type: 'box', shape, low, high }
  if (space.channels === 'last') {
    if (shape.length !== 3) fail(`${path}.channels`, 'is for an image of the shape [height, width, channels]')
    box.channels = 'last'
  }
  if (space.integer === true) box.integer = true
  if (space.default !== undefined) {
    if (size !== 1) fail(`${path}.default`, 'is for a single number')
    box.default = readDefault(space.default, path, low[0] ?? -Infinity, high[0] ?? Infinity, space.integer === true)
  }
  return box
}

/** What a tool's parameter is where parameters are not trained. */
function readDefault(value: unknown, path: string, low: number, high: number, integer: boolean): number {
  if (typeof value !== 'number' || !(value >= low && value <= high) || (integer && !isInteger(value))) {
    const kind = integer ? 'an integer' : 'a number'
    fail(`${path}.default`, `must be ${kind} from ${low} to ${high}, got ${describeValue(value)}`)
  }
  return value
}

function readLabels(value: unknown, path: string, n: number): string[] {
  if (!isArray(value)) fail(path, `must be an array of ${n} strings, got ${describeValue(value)}`)
  if (value.length !== n) fail(path, `must have ${n} entries (n), has ${value.length}`)
  const labels: string[] = []
  for (let i = 0; i < n; i += 1) {
    const label = value[i]
    if (typeof label !== 'string' || label.length === 0 || label.length > MAX_LABEL) {
      fail(`${path}[${i}]`, `must be a string of 1 to ${MAX_LABEL} characters, got ${describeValue(label)}`)
    }
    append(labels, label)
  }
  return labels
}

function readDiscrete(space: Record<string, unknown>, path: string): SpaceDescription {
  const n = readCount(space.n, `${path}.n`, MAX_CATEGORIES)
  const start = space.start
  if (!isInteger(start) || start < -1e9 || start > 1e9) {
    fail(`${path}.start`, `must be an integer from -1e9 to 1e9, got ${describeValue(start)}`)
  }
  const { labels, list } = space
  const discrete: DiscreteDescription = { type: 'discrete', n, start }
  if (labels !== undefined) discrete.labels = readLabels(labels, `${path}.labels`, n)
  if (list !== undefined) {
    if (typeof list !== 'string')
      fail(`${path}.list`, `must name a list of the observation, got ${describeValue(list)}`)
    discrete.list = list
  }
  if (space.default !== undefined) discrete.default = readDefault(space.default, path, 0, n - 1, true)
  return discrete
}

function readText(space: Record<string, unknown>, path: string): SpaceDescription {
  const encoder = space.encoder
  if (encoder !== undefined) return readEncodedText(space, path, encoder)
  const maxTokens = readCount(space.maxTokens, `${path}.maxTokens`, MAX_ROW)
  const vocabulary = readCount(space.vocabulary, `${path}.vocabulary`, MAX_VOCABULARY)
  if (vocabulary < 2) fail(`${path}.vocabulary`, 'must be at least 2: id 0 is padding')
  return { type: 'text', maxTokens, vocabulary }
}

function readEncodedText(space: Record<string, unknown>, path: string, encoder: unknown): SpaceDescription {
  if (encoder !== 'minilm') fail(`${path}.encoder`, `must be "minilm", got ${describeValue(encoder)}`)
  const { mostTokens, vocabulary } = textEncoders[encoder]
  const maxTokens = readCount(space.maxTokens, `${path}.maxTokens`, mostTokens)
  if (maxTokens < 3)
    fail(`${path}.maxTokens`, 'must be at least 3: two tokens mark the beginning and the end of a text')
  if (space.vocabulary !== vocabulary) {
    fail(`${path}.vocabulary`, `the encoder has its own vocabulary, of ${vocabulary} word pieces: leave it out`)
  }
  return { type: 'text', maxTokens, vocabulary, encoder }
}

function readDict(space: Record<string, unknown>, path: string, depth: number): SpaceDescription {
  if (depth >= MAX_DEPTH) fail(path, `dicts are nested deeper than ${MAX_DEPTH}`)
  const given = space.entries
  if (!isArray(given)) fail(path, 'is not a dict space; make it with dict({ name: space, … })')
  const length = given.length
  if (!isInteger(length) || length < 1 || length > MAX_ENTRIES) fail(path, `must have 1 to ${MAX_ENTRIES} entries`)
  const entries: { name: string; space: SpaceDescription }[] = []
  const seen = nullObject<boolean>()
  for (let i = 0; i < length; i += 1) {
    const entry = given[i]
    if (!isObject(entry)) fail(path, `entry ${i} must be an object, got ${describeValue(entry)}`)
    const name = entry.name
    if (!isName(name)) {
      fail(path, `${describeValue(name)} is not a name: a letter, then letters, digits, _ or -, at most 64 in all`)
    }
    if (objectHasOwn(seen, name)) fail(path, `has two entries named "${name}"`)
    seen[name] = true
    append(entries, { name, space: readSpaceAt(entry.space, `${path}.${name}`, depth + 1) })
  }
  return space.choice === undefined ? { type: 'dict', entries } : readBranches(space.choice, entries, path, depth)
}

/** The entry that `choice` names is discrete; every other entry has the name of one of its labels. */
function readBranches(
  choice: unknown,
  entries: DictDescription['entries'],
  path: string,
  depth: number,
): SpaceDescription {
  if (depth > 0) fail(path, 'has a choice between its entries: only the outermost dict of an action may')
  let labels: readonly string[] | undefined
  for (let i = 0; i < entries.length; i += 1) {
    const { name, space } = entries[i]
    if (name === choice && space.type === 'discrete') labels = space.labels
  }
  if (labels === undefined || typeof choice !== 'string') {
    fail(path, `has no discrete entry with labels that is named ${describeValue(choice)}`)
  }
  for (let i = 0; i < entries.length; i += 1) {
    const { name } = entries[i]
    if (name !== choice && indexOf(labels, name) < 0) fail(path, `"${name}" is not among the labels of "${choice}"`)
  }
  return { type: 'dict', entries, choice }
}

function readSpaceAt(value: unknown, path: string, depth: number): SpaceDescription {
  if (!isObject(value)) {
    fail(path, `must be a space made by box, discrete, multiDiscrete, text, list or dict, got ${describeValue(value)}`)
  }
  const type = value.type
  switch (type) {
    case 'box':
      return readBox(value, path)
    case 'discrete':
      return readDiscrete(value, path)
    case 'multiDiscrete':
      return { type, nvec: readCounts(value.nvec, `${path}.nvec`, MAX_ROW, MAX_CATEGORIES) }
    case 'text':
      return readText(value, path)
    case 'list': {
      const slots = readCount(value.slots, `${path}.slots`, MAX_SLOTS)
      return { type, slots, features: readCount(value.features, `${path}.features`, MAX_FEATURES) }
    }
    case 'dict':
      return readDict(value, path, depth)
    default:
      return fail(path, 'is not a space; make it with box, discrete, multiDiscrete, text, list or dict')
  }
}

/**
 * Checks a space of unknown origin and copies it; every property is read once. Throws a TypeError whose message begins
 * with `path` and says what is wrong.
 */
export function readSpace(value: unknown, path: string): SpaceDescription {
  const space = readSpaceAt(value, path, 0)
  const columns = columnsOf(space)
  if (columns > MAX_ROW) fail(path, `takes ${columns} numbers an observation; at most ${MAX_ROW}`)
  return space
}

/** Columns of a space in the flat row. */
export function columnsOf(space: SpaceDescription): number {
  switch (space.type) {
    case 'box':
      return space.low.length
    case 'discrete':
      return 1
    case 'multiDiscrete':
      return space.nvec.length
    case 'text':
      return space.encoder === undefined ? space.maxTokens : textEncoders[space.encoder].dimensions
    case 'list':
      return space.slots * (1 + space.features)
    case 'dict': {
      let columns = 0
      for (let i = 0; i < space.entries.length; i += 1) columns += columnsOf(space.entries[i].space)
      return columns
    }
  }
}

/** Columns of a space in the text row: the length and the UTF-16 units of every text that an encoder reads. */
export function textColumnsOf(space: SpaceDescription): number {
  if (space.type === 'text' && space.encoder !== undefined) return 1 + encodedCharacters(space.maxTokens)
  if (space.type !== 'dict') return 0
  let columns = 0
  for (let i = 0; i < space.entries.length; i += 1) columns += textColumnsOf(space.entries[i].space)
  return columns
}

/** Columns of a space in the mask row: one a logit, over the categorical leaves. */
export function logitsOf(space: SpaceDescription): number {
  switch (space.type) {
    case 'discrete':
      return space.n
    case 'multiDiscrete': {
      let logits = 0
      for (let i = 0; i < space.nvec.length; i += 1) logits += space.nvec[i]
      return logits
    }
    case 'dict': {
      let logits = 0
      for (let i = 0; i < space.entries.length; i += 1) logits += logitsOf(space.entries[i].space)
      return logits
    }
    default:
      return 0
  }
}

/**
 * A space as JSON; the same type as `SpaceDescription` of @agentgym/contract, which this package must not import.
 * A `dict` is an ordered list, because its order is the layout of the flat rows.
 */
export type SpaceDescription =
  | {
      type: 'box'
      shape: number[]
      low: (number | null)[]
      high: (number | null)[]
      /** Samples of an image are [height, width, channels]; the row is channels first. */
      channels?: 'last'
      integer?: true
      default?: number
    }
  | { type: 'discrete'; n: number; start: number; labels?: string[]; list?: string; default?: number }
  | { type: 'multiDiscrete'; nvec: number[] }
  | { type: 'text'; maxTokens: number; vocabulary: number; encoder?: TextEncoderName }
  | { type: 'list'; slots: number; features: number }
  | { type: 'dict'; entries: { name: string; space: SpaceDescription }[]; choice?: string }

export type ListDescription = Extract<SpaceDescription, { type: 'list' }>
export type BoxDescription = Extract<SpaceDescription, { type: 'box' }>

/** The shape of a box in the row. */
export function rowShapeOf({ shape, channels }: BoxDescription): number[] {
  return channels === 'last' ? [shape[2], shape[0], shape[1]] : shape
}

/** The column of each number of a sample within its box; null where the row has them in the sample's order. */
export function columnOrder({ shape, channels }: BoxDescription): number[] | null {
  if (channels !== 'last') return null
  const order: number[] = []
  const pixels = shape[0] * shape[1]
  for (let pixel = 0; pixel < pixels; pixel += 1)
    for (let channel = 0; channel < shape[2]; channel += 1) append(order, channel * pixels + pixel)
  return order
}
export type DiscreteDescription = Extract<SpaceDescription, { type: 'discrete' }>
export type MultiDiscreteDescription = Extract<SpaceDescription, { type: 'multiDiscrete' }>
export type TextDescription = Extract<SpaceDescription, { type: 'text' }>
export type DictDescription = Extract<SpaceDescription, { type: 'dict' }>
