import type { Space } from '../spaces.ts'
import { CachedTokenizer, MAX_TEXT_LENGTH } from '../tokenize.ts'
import { listOf } from './all-texts.ts'
import { describeValue, Problem } from './faults.ts'
import {
  append,
  charCodeAt,
  Float32Buffer,
  fround,
  isArray,
  isInteger,
  lengthOfTypedArray,
  min,
  nullObject,
  objectHasOwn,
  objectKeys,
  PlainTypeError,
  stringSlice,
  typedArrayName,
  wellFormed,
} from './primordials.ts'
import {
  type BoxDescription,
  columnOrder,
  columnsOf,
  type DictDescription,
  type DiscreteDescription,
  encodedCharacters,
  type ListDescription,
  type MultiDiscreteDescription,
  readSpace,
  type SpaceDescription,
  type TextDescription,
  textEncoders,
} from './read-space.ts'

/** Writes one sample into a flat row from `offset` on; throws a Problem where the sample does not fit the space. */
export type ObservationEncoder = (sample: unknown, row: Float32Array, offset: number) => void

function invalid(name: string, what: string, hint = ''): never {
  throw new Problem('observation_invalid', `observation${name === '' ? '' : ` "${name}"`} ${what}`, hint)
}

function at(name: string, index: number): string {
  return name === '' ? `observation[${index}]` : `observation "${name}"[${index}]`
}

/** A promise where a value belongs is a mistake of its own; looked for only once the value has been refused. */
export function refusePromise(value: unknown, callback: string): void {
  if (typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function') {
    throw new Problem('scenario_invalid', `${callback} returned a promise`, `${callback} must be synchronous.`)
  }
}

/** Length of what is no plain array: of a real typed array. */
function typedLength(sample: unknown, name: string): number {
  if (typedArrayName(sample) !== undefined) return lengthOfTypedArray(sample as object)
  if (name === '') refusePromise(sample, 'observe')
  return invalid(
    name,
    `is ${describeValue(sample)} where a list of numbers belongs`,
    'Return an array or a typed array.',
  )
}

function refuseLength(length: unknown, size: number, name: string): never {
  invalid(name, `has ${describeValue(length)} numbers where the space has ${size}`)
}

/** Bounds in float32, `open` where a side has none. */
export function boundsOf(bounds: (number | null)[], open: number): Float32Array {
  const rounded = new Float32Buffer(bounds.length)
  for (let i = 0; i < bounds.length; i += 1) rounded[i] = bounds[i] ?? open
  return rounded
}

function refuseNumber(value: unknown, space: BoxDescription, name: string, index: number): never {
  const place = at(name, index)
  if (typeof value !== 'number') {
    throw new Problem('observation_invalid', `${place} is ${describeValue(value)}, not a number`)
  }
  const rounded = fround(value)
  if (rounded - rounded !== 0) {
    const kind = value - value === 0 ? `${value}, which is infinite in float32` : `${value}`
    throw new Problem('observation_invalid', `${place} is ${kind}`, 'Observations must be finite in float32.')
  }
  throw new Problem(
    'observation_invalid',
    `${place} is ${value}, outside its bounds ${space.low[index] ?? -Infinity} to ${space.high[index] ?? Infinity}`,
    'Clip it, or widen low and high of the box; bounds are compared in float32.',
  )
}

function isBounded(space: BoxDescription): boolean {
  for (let i = 0; i < space.low.length; i += 1) if (space.low[i] !== null || space.high[i] !== null) return true
  return false
}

function boxEncoder(space: BoxDescription, name: string): ObservationEncoder {
  const order = columnOrder(space)
  const encode = numbersEncoder(space, name)
  if (order === null) return encode
  const given = new Float32Buffer(order.length)
  return (sample, row, offset) => {
    encode(sample, given, 0)
    for (let i = 0; i < order.length; i += 1) row[offset + order[i]] = given[i]
  }
}

