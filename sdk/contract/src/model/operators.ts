import { layers, pools } from './layer-operators.ts'
import {
  BATCH,
  broadcastShapes,
  isBatched,
  type Operator,
  type OperatorCall,
  type OperatorTable,
  rowElements,
  sameShape,
  sizes,
  type Value,
} from './operator-call.ts'
import { type ElementType, elementTypes } from './read-tensor.ts'

const floats: Operator = { inputs: [1, 1], infer: (call) => result(call.value(0).dims) }
/** Functions that ONNX Runtime computes number by number: so much more work than others for each. */
const slow = (work: number): Operator => ({
  inputs: [1, 1],
  infer(call) {
    const { dims } = call.value(0)
    call.work = work * rowElements(dims)
    return result(dims)
  },
})
const slope: Operator = { ...floats, attributes: { alpha: 'float' } }
const arithmetic: Operator = { inputs: [2, 2], infer: (call) => result(broadcast(call, [0, 1])) }
const variadic: Operator = {
  inputs: [1, 64],
  infer(call) {
    const dims = broadcast(
      call,
      Array.from({ length: call.count }, (_, i) => i),
    )
    // Two at a time, with a result of each step.
    call.work = call.count * (call.work + 16 * rowElements(dims))
    call.scratch = rowElements(dims)
    return result(dims)
  },
}

/** One number at a time: the output has the inputs' own shape, or that to which they broadcast. */
const elementwise: OperatorTable = {
  Tanh: floats,
  Relu: floats,
  Sigmoid: floats,
  Softplus: slow(1_024),
  Softsign: floats,
  Erf: floats,
  Exp: floats,
  Log: slow(128),
  Sqrt: floats,
  Reciprocal: floats,
  Neg: floats,
  Abs: floats,
  LeakyRelu: slope,
  Elu: { ...slow(128), attributes: { alpha: 'float' } },
  // Integers are left out: dividing them by zero ends a process.
  Add: arithmetic,
  Sub: arithmetic,
  Mul: arithmetic,
  Div: arithmetic,
  Min: variadic,
  Max: variadic,
  Identity: {
    inputs: [1, 1],
    infer: (call) => ({ ...call.value(0, 'float', 'int32', 'int64', 'bool'), integers: null }),
  },
  Equal: {
    inputs: [2, 2],
    infer(call) {
      const a = call.value(0, 'float', 'int32', 'int64')
      call.value(1, a.type)
      return { type: 'bool', dims: broadcast(call, [0, 1], a.type), integers: null }
    },
  },
  Clip: {
    inputs: [1, 3],
    infer(call) {
      for (const bound of [1, 2]) {
        if (call.optional(bound) !== null && call.fixed(bound).dims.length > 0)
          throw call.invalid('a bound is not a single number')
      }
      return result(call.value(0).dims)
    },
  },
  Cast: {
    inputs: [1, 1],
    attributes: { to: 'int', saturate: 'int' },
    required: ['to'],
    infer(call) {
      const type = elementTypes[call.integer('to', 0)]
      if (type === undefined) throw call.attribute('to', 'is not a type that policies use')
      return { type, dims: call.value(0, 'float', 'int32', 'int64', 'bool').dims, integers: null }
    },
  },
}

function result(dims: readonly number[]): Value {
  return { type: 'float', dims, integers: null }
}

/**
 * The shape to which inputs broadcast, as NumPy does it: aligned at their last dimensions, where 1 stretches. The batch
 * meets itself or 1, and stays first; anything else would hold for some sizes of the batch only.
 */
function broadcast(call: OperatorCall, inputs: readonly number[], type: Value['type'] = 'float'): number[] {
  const shapes = inputs.map((i) => call.value(i, type).dims)
  const dims = broadcastShapes(call, shapes)
  // Where shapes differ, every stretch of the last dimension is a step of its own.
  if (!shapes.every((shape) => sameShape(shape, dims)))
    call.work = (400 * rowElements(dims)) / rowElements(dims.slice(-1))
  return dims
}

const anyType: ElementType[] = ['float', 'int32', 'int64', 'bool']

/** The same numbers in another shape, order or selection. */
const arrangements: OperatorTable = {
  Reshape: { inputs: [2, 2], attributes: { allowzero: 'int' }, infer: reshape },
  Flatten: {
    inputs: [1, 1],
    attributes: { axis: 'int' },
    infer(call) {
      const x = call.value(0, ...anyType)
      const axis = call.integer('axis', 1)
      if (isBatched(x) && axis !== 1) throw call.mixed('it merges the batch with other dimensions')
      if (axis < 0 || axis > x.dims.length)
        throw call.invalid(`its axis ${axis} is out of range for ${x.dims.length} dimensions`)
      const front = isBatched(x) ? BATCH : rowElements(x.dims.slice(0, axis))
      return of(x, [front, rowElements(x.dims.slice(axis))])
    },
  },
  Squeeze: {
    inputs: [2, 2],
    infer(call) {
      const x = call.value(0, ...anyType)
      const axes = call.axes(call.constant(1), x.dims.length, x.dims)
      if (axes.some((axis) => x.dims[axis] !== 1)) throw call.invalid('it removes a dimension that is not 1')
      return of(
        x,
        x.dims.filter((_, i) => !axes.includes(i)),
      )
    },
  },
  Unsqueeze: {
    inputs: [2, 2],
    infer(call) {
      const x = call.value(0, ...anyType)
      const given = call.constant(1)
      const rank = x.dims.length + given.length
      const axes = call.axes(given, rank, [])
      if (isBatched(x) && axes.includes(0)) throw call.mixed('it puts a dimension before the batch')
      const old = x.dims.values()
      return of(
        x,
        Array.from({ length: rank }, (_, i) => (axes.includes(i) ? 1 : (old.next().value ?? 1))),
      )
    },
  },
  Transpose: {
    inputs: [1, 1],
    attributes: { perm: 'ints' },
    infer(call) {
      const x = call.value(0, ...anyType)
      const order = call.integers('perm') ?? x.dims.map((_, i) => x.dims.length - 1 - i)
      if (order.length !== x.dims.length || !x.dims.every((_, i) => order.includes(i)))
        throw call.attribute('perm', 'is not a permutation of the dimensions')
      call.work = 128 * rowElements(x.dims)
      if (isBatched(x) && order[0] !== 0) throw call.mixed('it moves the batch')
      return of(
        x,
        order.map((i) => x.dims[i]),
      )
    },
  },
  Concat: { inputs: [1, 4_096], attributes: { axis: 'int' }, required: ['axis'], infer: concat },
  Gather: { inputs: [2, 2], attributes: { axis: 'int' }, infer: gather },
  Slice: { inputs: [3, 5], infer: slice },
}

