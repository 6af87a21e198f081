import { elementTypes } from '../read-tensor.ts'
import { BATCH, type Operator, type OperatorCall, type OperatorTable, type Value } from './operator-call.ts'

const floats: Operator = { inputs: [1, 1], infer: (call) => result(call.value(0).dims) }
const slope: Operator = { ...floats, attributes: { alpha: 'float' } }
const arithmetic: Operator = { inputs: [2, 2], infer: (call) => result(broadcast(call, [0, 1])) }
const variadic: Operator = {
  inputs: [1, 64],
  infer: (call) =>
    result(
      broadcast(
        call,
        Array.from({ length: call.count }, (_, i) => i),
      ),
    ),
}

/** One number at a time: the output has the inputs' own shape, or that to which they broadcast. */
export const elementwise: OperatorTable = {
  Tanh: floats,
  Relu: floats,
  Sigmoid: floats,
  Softplus: floats,
  Softsign: floats,
  Erf: floats,
  Exp: floats,
  Log: floats,
  Sqrt: floats,
  Reciprocal: floats,
  Neg: floats,
  Abs: floats,
  LeakyRelu: slope,
  Elu: slope,
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
          throw call.invalid('a bound is no single number')
      }
      return result(call.value(0).dims)
    },
  },
  Cast: {
    inputs: [1, 1],
    attributes: { to: 'int', saturate: 'int' },
    infer(call) {
      const type = elementTypes[call.integer('to', 0)]
      if (type === undefined) throw call.attribute('to', 'names no type that policies use')
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
  return broadcastShapes(call, shapes)
}

export function broadcastShapes(call: OperatorCall, shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(...shapes.map(({ length }) => length))
  const dims: number[] = new Array(rank).fill(1)
  for (const shape of shapes) {
    const shift = rank - shape.length
    shape.forEach((dim, i) => {
      const at = i + shift
      if (dims[at] === 1 || dims[at] === dim) dims[at] = dim
      else if (dim === BATCH || (dims[at] === BATCH && dim !== 1))
        throw call.mixed('it sets the batch against another size')
      else if (dim !== 1) throw call.invalid(`its inputs have ${dims[at]} and ${dim} where they should agree`)
    })
  }
  if (dims.indexOf(BATCH, 1) !== -1) throw call.mixed('its batch is not the first dimension')
  return dims
}
