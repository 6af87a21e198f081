import { varint } from './onnx-writer.ts'

/** One field of a message; a message within it where the schema has one there. */
type Field = { number: number; wire: number; bytes: Buffer; fields: Field[] | null }

/** Which fields of which messages are messages themselves. */
const nested: Record<string, Record<number, string>> = {
  model: { 7: 'graph', 8: 'opset', 14: 'entry' },
  graph: { 1: 'node', 5: 'tensor', 11: 'value', 12: 'value', 13: 'value', 16: 'entry' },
  node: { 5: 'attribute', 9: 'entry' },
  attribute: { 5: 'tensor' },
  value: { 2: 'type' },
  type: { 1: 'tensorType' },
  tensorType: { 2: 'shape' },
  shape: { 1: 'dim' },
}

const numbers = [0, 1, 2, 3, 4, 5, 7, 8, 17, 100, 2 ** 16, 2 ** 31 - 1, 2 ** 31, 2 ** 53, -1, -2, -(2 ** 31)]
const texts = [
  '',
  'obs',
  'logits',
  'value',
  'sum',
  'Gemm',
  'Tanh',
  'MatMul',
  'Concat',
  'Reshape',
  'Expand',
  'Conv',
  'axis',
  'perm',
  'to',
  '/x',
]

/** Uniform in [0, n), from a seed: mulberry32. */
function randomFrom(seed: number): (n: number) => number {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * n)
  }
}

/**
 * A model with one to four changes: of its bytes (flipped bits, a cut, pieces moved), or of its messages (fields left out,
 * doubled, moved, renumbered, with other numbers and texts), with all lengths right again. The same seed gives the same.
 */
export function mutateModel(model: Uint8Array, seed: number): Buffer {
  const random = randomFrom(seed)
  let bytes: Buffer = Buffer.from(model)
  for (let i = random(4); i >= 0; i--)
    bytes = random(3) === 0 ? mutateBytes(bytes, random) : mutateMessages(bytes, random)
  return bytes
}

/** The same message to readers of protobuf: fields of different numbers in another order, in every message. */
export function shuffleFields(model: Uint8Array, seed: number): Buffer {
  const random = randomFrom(seed)
  const fields = parse(Buffer.from(model), 'model')
  if (fields === null) throw new Error('only a model can be shuffled')
  for (const list of allLists(fields)) {
    const numbers = [...new Set(list.map(({ number }) => number))]
    const rank = new Map(numbers.map((number) => [number, random(2 ** 20)]))
    list.sort((a, b) => (rank.get(a.number) ?? 0) - (rank.get(b.number) ?? 0) || a.number - b.number)
  }
  return encode(fields)
}

/** The same message to readers of protobuf, with one tag, length or number in more bytes than it needs. */
export function lengthenNumber(model: Uint8Array, seed: number): Buffer {
  const random = randomFrom(seed)
  const fields = parse(Buffer.from(model), 'model')
  if (fields === null) throw new Error('only a model can be changed so')
  const lists = allLists(fields)
  const list = lists[random(lists.length)]
  const field = list[random(list.length)]
  const more = 1 + random(3)
  const place = random(2)
  return encode(fields, (each, tag, length, body) => {
    if (each !== field) return [tag, length, body]
    if (place === 0) return [lengthened(tag, more), length, body]
    return each.wire === 0 ? [tag, length, lengthened(body, more)] : [tag, lengthened(length, more), body]
  })
}

/** The model without one of its nodes' attributes: once for each. */
export function withoutAttributes(model: Uint8Array): Buffer[] {
  const fields = parse(Buffer.from(model), 'model') ?? []
  const nodes = fields.flatMap((field) => (field.number === 7 ? (field.fields ?? []) : [])).filter((each) => each.number === 1)
  return nodes.flatMap(({ fields: node }) =>
    (node ?? []).flatMap((field, at) => {
      if (field.number !== 5) return []
      node?.splice(at, 1)
      const changed = encode(fields)
      node?.splice(at, 0, field)
      return [changed]
    }),
  )
}

