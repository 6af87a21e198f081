import { type ModelWalk, modelFailure, shown } from './model-failure.ts'

import { BYTES, FIXED32, packNumbers, VARINT, WireMessage, type WireType, type WireValue } from './wire-writer.ts'

/** How one field of a message is read. */
export type FieldRule = {
  name: string
  wire: WireType
  /** Times that it may occur; elements, where several lie packed in one field. */
  max: number
  /** A second one is not one too many, but a contradiction. */
  once: boolean
  /** Takes the value, and gives what is to be written in its place: a message what it has read, others the value itself. */
  take: (value: never) => WireValue
}

/** Rules by field number. A field without one is refused. */
type MessageRules = Readonly<Record<number, FieldRule>>

/** An integer, int32 or int64, at most once. Those beyond ±2^53 are refused. */
export function integerField(name: string, take: (value: number) => void): FieldRule {
  return { name, wire: VARINT, max: 1, once: true, take: unchanged(take) }
}

export function integerFields(name: string, max: number, take: (value: number) => void): FieldRule {
  return { name, wire: VARINT, max, once: false, take: unchanged(take) }
}

export function floatField(name: string, take: (value: number) => void): FieldRule {
  return { name, wire: FIXED32, max: 1, once: true, take: unchanged(take) }
}

export function floatFields(name: string, max: number, take: (value: number) => void): FieldRule {
  return { name, wire: FIXED32, max, once: false, take: unchanged(take) }
}

/** A string, bytes or an array, at most once: a part of the file, not a copy. */
export function bytesField(name: string, take: (bytes: Uint8Array) => void): FieldRule {
  return { name, wire: BYTES, max: 1, once: true, take: unchanged(take) }
}

export function bytesFields(name: string, max: number, take: (bytes: Uint8Array) => void): FieldRule {
  return { name, wire: BYTES, max, once: false, take: unchanged(take) }
}

/** A message, at most once. `read` gives what is to be written again. */
export function messageField(name: string, read: (bytes: Uint8Array) => WireMessage): FieldRule {
  return { name, wire: BYTES, max: 1, once: true, take: read }
}

export function messageFields(name: string, max: number, read: (bytes: Uint8Array) => WireMessage): FieldRule {
  return { name, wire: BYTES, max, once: false, take: read }
}

function unchanged<Value extends number | Uint8Array>(take: (value: Value) => void): (value: Value) => Value {
  return (value) => {
    take(value)
    return value
  }
}

/**
 * Reads one message, field by field, in the order of the file. It knows no nesting: a handler that is given a message
 * reads it in turn, as deep as the code goes and no deeper. Every field must have a rule, its wire type, and occur no
 * more often than the rule says, for readers of protobuf merge, overwrite and skip in different ways. Gives the message of
 * the values that were taken, to be written again.
 * Throws `model_truncated`, `model_malformed`, `model_field_unknown`, `model_field_duplicate`, `model_too_many_parts`.
 */
export function readMessage(walk: ModelWalk, bytes: Uint8Array, what: string, rules: MessageRules): WireMessage {
  const reader = new WireReader(bytes, what)
  const written = new WireMessage()
  const counts = new Map<number, number>()
  while (!reader.done) {
    const tag = reader.unsigned()
    const number = Math.floor(tag / 8)
    const wire = tag % 8
    if (number < 1 || number > 536_870_911) throw reader.malformed(`a field has the number ${number}`)
    const rule = rules[number]
    if (rule === undefined) throw unknownField(what, number)
    walk.count()
    const before = counts.get(number) ?? 0
    const count = before + takeField({ walk, reader, rule, number, written }, wire)
    counts.set(number, count)
    if (count <= rule.max) continue
    if (rule.once)
      throw modelFailure('model_field_duplicate', `${what} has the field "${rule.name}" twice`, { field: rule.name })
    throw modelFailure('model_too_many_parts', `${what} has more than ${rule.max} of "${rule.name}"`, {
      field: rule.name,
      limit: rule.max,
    })
  }
  return written
}

/** Numbers that lie one after another in the bytes of a packed field; gives how many there are. */
export function readPackedIntegers(
  walk: ModelWalk,
  bytes: Uint8Array,
  what: string,
  take: (value: number) => void,
): number {
  const reader = new WireReader(bytes, what)
  let count = 0
  for (; !reader.done; count++) {
    walk.count()
    take(reader.integer())
  }
  return count
}

type FieldReading = { walk: ModelWalk; reader: WireReader; rule: FieldRule; number: number; written: WireMessage }

/** Reads a field whose tag was read; gives how many values it holds. */
function takeField(reading: FieldReading, wire: number): number {
  const { reader, rule, number, written } = reading
  if (wire === BYTES && rule.wire !== BYTES && !rule.once) return takePacked(reading, reader.bytes(), rule.wire)
  if (wire !== rule.wire) throw reader.malformed(`the field "${rule.name}" has wire type ${wire}`)
  const take = rule.take as (value: number | Uint8Array) => WireValue
  const value = wire === VARINT ? reader.integer() : wire === BYTES ? reader.bytes() : reader.float()
  written.add(number, rule.wire, take(value))
  return 1
}

