/**
 * Writes protobuf messages from values that have been read, so that a reader of the result sees what the walk saw. The form
 * is that of protobuf's own writers: fields in the order of their numbers, numbers in as few bytes as they need. A message
 * of which the walk has read equal values has equal bytes, but for repeated numbers, which stay packed or unpacked.
 */

/** Wire types of protobuf that ONNX uses. Groups (3 and 4), long out of use, nest without bound: refused. */
export const VARINT = 0
export const BYTES = 2
export const FIXED32 = 5
export type WireType = typeof VARINT | typeof BYTES | typeof FIXED32

/** An integer, a float32, bytes as they were found, or a message of its own. */
export type WireValue = number | Uint8Array | WireMessage

type WireField = { number: number; wire: WireType; value: WireValue }

/** A message to be written. Its fields can be added in any order; those of one number keep theirs. */
export class WireMessage {
  readonly #fields: WireField[] = []
  #length = 0
  #sorted = true

  add(number: number, wire: WireType, value: WireValue): void {
    if (number < (this.#fields.at(-1)?.number ?? 0)) this.#sorted = false
    this.#fields.push({ number, wire, value })
    this.#length += varintLength(number * 8 + wire) + valueLength(wire, value)
  }

  get byteLength(): number {
    return this.#length
  }

  /** The message's bytes, in an array of their own. */
  toBytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#length)
    this.#write(new ByteWriter(bytes))
    return bytes
  }

  #write(writer: ByteWriter): void {
    const fields = this.#sorted ? this.#fields : this.#fields.toSorted((a, b) => a.number - b.number)
    for (const { number, wire, value } of fields) {
      writer.varint(number * 8 + wire)
      if (value instanceof WireMessage) {
        writer.varint(value.byteLength)
        value.#write(writer)
      } else if (value instanceof Uint8Array) {
        writer.varint(value.length)
        writer.bytes(value)
      } else if (wire === FIXED32) writer.float(value)
      else writer.varint(value)
    }
  }
}

/** Integers or floats one after another, as a packed field holds them. */
export function packNumbers(wire: typeof VARINT | typeof FIXED32, values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.reduce((sum, value) => sum + valueLength(wire, value), 0))
  const writer = new ByteWriter(bytes)
  for (const value of values) wire === VARINT ? writer.varint(value) : writer.float(value)
  return bytes
}

function valueLength(wire: WireType, value: WireValue): number {
  if (typeof value === 'number') return wire === FIXED32 ? 4 : varintLength(value)
  const length = value instanceof WireMessage ? value.byteLength : value.length
  return varintLength(length) + length
}

/** Negative numbers take all of the ten bytes. */
function varintLength(value: number): number {
  if (value < 0) return 10
  let length = 1
  for (let rest = value; rest >= 128; length++) rest = Math.floor(rest / 128)
  return length
}

class ByteWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
  }

  bytes(value: Uint8Array): void {
    this.#bytes.set(value, this.#at)
    this.#at += value.length
  }

  float(value: number): void {
    this.#view.setFloat32(this.#at, value, true)
    this.#at += 4
  }

  varint(value: number): void {
    if (value < 0) this.#negative(value)
    else {
      let rest = value
      for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[this.#at++] = (rest % 128) | 0x80
      this.#bytes[this.#at++] = rest
    }
  }

  #negative(value: number): void {
    let rest = BigInt.asUintN(64, BigInt(value))
    for (; rest >= 128n; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80
    this.#bytes[this.#at++] = Number(rest)
  }
}