/** A varint with so many bytes without bits at its end; a number of ten bytes has no room for more. */
function lengthened(number: Buffer, more: number): Buffer {
  if (number.length === 0 || number.length === 10) return number
  const copy = Buffer.concat([number, Buffer.alloc(Math.min(more, 10 - number.length), 0x80)])
  copy[number.length - 1] |= 0x80
  copy[copy.length - 1] = 0
  return copy
}

function mutateBytes(model: Buffer, random: (n: number) => number): Buffer {
  const at = random(model.length + 1)
  const length = random(16)
  const piece = model.subarray(random(model.length + 1)).subarray(0, length)
  switch (random(5)) {
    case 0: {
      const copy = Buffer.from(model)
      if (at < copy.length) copy[at] ^= 1 << random(8)
      return copy
    }
    case 1:
      return model.subarray(0, at)
    case 2:
      return Buffer.concat([model.subarray(0, at), piece, model.subarray(at)])
    case 3:
      return Buffer.concat([model.subarray(0, at), piece, model.subarray(at + length)])
    default:
      return Buffer.concat([model.subarray(0, at), model.subarray(at + length)])
  }
}

function mutateMessages(model: Buffer, random: (n: number) => number): Buffer {
  const fields = parse(model, 'model')
  if (fields === null || fields.length === 0) return mutateBytes(model, random)
  const lists = allLists(fields)
  const list = lists[random(lists.length)]
  const at = random(list.length)
  const other = lists[random(lists.length)]
  const field = list[at]
  switch (random(8)) {
    case 0:
      list.splice(at, 1)
      break
    case 1:
      list.splice(random(list.length + 1), 0, field)
      break
    case 2:
      list[at] = list[random(list.length)]
      break
    case 3:
      other.splice(random(other.length + 1), 0, copyOf(field))
      break
    case 4:
      list[at] = { ...field, number: field.number + 1 + random(3) }
      break
    case 5:
      list[at] = { ...copyOf(other[random(other.length)]), number: field.number }
      break
    default:
      list[at] = { ...field, bytes: changedValue(field, random), fields: null }
  }
  return encode(fields)
}

/** As bytes: a message that lies within itself would have no end. */
function copyOf(field: Field): Field {
  return { ...field, bytes: field.fields === null ? field.bytes : encode(field.fields), fields: null }
}

function changedValue(field: Field, random: (n: number) => number): Buffer {
  if (field.wire === 0) return varint(numbers[random(numbers.length)])
  if (field.wire === 2)
    return random(4) === 0
      ? field.bytes.subarray(0, random(field.bytes.length + 1))
      : Buffer.from(texts[random(texts.length)])
  return Buffer.from(field.bytes).reverse()
}

/** Every list of fields, of the message itself and of those within it. */
function allLists(fields: Field[]): Field[][] {
  return [fields, ...fields.flatMap((field) => (field.fields === null ? [] : allLists(field.fields)))].filter(
    ({ length }) => length > 0,
  )
}

function parse(bytes: Buffer, message: string): Field[] | null {
  const fields: Field[] = []
  let at = 0
  const number = () => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (at >= bytes.length) return null
      const byte = bytes[at++]
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return Number(value)
    }
    return null
  }
  while (at < bytes.length) {
    const tag = number()
    if (tag === null) return null
    const wire = tag % 8
    const start = at
    const length = wire === 0 ? (number() === null ? null : at - start) : wire === 5 ? 4 : wire === 2 ? number() : null
    if (length === null) return null
    const from = wire === 0 ? start : at
    if (from + length > bytes.length) return null
    at = from + length
    const value = bytes.subarray(from, at)
    const kind = nested[message]?.[Math.floor(tag / 8)]
    fields.push({
      number: Math.floor(tag / 8),
      wire,
      bytes: value,
      fields: kind === undefined || wire !== 2 ? null : parse(value, kind),
    })
  }
  return fields
}

type Encoded = [tag: Buffer, length: Buffer, body: Buffer]

function encode(fields: Field[], change = (_: Field, ...parts: Encoded): Encoded => parts): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const { number, wire, bytes, fields: inner } = field
      const body = inner === null ? bytes : encode(inner, change)
      return change(field, varint(number * 8 + wire), wire === 2 ? varint(body.length) : Buffer.alloc(0), body)
    }),
  )
}