/** A list of numbers in one field, or in several, of which the walk's reader makes one list. */
function takePacked(
  { walk, reader: { what }, rule, number, written }: FieldReading,
  bytes: Uint8Array,
  wire: typeof VARINT | typeof FIXED32,
): number {
  const reader = new WireReader(bytes, what)
  const take = rule.take as (value: number) => WireValue
  const values: number[] = []
  while (!reader.done && values.length <= rule.max) {
    walk.count()
    const value = wire === VARINT ? reader.integer() : reader.float()
    take(value)
    values.push(value)
  }
  if (values.length > 0) written.add(number, BYTES, packNumbers(wire, values))
  return values.length
}

function unknownField(what: string, number: number): Error {
  return modelFailure('model_field_unknown', `${what} has a field ${number} that ONNX does not have there`, {
    field_number: number,
  })
}

/** The primitives of protobuf's encoding, each within the bytes that it was given. */
class WireReader {
  readonly what: string
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes
    this.what = what
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** A varint of at most 53 bits: tags and lengths. */
  unsigned(): number {
    const value = this.#varint()
    if (value < 0) throw this.malformed('a length or tag is too large')
    return value
  }

  /** A signed varint: negative numbers take all of its ten bytes. */
  integer(): number {
    return this.#varint()
  }

  float(): number {
    const at = this.#advance(4)
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 4).getFloat32(0, true)
  }

  bytes(): Uint8Array {
    const length = this.unsigned()
    const at = this.#advance(length)
    return this.#bytes.subarray(at, at + length)
  }

  malformed(why: string): Error {
    return modelFailure('model_malformed', `${this.what} cannot be read: ${why}`)
  }

  #advance(length: number): number {
    const at = this.#at
    if (length > this.#bytes.length - at)
      throw modelFailure('model_truncated', `${this.what} ends within a field`, {
        missing_bytes: length - (this.#bytes.length - at),
      })
    this.#at = at + length
    return at
  }

  #varint(): number {
    let low = 0
    let high = 0
    for (let i = 0; i < 10; i++) {
      const byte = this.#bytes[this.#advance(1)]
      const bits = byte & 0x7f
      // Bits 0 to 27 in the first four bytes, 28 to 55 in the next four, 56 to 63 in the last two.
      if (i < 4) low += bits * 2 ** (7 * i)
      else high += bits * 2 ** (7 * (i - 4))
      if (byte >= 0x80) continue
      if (i === 9 && byte > 1) break
      // The same number in more bytes than it needs is the same to protobuf, and something else to other readers.
      if (byte === 0 && i > 0) throw this.malformed('a number is encoded in more bytes than necessary')
      return this.#signed(low, high)
    }
    throw this.malformed('a number has more than 64 bits')
  }

  /** Two's complement of 64 bits from its lower 28 and upper 36. */
  #signed(low: number, high: number): number {
    const value = (high >= 2 ** 35 ? high - 2 ** 36 : high) * 2 ** 28 + low
    if (!Number.isSafeInteger(value)) throw this.malformed('a number is too large')
    return value
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A name of a tensor, node, operator or attribute; "" where `optional`. Throws `model_name_invalid`, `model_string_too_long`. */
export function readName(bytes: Uint8Array, what: string, walk: ModelWalk, optional = false): string {
  const text = decode(bytes, what, walk.limits.nameBytes)
  if (text === '' && !optional) throw modelFailure('model_name_invalid', `${what} has an empty name`)
  if (/\p{Cc}/u.test(text))
    throw modelFailure('model_name_invalid', `the name ${shown(text)} of ${what} contains a control character`)
  return text
}

/** Checks a text that means nothing to us: documentation, names of tools. */
export function checkText(bytes: Uint8Array, what: string, walk: ModelWalk): void {
  decode(bytes, what, walk.limits.textBytes)
}

/** Checks one entry of a metadata list: two texts. */
export function checkMetadata(bytes: Uint8Array, what: string, walk: ModelWalk): WireMessage {
  return readMessage(walk, bytes, `metadata of ${what}`, {
    1: bytesField('key', (key) => void readName(key, `metadata of ${what}`, walk, true)),
    2: bytesField('value', (value) => checkText(value, `metadata of ${what}`, walk)),
  })
}

function decode(bytes: Uint8Array, what: string, limit: number): string {
  if (bytes.length > limit)
    throw modelFailure(
      'model_string_too_long',
      `${what} has a string of ${bytes.length} bytes; the limit is ${limit}`,
      {
        limit,
      },
    )
  try {
    return decoder.decode(bytes)
  } catch {
    throw modelFailure('model_name_invalid', `${what} has a string that is not UTF-8`)
  }
}