/** Every operator that a model may use: those of our own exports, and plain layers of others'. No name is inherited. */
export const operators: ReadonlyMap<string, Operator> = new Map(
  [elementwise, layers, pools, arrangements, sizes].flatMap((table) => Object.entries(table)),
)

function of({ type }: Value, dims: readonly number[]): Value {
  return { type, dims, integers: null }
}

/** The batch stays: as 0 ("as it was") or, where the rest is given, as -1. */
function reshape(call: OperatorCall): Value {
  const x = call.value(0, ...anyType)
  const shape = call.constant(1)
  if (call.integer('allowzero', 0) !== 0) throw call.attribute('allowzero', 'is set')
  if (shape.some((dim) => dim < -1)) throw call.invalid('it has a negative size')
  const dims = shape.map((dim, i) => (dim === 0 ? (x.dims[i] ?? 0) : dim))
  let open = dims.findIndex((_, i) => shape[i] === -1)
  if (dims.some((dim, i) => shape[i] === 0 && (dim === 0 || (dim === BATCH && i > 0))))
    throw call.invalid('it copies a size that does not exist')
  if (shape.filter((dim) => dim === -1).length > 1) throw call.invalid('it has more than one unknown size')
  if (isBatched(x)) {
    if (shape[0] !== 0 && shape[0] !== -1) throw call.mixed('it gives the batch a size')
    dims[0] = BATCH
    if (open === 0) open = -1
  }
  const elements = rowElements(x.dims)
  const others = dims.reduce((product, dim, i) => (i === open || dim === BATCH ? product : product * dim), 1)
  if (open >= 0) dims[open] = elements / others
  if (!Number.isInteger(elements / others) || rowElements(dims) !== elements)
    throw call.invalid(`it reshapes ${elements} elements into ${others}`)
  return of(x, dims)
}

function concat(call: OperatorCall): Value {
  const first = call.value(0, ...anyType)
  const axis = call.axis(call.integer('axis', 0), first.dims.length, first.dims)
  const dims = [...first.dims]
  for (let i = 1; i < call.count; i++) {
    const next = call.value(i, first.type)
    if (isBatched(next) !== isBatched(first))
      throw call.mixed('it concatenates a batched input with one that is not batched')
    if (next.dims.length !== dims.length || next.dims.some((dim, at) => at !== axis && dim !== dims[at]))
      throw call.invalid(`the shape of its input ${i} does not match the others`)
    dims[axis] += next.dims[axis]
  }
  return of(first, dims)
}

/** Rows of a table by indices of the batch, or a fixed choice of columns. ONNX Runtime holds each index to the table. */
function gather(call: OperatorCall): Value {
  const table = call.value(0, ...anyType)
  const indices = call.value(1, 'int32', 'int64')
  const axis = call.axis(call.integer('axis', 0), table.dims.length, table.dims)
  if (isBatched(indices) && (isBatched(table) || axis !== 0))
    throw call.mixed('it gathers from rows of the batch by rows of the batch')
  const rest = table.dims.slice(axis + 1)
  const dims = [...table.dims.slice(0, axis), ...indices.dims, ...rest]
  call.work = (128 * rowElements(dims)) / rowElements(rest)
  return of(table, dims)
}

function slice(call: OperatorCall): Value {
  const x = call.value(0, ...anyType)
  const starts = call.constant(1)
  const ends = call.constant(2)
  const given = call.optional(3, 'int32', 'int64') === null ? starts.map((_, i) => i) : call.constant(3)
  const steps = call.optional(4, 'int32', 'int64') === null ? starts.map(() => 1) : call.constant(4)
  if (ends.length !== starts.length || given.length !== starts.length || steps.length !== starts.length)
    throw call.invalid('its bounds are lists of different lengths')
  const axes = call.axes(given, x.dims.length, x.dims)
  const dims = [...x.dims]
  axes.forEach((axis, i) => {
    dims[axis] = sliceLength(dims[axis], starts[i], ends[i], steps[i])
    if (!(dims[axis] >= 1)) throw call.invalid('its result is empty')
  })
  return of(x, dims)
}

/** NumPy's rule: negative bounds count from the end, and bounds beyond the ends are those. Zero steps give NaN. */
function sliceLength(size: number, start: number, end: number, step: number): number {
  const from = (bound: number) => (bound < 0 ? bound + size : bound)
  const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high)
  if (step > 0) return Math.ceil((clamp(from(end), 0, size) - clamp(from(start), 0, size)) / step)
  if (step < 0) return Math.ceil((clamp(from(start), -1, size - 1) - clamp(from(end), -1, size - 1)) / -step)
  return Number.NaN
}
