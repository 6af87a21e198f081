import { goodModel } from './good-models.ts'
import { attribute, FLOAT, floats, INT64, integers, message, node, value } from './onnx-writer.ts'

/**
 * Models that the walk refuses and that hurt where they are loaded all the same: to show that the process holds them.
 * Inputs and outputs are those of the good model.
 */

const BOOL = 9
const heads = [
  node('Gemm', ['features', 'w.logits'], 'logits'),
  node('MatMul', ['features', 'w.value'], 'value.column'),
  node('Squeeze', ['value.column', 'axis'], 'value'),
]
const weights = [floats('w', [2, 4]), floats('w.logits', [4, 2]), floats('w.value', [4, 1]), integers('axis', [1])]

function hostile(nodes: Buffer[], initializers: Buffer[] = []): Buffer {
  return goodModel({ nodes: [...nodes, ...heads], initializers: [...weights, ...initializers] })
}

/** A loop without a last turn: its condition stays true. ONNX Runtime cannot be interrupted in it. */
export const endlessLoop = hostile(
  [
    node('Gemm', ['obs', 'w'], 'sum'),
    node('Loop', ['', 'true', 'sum'], 'features', [
      message(
        [1, 'body'],
        [20, 5],
        [
          6,
          message(
            [1, node('Identity', ['go.in'], 'go.out')],
            [1, node('Tanh', ['x.in'], 'x.out')],
            [2, 'body'],
            [11, value('turn', [], INT64)],
            [11, value('go.in', [], BOOL)],
            [11, value('x.in', ['n', 4])],
            [12, value('go.out', [], BOOL)],
            [12, value('x.out', ['n', 4])],
          ),
        ],
      ),
    ]),
  ],
  [message([2, BOOL], [8, 'true'], [9, Buffer.from([1])])],
)

/** A few bytes that ask for 4 GiB, and for all of it to be written. */
export const memoryBomb = hostile(
  [
    node('ConstantOfShape', ['huge'], 'zeros', [attribute('value', floats('', [1]))]),
    node('ReduceSum', ['zeros', 'first'], 'total', [attribute('keepdims', 0)]),
    node('Gemm', ['obs', 'w'], 'sum'),
    node('Add', ['sum', 'total'], 'features'),
  ],
  [integers('huge', [2 ** 30]), integers('first', [0])],
)

/** Weights in a file of the working folder. */
export const externalWeights = goodModel({
  initializers: [
    message(
      [1, 2],
      [1, 4],
      [2, FLOAT],
      [8, 'w'],
      [13, message([1, 'location'], [2, 'weights.bin'])],
      [13, message([1, 'offset'], [2, '0'])],
      [13, message([1, 'length'], [2, '32'])],
      [14, 1],
    ),
    floats('b', [4]),
    ...weights.slice(1),
  ],
})

/** Finite weights that overflow. */
export const overflow = hostile([
  node('Gemm', ['obs', 'w'], 'sum'),
  ...Array.from({ length: 12 }, (_, i) => node('Exp', [i === 0 ? 'sum' : `x${i}`], i === 11 ? 'features' : `x${i + 1}`)),
])

/** Other numbers at every run. */
export const random = hostile([
  node('Gemm', ['obs', 'w'], 'sum'),
  node('RandomNormalLike', ['sum'], 'features'),
])

/** Adds to every row the sum of all rows: the same at every run of one batch. */
export const rowsMixed = hostile(
  [
    node('Gemm', ['obs', 'w'], 'sum'),
    node('ReduceSum', ['sum', 'first'], 'total', [attribute('keepdims', 1)]),
    node('Add', ['sum', 'total'], 'features'),
  ],
  [integers('first', [0])],
)

/** Takes 64 rows and no other number. */
export const rowsFixed = goodModel({ inputs: [value('obs', [64, 2])] })
