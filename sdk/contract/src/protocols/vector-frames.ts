import { AgentGymError } from '../agent-gym-error.ts'
import type { VectorField, VectorLayout } from './vector.ts'

/** Values of one field, row after row: `[rows, ...shape]`. Texts are strings, one a row. */
export type FieldValues = Float32Array | Int32Array | Uint8Array | string[]

export type ResetRequest = {
  operation: 'reset'
  /** A number that the reply repeats, below 2^32. */
  request: number
  /** [N]; 1: begin an episode. */
  mask: Uint8Array
  /** [N]; below 2^53, or -1 for the next episode of the environment's own sequence. */
  seeds: BigInt64Array
}

export type StepRequest = {
  operation: 'step'
  request: number
  /** One for each field of the action. */
  actions: FieldValues[]
}

export type VectorReply = {
  request: number
  /** One for each field of the observation, [N, ...shape]. */
  observations: FieldValues[]
  /** [N] */
  rewards: Float64Array
  /** [N]; 1 where the environment reached an end. */
  terminated: Uint8Array
  /** [N]; 1 where the episode was cut off, as by its time limit. Both may be 1. */
  truncated: Uint8Array
  /** [N, mask], for the next action; 1 is legal. Null where the layout has no masks. */
  masks: Uint8Array | null
  /** With `same_step`: last observations of the E episodes that ended, [E, ...shape], in order of their environments. Else []. */
  final: FieldValues[]
  /** Of the E episodes that ended. `values` is [E, names]; NaN where an episode lacks a metric. */
  metrics: { names: string[]; values: Float64Array }
}

const RESET = 1
const STEP = 2
const REPLY = 3
const REQUEST_HEADER = 8
const REPLY_HEADER = 16
const MAX_METRICS = 256
const MAX_METRIC_NAME = 100

const utf8 = new TextEncoder()
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Arrays are copied as they lie in memory. Every machine that runs Node 24 and our native modules is little-endian. */
const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

type NumericArray = Float32Array | Float64Array | Int32Array | Uint8Array | Uint32Array | BigInt64Array

export function encodeReset({ request, mask, seeds }: Omit<ResetRequest, 'operation'>): Uint8Array {
  const writer = new FrameWriter(REQUEST_HEADER)
  writer.header(RESET, request)
  writer.array(mask)
  writer.array(seeds)
  return writer.bytes()
}

export function encodeStep(layout: VectorLayout, { request, actions }: Omit<StepRequest, 'operation'>): Uint8Array {
  const writer = new FrameWriter(REQUEST_HEADER)
  writer.header(STEP, request)
  writer.fields(layout.fields.action, actions)
  return writer.bytes()
}

/** Reads a client's binary frame. Throws `frame_invalid`. Arrays are views of `bytes` where it is aligned. */
export function decodeRequest(layout: VectorLayout, bytes: Uint8Array): ResetRequest | StepRequest {
  const reader = new FrameReader(bytes, REQUEST_HEADER)
  const { environments, fields } = layout
  const { operation, request } = reader.header()
  if (operation === RESET) {
    const mask = reader.flags(environments)
    const seeds = reader.array(BigInt64Array, environments)
    reader.end()
    return { operation: 'reset', request, mask, seeds }
  }
  if (operation !== STEP) throw frameInvalid(`operation ${operation} is not one of 1 (reset) and 2 (step)`)
  const actions = reader.fields(fields.action, environments)
  reader.end()
  return { operation: 'step', request, actions }
}

export function encodeReply(layout: VectorLayout, reply: VectorReply): Uint8Array {
  const ended = countEnded(reply.terminated, reply.truncated)
  const writer = new FrameWriter(REPLY_HEADER)
  writer.header(REPLY, reply.request)
  writer.counts(ended, reply.metrics.names.length)
  writer.fields(layout.fields.observation, reply.observations)
  writer.array(reply.rewards)
  writer.array(reply.terminated)
  writer.array(reply.truncated)
  if (reply.masks !== null) writer.array(reply.masks)
  if (layout.autoreset === 'same_step') writer.fields(layout.fields.observation, reply.final)
  writer.texts(reply.metrics.names)
  writer.array(reply.metrics.values)
  return writer.bytes()
}

/** Reads a server's binary frame. Throws `frame_invalid`. Arrays are views of `bytes` where it is aligned. */
export function decodeReply(layout: VectorLayout, bytes: Uint8Array): VectorReply {
  const { environments, fields, mask, autoreset } = layout
  const reader = new FrameReader(bytes, REPLY_HEADER)
  const { operation, request } = reader.header()
  if (operation !== REPLY) throw frameInvalid(`operation ${operation} is no reply`)
  const [ended, metrics] = reader.counts()
  if (ended > environments || metrics > MAX_METRICS) {
    throw frameInvalid(`it counts ${ended} episodes with ${metrics} metrics`)
  }
  const observations = reader.fields(fields.observation, environments)
  const rewards = reader.array(Float64Array, environments)
  const terminated = reader.flags(environments)
  const truncated = reader.flags(environments)
  if (countEnded(terminated, truncated) !== ended)
    throw frameInvalid(`it counts ${ended} ended episodes, and marks others`)
  const masks = mask > 0 ? reader.flags(environments * mask) : null
  const final = autoreset === 'same_step' ? reader.fields(fields.observation, ended) : []
  const names = reader.texts(metrics, MAX_METRIC_NAME * metrics)
  const values = reader.array(Float64Array, ended * metrics)
  reader.end()
  return { request, observations, rewards, terminated, truncated, masks, final, metrics: { names, values } }
}

