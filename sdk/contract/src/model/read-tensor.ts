import { type ModelWalk, modelFailure, shown } from './model-failure.ts'
import {
  bytesField,
  bytesFields,
  checkMetadata,
  checkText,
  integerField,
  integerFields,
  messageFields,
  readMessage,
  readName,
  readPackedIntegers,
} from './wire-reader.ts'
import type { WireMessage } from './wire-writer.ts'

/** Types of elements that a policy needs, of TensorProto.DataType's. */
export type ElementType = 'float' | 'int32' | 'int64' | 'bool'

/** A tensor that lies in the file, as far as the shapes of other tensors depend on it. */
export type ModelTensor = {
  /** "" for a node's attribute. */
  name: string
  type: ElementType
  dims: number[]
  /** The numbers of a small tensor of integers: axes, shapes, bounds. Null for others. */
  integers: number[] | null
}

export const elementTypes: Readonly<Record<number, ElementType>> = { 1: 'float', 6: 'int32', 7: 'int64', 9: 'bool' }
const elementBytes: Readonly<Record<ElementType, number>> = { float: 4, int32: 4, int64: 8, bool: 1 }
/** What asks for a tensor's numbers has one for each dimension, or a few. */
const integersKept = 64

/** TensorProto.DataLocation */
const EXTERNAL = 1

type TensorFields = {
  dims: number[]
  type: number
  name: string
  raw?: Uint8Array
  packed: Map<string, Uint8Array>
}

/**
 * Reads a tensor and holds it to its own words: dimensions above zero, as many bytes as they say, finite numbers, and
 * everything inside the file. `written` is the tensor to be written again. Throws `model_external_data`, `model_part_forbidden`, `model_type_unsupported`,
 * `model_shape_invalid`, `model_tensor_size_mismatch`, `model_weights_not_finite`.
 */
export function readTensor(
  bytes: Uint8Array,
  what: string,
  walk: ModelWalk,
): { tensor: ModelTensor; written: WireMessage } {
  const { written, ...fields } = readFields(bytes, what, walk)
  const { name, dims } = fields
  const where = name === '' ? what : `the tensor ${shown(name)}`
  const type = elementTypes[fields.type]
  if (type === undefined)
    throw modelFailure('model_type_unsupported', `${where} has the element type ${fields.type}`, { type: fields.type })
  const elements = countElements(dims, where)
  const values = readValues(walk, fields, type, elements, where)
  const integers = type === 'float' || type === 'bool' ? null : values
  return { tensor: { name, type, dims, integers }, written }
}

/** The product of dimensions that are all above zero. Throws `model_shape_invalid`. */
export function countElements(dims: readonly number[], where: string): number {
  let elements = 1
  for (const dim of dims) {
    if (dim < 1) throw modelFailure('model_shape_invalid', `${where} has a dimension of size ${dim}`)
    elements *= dim
    if (elements > Number.MAX_SAFE_INTEGER)
      throw modelFailure('model_shape_invalid', `the dimensions of ${where} are too large`)
  }
  return elements
}