/** Writes the numbers of a box in the order of the sample. */
function numbersEncoder(space: BoxDescription, name: string): ObservationEncoder {
  const size = space.low.length
  const low = boundsOf(space.low, -Infinity)
  const high = boundsOf(space.high, Infinity)
  const bounded = isBounded(space)
  return (sample, row, offset) => {
    const length = isArray(sample) ? sample.length : typedLength(sample, name)
    if (length !== size) refuseLength(length, size, name)
    const list = sample as readonly unknown[]
    for (let i = 0; i < size; i += 1) {
      const value = list[i]
      if (typeof value !== 'number') refuseNumber(value, space, name, i)
      const rounded = fround(value)
      // The difference is NaN for NaN and the infinities.
      if (rounded - rounded !== 0) refuseNumber(value, space, name, i)
      if (bounded && !(rounded >= low[i] && rounded <= high[i])) refuseNumber(value, space, name, i)
      row[offset + i] = rounded
    }
  }
}

function discreteEncoder(space: DiscreteDescription, name: string): ObservationEncoder {
  const { n, start } = space
  return (sample, row, offset) => {
    if (!isInteger(sample) || sample < start || sample >= start + n) {
      if (name === '') refusePromise(sample, 'observe')
      invalid(name, `is ${describeValue(sample)} where an integer from ${start} to ${start + n - 1} belongs`)
    }
    row[offset] = sample - start
  }
}

function multiDiscreteEncoder(space: MultiDiscreteDescription, name: string): ObservationEncoder {
  const { nvec } = space
  return (sample, row, offset) => {
    const length = isArray(sample) ? sample.length : typedLength(sample, name)
    if (length !== nvec.length) refuseLength(length, nvec.length, name)
    const list = sample as readonly unknown[]
    for (let i = 0; i < nvec.length; i += 1) {
      const value = list[i]
      if (!isInteger(value) || value < 0 || value >= nvec[i]) {
        throw new Problem(
          'observation_invalid',
          `${at(name, i)} is ${describeValue(value)} where an integer from 0 to ${nvec[i] - 1} belongs`,
        )
      }
      row[offset + i] = value
    }
  }
}

function textEncoder(
  space: TextDescription,
  name: string,
  watch: TextListener | null,
  texts: TextSink | null,
): ObservationEncoder {
  const { maxTokens, vocabulary, encoder } = space
  const tokenizer = new CachedTokenizer(maxTokens, vocabulary)
  const vector = encoder === undefined ? 0 : textEncoders[encoder].dimensions
  const place = encoder === undefined || texts === null ? 0 : texts.reserve(encodedCharacters(maxTokens))
  return (sample, row, offset) => {
    if (typeof sample !== 'string') {
      if (name === '') refusePromise(sample, 'observe')
      invalid(name, `is ${describeValue(sample)} where a text belongs`, 'Return a string for a text space.')
    }
    if (sample.length > MAX_TEXT_LENGTH)
      invalid(name, `is a text of ${sample.length} characters; at most ${MAX_TEXT_LENGTH}`)
    if (encoder === undefined) tokenizer.write(sample, row, offset)
    else if (texts === null) invalid(name, `is read by the encoder "${encoder}"`, 'Let the runtime encode it.')
    else {
      texts.write(place, sample)
      for (let i = 0; i < vector; i += 1) row[offset + i] = 0
    }
    if (watch !== null) watch.take(sample)
  }
}

const ITEM_HINT = 'An item is { id: string, features: number[] }; an empty slot is left out.'
const MAX_ID = 200

/** One row a slot: 1 and the item's features, or zeros where the slot is empty. */
function listEncoder(space: ListDescription, name: string): ObservationEncoder {
  const { slots, features } = space
  return (sample, row, offset) => {
    if (!isArray(sample)) {
      if (name === '') refusePromise(sample, 'observe')
      invalid(name, `is ${describeValue(sample)} where a list of items belongs`, ITEM_HINT)
    }
    const length = sample.length
    if (!isInteger(length) || length > slots)
      invalid(name, `has ${describeValue(length)} items where the list has ${slots} slots`)
    const seen = nullObject<boolean>()
    for (let i = 0; i < length; i += 1)
      writeItem(sample[i], features, `${name}[${i}]`, seen, row, offset + i * (1 + features))
    for (let i = length * (1 + features); i < slots * (1 + features); i += 1) row[offset + i] = 0
  }
}