/** How many environments ended an episode. */
export function countEnded(terminated: Uint8Array, truncated: Uint8Array): number {
  let ended = 0
  for (let row = 0; row < terminated.length; row += 1) if ((terminated[row] | truncated[row]) !== 0) ended += 1
  return ended
}

function elements({ shape }: VectorField): number {
  return shape.reduce((product, length) => product * length, 1)
}

function padded(bytes: number): number {
  return (bytes + 7) & ~7
}

function frameInvalid(what: string): AgentGymError {
  return new AgentGymError({ code: 'frame_invalid', message: `A frame of the vector protocol is malformed: ${what}.` })
}

/** Collects the parts of a frame, then lays them out, each at a multiple of 8 bytes. */
class FrameWriter {
  readonly #parts: NumericArray[] = []
  readonly #head: DataView<ArrayBuffer>
  #size: number

  constructor(headerBytes: number) {
    this.#head = new DataView(new ArrayBuffer(headerBytes))
    this.#size = headerBytes
  }

  header(operation: number, request: number): void {
    this.#head.setUint8(0, operation)
    this.#head.setUint32(4, request, true)
  }

  counts(ended: number, metrics: number): void {
    this.#head.setUint32(8, ended, true)
    this.#head.setUint32(12, metrics, true)
  }

  array(values: NumericArray): void {
    this.#parts.push(values)
    this.#size += padded(values.byteLength)
  }

  fields(fields: readonly VectorField[], values: readonly FieldValues[]): void {
    fields.forEach((_, index) => {
      const value = values[index]
      if (Array.isArray(value)) this.texts(value)
      else this.array(value)
    })
  }

  texts(texts: readonly string[]): void {
    const encoded = texts.map((text) => utf8.encode(text))
    this.array(Uint32Array.from(encoded, ({ length }) => length))
    const all = new Uint8Array(encoded.reduce((sum, { length }) => sum + length, 0))
    let offset = 0
    for (const bytes of encoded) {
      all.set(bytes, offset)
      offset += bytes.length
    }
    this.array(all)
  }

  bytes(): Uint8Array {
    if (!littleEndian) throw new Error('the vector protocol needs a little-endian machine')
    const frame = new Uint8Array(this.#size)
    frame.set(new Uint8Array(this.#head.buffer))
    let offset = this.#head.byteLength
    for (const part of this.#parts) {
      frame.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), offset)
      offset += padded(part.byteLength)
    }
    return frame
  }
}

type ArrayConstructor<T> = { new (buffer: ArrayBuffer, offset: number, length: number): T; BYTES_PER_ELEMENT: number }

class FrameReader {
  readonly #bytes: Uint8Array<ArrayBuffer>
  readonly #view: DataView
  #offset: number

  constructor(bytes: Uint8Array, headerBytes: number) {
    if (!littleEndian) throw new Error('the vector protocol needs a little-endian machine')
    if (bytes.length < headerBytes) throw frameInvalid(`it has ${bytes.length} bytes and no header`)
    const shared = bytes.byteOffset % 8 !== 0 || !(bytes.buffer instanceof ArrayBuffer)
    this.#bytes = (shared ? Uint8Array.from(bytes) : bytes) as Uint8Array<ArrayBuffer>
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length)
    this.#offset = headerBytes
  }

  header(): { operation: number; request: number } {
    return { operation: this.#view.getUint8(0), request: this.#view.getUint32(4, true) }
  }

  counts(): [number, number] {
    return [this.#view.getUint32(8, true), this.#view.getUint32(12, true)]
  }

  array<T>(Type: ArrayConstructor<T>, length: number): T {
    const size = length * Type.BYTES_PER_ELEMENT
    if (this.#offset + size > this.#bytes.length) {
      throw frameInvalid(`it has ${this.#bytes.length} bytes where at least ${this.#offset + size} belong`)
    }
    const values = new Type(this.#bytes.buffer, this.#bytes.byteOffset + this.#offset, length)
    this.#offset += padded(size)
    return values
  }

  flags(length: number): Uint8Array {
    const flags = this.array(Uint8Array, length)
    if (flags.some((flag) => flag > 1)) throw frameInvalid('a flag is neither 0 nor 1')
    return flags
  }

  fields(fields: readonly VectorField[], rows: number): FieldValues[] {
    return fields.map((field) => this.#field(field, rows * elements(field)))
  }

  #field({ dtype }: VectorField, length: number): FieldValues {
    switch (dtype) {
      case 'float32':
        return this.array(Float32Array, length)
      case 'int32':
        return this.array(Int32Array, length)
      case 'uint8':
        return this.array(Uint8Array, length)
      case 'text':
        return this.texts(length, this.#bytes.length)
    }
  }

  texts(count: number, mostBytes: number): string[] {
    const lengths = this.array(Uint32Array, count)
    const total = lengths.reduce((sum, length) => sum + length, 0)
    if (total > mostBytes) throw frameInvalid(`texts of ${total} bytes do not fit into it`)
    const bytes = this.array(Uint8Array, total)
    let offset = 0
    return Array.from(lengths, (length) => {
      offset += length
      return decodeText(bytes.subarray(offset - length, offset))
    })
  }

  end(): void {
    const { length } = this.#bytes
    if (this.#offset !== length) throw frameInvalid(`it has ${length} bytes where ${this.#offset} belong`)
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw frameInvalid('a text is not UTF-8')
  }
}
