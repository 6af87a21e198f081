/**
 * Writes ONNX's protobuf messages field by field, so that any part can be wrong, which no exporter allows. Field numbers
 * are those of the official onnx.proto.
 */

/** A number is a varint (int64), text and bytes are length-delimited, `{ float }` is a fixed32. */
type FieldValue = number | bigint | string | Uint8Array | { float: number }
type Field = [number: number, value: FieldValue]

export function varint(value: number | bigint): Buffer {
  let rest = BigInt.asUintN(64, BigInt(value))
  const bytes: number[] = []
  do {
    const bits = Number(rest & 0x7fn)
    rest >>= 7n
    bytes.push(rest > 0n ? bits | 0x80 : bits)
  } while (rest > 0n)
  return Buffer.from(bytes)
}

export function message(...fields: Field[]): Buffer {
  return Buffer.concat(fields.map(([number, value]) => field(number, value)))
}

function field(number: number, value: FieldValue): Buffer {
  const tag = (wire: number) => varint(number * 8 + wire)
  if (typeof value === 'number' || typeof value === 'bigint') return Buffer.concat([tag(0), varint(value)])
  if (typeof value === 'string' || value instanceof Uint8Array) {
    const bytes = Buffer.from(value)
    return Buffer.concat([tag(2), varint(bytes.length), bytes])
  }
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value.float)
  return Buffer.concat([tag(5), bytes])
}

export const FLOAT = 1
export const INT64 = 7

export function floatBytes(...values: number[]): Buffer {
  return Buffer.from(Float32Array.from(values).buffer)
}

/** Small, different, and the same at every run. */
export function weights(count: number, scale = 1): Buffer {
  return floatBytes(
    ...Array.from({ length: count }, (_, i) => ((((i * 7919) % 1009) / 504.5 - 1) * scale) / Math.sqrt(count)),
  )
}

export function floats(
  name: string,
  dims: number[],
  bytes = weights(dims.reduce((a, b) => a * b, 1)),
  ...more: Field[]
): Buffer {
  return message(...dims.map((dim): Field => [1, dim]), [2, FLOAT], [8, name], [9, bytes], ...more)
}

export function integers(name: string, values: number[], dims = [values.length]): Buffer {
  const bytes = Buffer.from(BigInt64Array.from(values, BigInt).buffer)
  return message(...dims.map((dim): Field => [1, dim]), [2, INT64], [8, name], [9, bytes])
}

/** AttributeProto; the kind follows from the value: integers, `{ float }`, text, lists of integers, tensors. */
export function attribute(
  name: string,
  value: number | number[] | string | { float: number } | Uint8Array,
  ...more: Field[]
): Buffer {
  if (typeof value === 'number') return message([1, name], [3, value], [20, 2], ...more)
  if (typeof value === 'string') return message([1, name], [4, value], [20, 3], ...more)
  if (value instanceof Uint8Array) return message([1, name], [5, value], [20, 4], ...more)
  if (Array.isArray(value)) return message([1, name], ...value.map((item): Field => [8, item]), [20, 7], ...more)
  return message([1, name], [2, value], [20, 1], ...more)
}

export function node(
  operator: string,
  inputs: string[],
  output: string,
  attributes: Buffer[] = [],
  ...more: Field[]
): Buffer {
  return message(
    ...inputs.map((name): Field => [1, name]),
    [2, output],
    [4, operator],
    ...attributes.map((bytes): Field => [5, bytes]),
    ...more,
  )
}

/** ValueInfoProto; a dimension given by name is free, one given as null says nothing. */
export function value(name: string, dims: (number | string | null)[], type = FLOAT): Buffer {
  const shape = dims.map(
    (dim): Field => [1, typeof dim === 'number' ? message([1, dim]) : dim === null ? message() : message([2, dim])],
  )
  return message([1, name], [2, message([1, message([1, type], [2, message(...shape)])])])
}

export type ModelParts = {
  irVersion: number
  opsets: Buffer[]
  nodes: Buffer[]
  initializers: Buffer[]
  inputs: Buffer[]
  outputs: Buffer[]
  /** `value_info` */
  declared: Buffer[]
  /** More fields of the graph and of the model. */
  graph: Field[]
  model: Field[]
}

export function encodeParts(parts: ModelParts): Buffer {
  const list = (number: number, items: Buffer[]) => items.map((bytes): Field => [number, bytes])
  const graph = message(
    ...list(1, parts.nodes),
    [2, 'policy'],
    ...list(5, parts.initializers),
    ...list(11, parts.inputs),
    ...list(12, parts.outputs),
    ...list(13, parts.declared),
    ...parts.graph,
  )
  return message([1, parts.irVersion], [7, graph], ...list(8, parts.opsets), ...parts.model)
}

export function operatorSet(domain: string, version: number): Buffer {
  return message([1, domain], [2, version])
}
