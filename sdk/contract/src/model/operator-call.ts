import { modelFailure, shown } from './model-failure.ts'
import type { AttributeKind, ModelNode } from './read-node.ts'
import { countElements, type ElementType } from './read-tensor.ts'

/** The first dimension of what depends on the observations: as many rows as a run is given. */
export const BATCH = -1

/** What is known of a tensor without running anything. */
export type Value = {
  type: ElementType
  /** `BATCH` can only be the first; all others are positive. */
  dims: readonly number[]
  /** Numbers of a small tensor of integers that lies in the file. */
  integers: readonly number[] | null
  /** Its channels, the second of its four dimensions, are stored in blocks of `channelBlock`, the last of which is filled up. */
  blocked?: boolean
}

/** ONNX Runtime's convolutions compute so many channels at once, and store an image as if it had a multiple of them. */
const channelBlock = 16

/** A size as far as blocks of vector instructions reach: where fewer are needed, the rest is computed for nothing. */
export function wholeBlocks(size: number): number {
  return Math.ceil(size / channelBlock) * channelBlock
}

/** An operator that models may use. Each has one output. */
export type Operator = {
  /** Fewest and most inputs. */
  inputs: readonly [number, number]
  attributes?: Readonly<Record<string, AttributeKind>>
  /** Attributes that have no default: ONNX Runtime refuses a node without them, or worse. */
  required?: readonly string[]
  /** The output's type and dimensions. Throws the codes `model_…` where the node would fail or mix rows. */
  infer: (call: OperatorCall) => Value
}

export type OperatorTable = Readonly<Record<string, Operator>>

/** One node with its inputs, as an operator sees it. */
export class OperatorCall {
  readonly opset: number
  readonly #node: ModelNode
  readonly #inputs: readonly (Value | null)[]
  /**
   * Work for each row of the batch, in multiplications of a matrix product (at most 0.1 ns each), beyond
   * `elementWork` for each element of the output. Counted by what ONNX Runtime was measured to take: see the README.
   */
  work = 0
  /** Elements for each row that the operator holds while it runs, beyond its inputs and output. */
  scratch = 0

  constructor(node: ModelNode, inputs: readonly (Value | null)[], opset: number) {
    this.#node = node
    this.#inputs = inputs
    this.opset = opset
  }

  get count(): number {
    return this.#inputs.length
  }

  /** Input `i`, of one of the types; float if none is named. */
  value(i: number, ...types: ElementType[]): Value {
    const value = this.#inputs[i] ?? null
    if (value === null) throw this.invalid(`its input ${i} is missing`)
    const allowed = types.length === 0 ? ['float'] : types
    if (!allowed.includes(value.type))
      throw modelFailure(
        'model_type_unsupported',
        `${this.#node.where}: input ${i} must be ${allowed.join(' or ')}, not ${value.type}`,
      )
    return value
  }