function writeItem(
  item: unknown,
  size: number,
  name: string,
  seen: Record<string, boolean>,
  row: Float32Array,
  offset: number,
): void {
  if (typeof item !== 'object' || item === null) invalid(name, `is ${describeValue(item)}, not an item`, ITEM_HINT)
  const { id, features } = item as { id?: unknown; features?: unknown }
  if (typeof id !== 'string' || id.length === 0 || id.length > MAX_ID) {
    invalid(name, `has the id ${describeValue(id)}, not a string of 1 to ${MAX_ID} characters`, ITEM_HINT)
  }
  if (objectHasOwn(seen, id)) {
    invalid(
      name,
      `has the id ${describeValue(id)}, as an item before it`,
      'A pointer copies an id: each must be unique.',
    )
  }
  seen[id] = true
  const path = `${name}.features`
  const length = isArray(features) ? features.length : typedLength(features, path)
  if (length !== size) refuseLength(length, size, path)
  const list = features as readonly unknown[]
  row[offset] = 1
  for (let i = 0; i < size; i += 1) {
    const value = list[i]
    if (typeof value !== 'number')
      throw new Problem('observation_invalid', `${at(path, i)} is ${describeValue(value)}, not a number`)
    const rounded = fround(value)
    if (rounded - rounded !== 0) {
      throw new Problem('observation_invalid', `${at(path, i)} is ${value}`, 'Observations must be finite in float32.')
    }
    row[offset + 1 + i] = rounded
  }
}

function explainKeys(keys: readonly string[], sample: object, space: DictDescription, name: string): never {
  const known = (key: string): boolean => {
    for (let i = 0; i < space.entries.length; i += 1) if (space.entries[i].name === key) return true
    return false
  }
  for (let i = 0; i < space.entries.length; i += 1) {
    const key = space.entries[i].name
    if (!objectHasOwn(sample, key))
      invalid(name, `lacks the key "${key}"`, 'Return exactly the keys of the dict space.')
  }
  for (let i = 0; i < keys.length; i += 1) {
    if (!known(keys[i])) {
      invalid(
        name,
        `has a key that the space lacks: ${describeValue(keys[i])}`,
        'Return exactly the keys of the dict space.',
      )
    }
  }
  return invalid(name, 'has other keys than the space')
}

function dictEncoder(
  space: DictDescription,
  name: string,
  watch: TextListener | null,
  texts: TextSink | null,
): ObservationEncoder {
  const encoders: ObservationEncoder[] = []
  const offsets: number[] = []
  let columns = 0
  for (let i = 0; i < space.entries.length; i += 1) {
    const entry = space.entries[i]
    append(encoders, observationEncoder(entry.space, name === '' ? entry.name : `${name}.${entry.name}`, watch, texts))
    append(offsets, columns)
    columns += columnsOf(entry.space)
  }
  return (sample, row, offset) => {
    if (typeof sample !== 'object' || sample === null) {
      invalid(name, `is ${describeValue(sample)} where an object belongs`, 'Return one value a key of the dict space.')
    }
    const keys = objectKeys(sample)
    if (keys.length !== encoders.length) {
      if (name === '') refusePromise(sample, 'observe')
      explainKeys(keys, sample, space, name)
    }
    for (let i = 0; i < encoders.length; i += 1) {
      const key = space.entries[i].name
      if (!objectHasOwn(sample, key)) explainKeys(keys, sample, space, name)
      encoders[i]((sample as Record<string, unknown>)[key], row, offset + offsets[i])
    }
  }
}

/** Hears of every text that is encoded. */
export type TextListener = { take(text: string): void }

/** Takes the texts that a sentence encoder reads: one place is reserved for each leaf, in their order. */
export type TextSink = {
  /** For a leaf that is compiled: room for so many UTF-16 units. Returns the place. */
  reserve(units: number): number
  /** The whole text of an observation that is encoded, before it is cut to its room. */
  write(place: number, text: string): void
}

