import { countElements } from '../read-tensor.ts'
import { broadcastShapes } from './elementwise.ts'
import { isBatched, type OperatorCall, type OperatorTable, type Value } from './operator-call.ts'

/** Elements that an operator may make of nothing but a size. */
const staticElements = 2 ** 16

/**
 * Operators whose output has whatever size an input says: 75 bytes of model can ask for gigabytes. The size must stand in
 * the file and be small. Throws `model_static_size`.
 */
export const sizes: OperatorTable = {
  Constant: { inputs: [0, 0], attributes: { value: 'tensor' }, infer: (call) => call.tensor('value') },
  ConstantOfShape: {
    inputs: [1, 1],
    attributes: { value: 'tensor' },
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
      if (repeats.length !== x.dims.length) throw call.invalid('it has not one repetition for each dimension')
      if (isBatched(x) && repeats[0] !== 1) throw call.mixed('it repeats the batch')
      return { type: x.type, dims: x.dims.map((dim, i) => dim * repeats[i]), integers: null }
    },
  },
  Range: { inputs: [3, 3], infer: range },
}

function small(call: OperatorCall, shape: readonly number[]): readonly number[] {
  if (shape.some((dim) => dim < 1)) throw call.unbounded('it asks for a size below one')
  const elements = shape.reduce((product, dim) => product * dim, 1)
  if (elements > staticElements)
    throw call.unbounded(`it asks for ${elements} elements; at most ${staticElements} are made so`)
  return shape
}

function range(call: OperatorCall): Value {
  const [start, limit, step] = [0, 1, 2].map((i) => {
    if (call.value(i, 'int32', 'int64').dims.length > 0) throw call.invalid(`its input ${i} is no single number`)
    return call.constant(i)[0]
  })
  const count = Math.ceil((limit - start) / step)
  if (!Number.isFinite(count)) throw call.unbounded('it has no end')
  return { type: call.value(0, 'int32', 'int64').type, dims: small(call, [count]), integers: null }
}