  optional(i: number, ...types: ElementType[]): Value | null {
    return (this.#inputs[i] ?? null) === null ? null : this.value(i, ...types)
  }

  /** An input that must not depend on the batch: weights, bounds, tables. */
  fixed(i: number, ...types: ElementType[]): Value {
    const value = this.value(i, ...types)
    if (value.dims[0] === BATCH) throw this.mixed(`its input ${i} depends on the batch`)
    return value
  }

  /** Numbers that must stand in the file, as a list: axes, shapes, bounds. */
  constant(i: number): readonly number[] {
    const { integers, dims } = this.value(i, 'int64', 'int32')
    if (integers === null) throw this.unbounded(`its input ${i} is not a small constant in the file`)
    if (dims.length > 1) throw this.invalid(`its input ${i} is not a list`)
    return integers
  }

  integer(name: string, otherwise: number): number {
    const attribute = this.#node.attributes.get(name)
    return attribute?.kind === 'int' ? attribute.value : otherwise
  }

  integers(name: string): readonly number[] | null {
    const attribute = this.#node.attributes.get(name)
    return attribute?.kind === 'ints' ? attribute.value : null
  }

  text(name: string): string | null {
    const attribute = this.#node.attributes.get(name)
    return attribute?.kind === 'string' ? attribute.value : null
  }

  tensor(name: string): Value {
    const attribute = this.#node.attributes.get(name)
    if (attribute?.kind !== 'tensor') throw this.attribute(name, 'is missing')
    return attribute.value
  }

  /** An axis counted from the front, which is not the batch. */
  axis(axis: number, rank: number, dims: readonly number[]): number {
    const positive = axis < 0 ? axis + rank : axis
    if (!(positive >= 0 && positive < rank))
      throw this.invalid(`its axis ${axis} is out of range for ${rank} dimensions`)
    if (dims[positive] === BATCH) throw this.mixed('it operates along the batch')
    return positive
  }

  /** Axes counted from the front, each once, none of them the batch. */
  axes(axes: readonly number[], rank: number, dims: readonly number[]): number[] {
    const positive = axes.map((axis) => this.axis(axis, rank, dims))
    if (new Set(positive).size !== positive.length) throw this.invalid('it has a duplicate axis')
    return positive
  }

  invalid(why: string): Error {
    return modelFailure('model_shape_invalid', `${this.#node.where}: ${why}`)
  }

  mixed(why: string): Error {
    return modelFailure('model_batch_mixed', `${this.#node.where}: ${why}`)
  }

  unbounded(why: string): Error {
    return modelFailure('model_static_size', `${this.#node.where}: ${why}`)
  }

  attribute(name: string, why: string): Error {
    return modelFailure('model_attribute_invalid', `the attribute ${shown(name)} of ${this.#node.where} ${why}`)
  }
}

/** Elements for each row of the batch; all of them, where there is no batch. */
export function rowElements(dims: readonly number[]): number {
  return dims.reduce((product, dim) => (dim === BATCH ? product : product * dim), 1)
}

/** Elements in numbers of four bytes, as they are stored. */
export function storedElements({ type, dims, blocked }: Value): number {
  const elements = rowElements(dims)
  if (blocked === true) return (elements / dims[1]) * wholeBlocks(dims[1])
  return type === 'int64' ? 2 * elements : elements
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((dim, i) => dim === b[i])
}

export function isBatched({ dims }: Value): boolean {
  return dims[0] === BATCH
}

/** Elements that an operator may make of nothing but a size. */
const staticElements = 2 ** 16

export function broadcastShapes(call: OperatorCall, shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(...shapes.map(({ length }) => length))
  const dims: number[] = new Array(rank).fill(1)
  for (const shape of shapes) {
    const shift = rank - shape.length
    shape.forEach((dim, i) => {
      const at = i + shift
      if (dims[at] === 1 || dims[at] === dim) dims[at] = dim
      else if (dim === BATCH || (dims[at] === BATCH && dim !== 1))
        throw call.mixed('it combines the batch with another size')
      else if (dim !== 1) throw call.invalid(`its inputs have incompatible sizes, ${dims[at]} and ${dim}`)
    })
  }
  if (dims.indexOf(BATCH, 1) !== -1) throw call.mixed('its batch is not the first dimension')
  return dims
}

/**
 * Operators whose output has whatever size an input says: 75 bytes of model can ask for gigabytes. The size must stand in
 * the file and be small. Throws `model_static_size`.
 */
export const sizes: OperatorTable = {
  Constant: {
    inputs: [0, 0],
    attributes: { value: 'tensor' },
    required: ['value'],
    infer: (call) => call.tensor('value'),
  },
  ConstantOfShape: {
    inputs: [1, 1],
    attributes: { value: 'tensor' },
    required: ['value'],
    infer(call) {
      const fill = call.tensor('value')
      if (countElements(fill.dims, 'the value') !== 1) throw call.attribute('value', 'is more than one number')
      return { type: fill.type, dims: small(call, call.constant(0)), integers: null }
    },
  },
  Expand: {
    inputs: [2, 2],
    infer(call) {
      const x = call.value(0, 'float', 'int32', 'int64', 'bool')
      const shape = small(call, call.constant(1))
      return { type: x.type, dims: broadcastShapes(call, [x.dims, shape]), integers: null }
    },
  },
  Tile: {
    inputs: [2, 2],
    infer(call) {
      const x = call.value(0, 'float', 'int32', 'int64', 'bool')
      const repeats = small(call, call.constant(1))
      if (repeats.length !== x.dims.length) throw call.invalid('it must have one repetition per dimension')
      if (isBatched(x) && repeats[0] !== 1) throw call.mixed('it repeats the batch')
      return { type: x.type, dims: x.dims.map((dim, i) => dim * repeats[i]), integers: null }
    },
  },
  Range: { inputs: [3, 3], infer: range },
}

function small(call: OperatorCall, shape: readonly number[]): readonly number[] {
  if (shape.some((dim) => dim < 1)) throw call.unbounded('it has a size below one')
  const elements = shape.reduce((product, dim) => product * dim, 1)
  if (elements > staticElements) throw call.unbounded(`it creates ${elements} elements; the limit is ${staticElements}`)
  return shape
}

function range(call: OperatorCall): Value {
  const [start, limit, step] = [0, 1, 2].map((i) => {
    if (call.value(i, 'int32', 'int64').dims.length > 0) throw call.invalid(`its input ${i} is not a single number`)
    return call.constant(i)[0]
  })
  const count = Math.ceil((limit - start) / step)
  if (!Number.isFinite(count)) throw call.unbounded('its range is infinite')
  return { type: call.value(0, 'int32', 'int64').type, dims: small(call, [count]), integers: null }
}