function readFields(bytes: Uint8Array, what: string, walk: ModelWalk): TensorFields & { written: WireMessage } {
  const fields: TensorFields = { dims: [], type: 0, name: '', packed: new Map() }
  const where = () => (fields.name === '' ? what : `the tensor ${shown(fields.name)}`)
  const data = (name: string) => bytesField(name, (packed) => void fields.packed.set(name, packed))
  const external = () => {
    throw modelFailure('model_external_data', `the data of ${where()} is in another file or in memory`)
  }
  const written = readMessage(walk, bytes, what, {
    1: integerFields('dims', walk.limits.rank, (dim) => fields.dims.push(dim)),
    2: integerField('data_type', (type) => {
      fields.type = type
    }),
    3: bytesField('segment', () => {
      throw modelFailure('model_part_forbidden', `${where()} is a segment of a larger tensor`)
    }),
    4: data('float_data'),
    5: data('int32_data'),
    6: data('string_data'),
    7: data('int64_data'),
    8: bytesField('name', (name) => {
      fields.name = readName(name, what, walk, true)
    }),
    9: bytesField('raw_data', (raw) => {
      fields.raw = raw
    }),
    10: data('double_data'),
    11: data('uint64_data'),
    12: bytesField('doc_string', (text) => checkText(text, what, walk)),
    13: bytesFields('external_data', 1, external),
    14: integerField('data_location', (location) => {
      if (location === EXTERNAL) external()
      if (location !== 0) throw modelFailure('model_malformed', `${where()} has the unknown data location ${location}`)
    }),
    16: messageFields('metadata_props', walk.limits.attributes, (entry) => checkMetadata(entry, what, walk)),
  })
  return { ...fields, written }
}

/** Checks a tensor's numbers, and gives those of a small one. */
function readValues(
  walk: ModelWalk,
  fields: TensorFields,
  type: ElementType,
  elements: number,
  where: string,
): number[] | null {
  const { raw, packed } = fields
  if (packed.size + (raw === undefined ? 0 : 1) !== 1)
    throw modelFailure(
      'model_tensor_size_mismatch',
      `${where} has data in ${raw === undefined ? packed.size : packed.size + 1} fields`,
    )
  if (raw !== undefined) return readRaw(raw, type, elements, where)
  const [[name, bytes]] = packed
  const expected = type === 'float' ? 'float_data' : type === 'int64' ? 'int64_data' : 'int32_data'
  if (name !== expected)
    throw modelFailure('model_tensor_size_mismatch', `${where} has its data in ${name} instead of ${expected}`)
  // Floats lie there as they would in raw_data.
  if (type === 'float') return readRaw(bytes, type, elements, where)
  const values: number[] = []
  const count = readPackedIntegers(walk, bytes, where, (value) => {
    if (values.length < integersKept) values.push(value)
    checkRange(value, type, where)
  })
  if (count !== elements) throw wrongSize(where, count, elements, 'numbers')
  return count <= integersKept ? values : null
}

function readRaw(bytes: Uint8Array, type: ElementType, elements: number, where: string): number[] | null {
  const size = elementBytes[type]
  if (bytes.length !== elements * size) throw wrongSize(where, bytes.length, elements * size, 'bytes')
  if (type === 'float') {
    checkFinite(bytes, where)
    return null
  }
  if (type === 'bool') {
    for (let i = 0; i < elements; i++) checkRange(bytes[i], type, where)
    return null
  }
  if (elements > integersKept) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const read = (i: number) => (type === 'int32' ? view.getInt32(4 * i, true) : Number(view.getBigInt64(8 * i, true)))
  return Array.from({ length: elements }, (_, i) => read(i))
}

/** Infinities and NaN have an exponent of all ones: seven bits of the last byte, one of the byte before. */
function checkFinite(bytes: Uint8Array, where: string): void {
  for (let at = 3; at < bytes.length; at += 4) {
    if ((bytes[at] & 0x7f) === 0x7f && bytes[at - 1] >= 0x80) {
      const element = (at - 3) / 4
      const what = `element ${element} of ${where} is not finite`
      throw modelFailure('model_weights_not_finite', what, { element })
    }
  }
}

function checkRange(value: number, type: ElementType, where: string): void {
  const fits = type === 'bool' ? value === 0 || value === 1 : type === 'int64' || (value | 0) === value
  if (!fits) throw modelFailure('model_malformed', `${where} contains ${value}, which is not a valid ${type}`)
}

function wrongSize(where: string, given: number, expected: number, unit: string): Error {
  return modelFailure(
    'model_tensor_size_mismatch',
    `${where} has ${given} ${unit}; its dimensions require ${expected}`,
    {
      given,
      expected,
    },
  )
}