/**
 * Compiles a space into its encoder. `name` is the dotted path within a dict, empty at the top; `watch` gets all texts, and
 * `texts` those that a sentence encoder reads, of which the row gets zeros.
 */
export function observationEncoder(
  space: SpaceDescription,
  name = '',
  watch: TextListener | null = null,
  texts: TextSink | null = null,
): ObservationEncoder {
  switch (space.type) {
    case 'box':
      return boxEncoder(space, name)
    case 'discrete':
      return discreteEncoder(space, name)
    case 'multiDiscrete':
      return multiDiscreteEncoder(space, name)
    case 'text':
      return textEncoder(space, name, watch, texts)
    case 'list':
      return listEncoder(space, name)
    case 'dict':
      return dictEncoder(space, name, watch, texts)
  }
}

/** Texts that a sentence encoder reads, in the rows of the buffers: of each its length, then its UTF-16 units. */
export class TextRows implements TextSink {
  readonly #capacities: number[] = []
  readonly #columns: number[] = []
  #size = 0
  #target: Uint16Array | null = null
  #offset = 0

  reserve(units: number): number {
    append(this.#columns, this.#size)
    append(this.#capacities, units)
    this.#size += 1 + units
    return this.#columns.length - 1
  }

  /** Before an observation is encoded. */
  begin(target: Uint16Array, offset: number): void {
    this.#target = target
    this.#offset = offset
  }

  write(place: number, text: string): void {
    const target = this.#target as Uint16Array
    const start = this.#offset + this.#columns[place]
    const capacity = this.#capacities[place]
    const length = min(text.length, capacity)
    const before = target[start]
    target[start] = length
    for (let i = 0; i < length; i += 1) target[start + 1 + i] = charCodeAt(text, i)
    // Equal texts make equal rows.
    for (let i = length; i < before; i += 1) target[start + 1 + i] = 0
  }
}

/** The beginnings of texts leave the isolate for pictures: of each its beginning, and of the leaves the first. */
const MAX_TEXTS = 4
const MAX_CHARACTERS = 500

/**
 * Keeps what the texts in the first row's observations say, as the encoder read them: the row itself holds nothing but
 * tokens. `now` are those of the observation in `buffers.observations`, `final` those of `buffers.finalObservations`.
 */
export class TextWatch {
  #now: string[] = []
  #final: string[] = []
  #taken: string[] | null = null

  /** Before an observation of that row is encoded. */
  begin(row: number, final: boolean): void {
    this.#taken = row === 0 ? [] : null
    if (row !== 0) return
    if (final) this.#final = this.#taken as string[]
    else this.#now = this.#taken as string[]
  }

  /** A text of the observation that is encoded, in order of the leaves. */
  take(text: string): void {
    if (this.#taken === null || this.#taken.length === MAX_TEXTS) return
    append(this.#taken, wellFormed(stringSlice(text, 0, MAX_CHARACTERS)))
  }

  /**
   * Both lists as one string: how many, then each text behind its length, `2;5:hello0:` and the other list after it. JSON
   * would ask the author's `toJSON`.
   */
  encoded(): string {
    return listOf(this.#now) + listOf(this.#final)
  }
}

/**
 * Writes one sample into a flat float32 row from `offset` on, exactly as the engine does in training: a served agent
 * must encode with this. `space` is a space or its description out of a package. Returns how many columns were written.
 * Throws a TypeError where the sample does not fit the space, or where a text is one that a sentence encoder reads: only the
 * runtime has the encoder.
 */
export function encodeObservation(
  space: Space | SpaceDescription,
  sample: unknown,
  target: Float32Array,
  offset = 0,
): number {
  const description = readSpace(space, 'space')
  const columns = columnsOf(description)
  if (target.length < offset + columns) {
    throw new PlainTypeError(`encodeObservation: the target has no room for ${columns} columns from ${offset} on`)
  }
  try {
    observationEncoder(description)(sample, target, offset)
  } catch (thrown) {
    if (Problem.is(thrown)) throw new PlainTypeError(thrown.message)
    throw thrown
  }
  return columns
}
