import type { ErrorCode } from '@agentgym/contract'
import { type GoodModel, goodModel, policyOf } from './good-models.ts'
import { attribute, FLOAT, floatBytes, floats, INT64, integers, node, value } from './onnx-writer.ts'

/**
 * Small files that ask for as much memory or time as the walk allows: `fits` of something are accepted, `tooMuch` are
 * refused with `code`. Tests run the ones that fit.
 */
export type HeavyModel = {
  name: string
  build: (amount: number) => GoodModel
  fits: number
  tooMuch: number
  code: ErrorCode
}

/** Nodes from `obs` [batch, size] to `x`, of whatever shape, of which the heads read one number. */
function heavy(size: number, nodes: Buffer[], initializers: Buffer[] = []): GoodModel {
  const bytes = goodModel({
    nodes: [
      ...nodes,
      node('Flatten', ['x'], 'flat'),
      node('Slice', ['flat', 'zero', 'one', 'one'], 'features'),
      node('Gemm', ['features', 'w.logits'], 'logits'),
      node('MatMul', ['features', 'w.value'], 'value.column'),
      node('Squeeze', ['value.column', 'one'], 'value'),
    ],
    initializers: [
      ...initializers,
      integers('zero', [0]),
      integers('one', [1]),
      floats('w.logits', [1, 2]),
      floats('w.value', [1, 1]),
    ],
    inputs: [value('obs', ['batch', size])],
  })
  return { name: `heavy of ${size}`, policy: policyOf(size), bytes }
}

const reshaped = (dims: number[]) => ({
  size: dims.reduce((a, b) => a * b, 1),
  first: node('Reshape', ['obs', 'shape'], 'x0'),
  shape: integers('shape', [0, ...dims]),
})

/** So many layers one after another on a tensor of `dims`, without the batch. */
function layers(
  dims: number[],
  count: number,
  layer: (from: string, to: string) => Buffer[],
  initializers: Buffer[] = [],
): GoodModel {
  const { size, first, shape } = reshaped(dims)
  const nodes = Array.from({ length: count }, (_, i) => layer(`x${i}`, i === count - 1 ? 'x' : `x${i + 1}`)).flat()
  return heavy(size, [first, ...nodes], [shape, ...initializers])
}

const ones = (name: string, dims: number[]) =>
  floats(name, dims, floatBytes(...new Array(dims.reduce((a, b) => a * b, 1)).fill(1)))
const window = (...sides: number[]) => attribute('kernel_shape', sides)

function pool(operator: string, side: number, kernel: number): GoodModel {
  return layers([1, side, side], 1, (from, to) => [node(operator, [from], to, [window(kernel, kernel)])])
}

export const heavyModels: HeavyModel[] = [
  {
    name: 'pixels a side of an image, in a convolution of one channel, which is stored as 16',
    build: (side) => layers([1, side, side], 1, (from, to) => [node('Conv', [from, 'k'], to)], [ones('k', [1, 1, 1, 1])]),
    fits: 128,
    tooMuch: 512,
    code: 'model_intermediate_too_large',
  },
  {
    name: 'convolutions of one channel one after another',
    build: (count) =>
      layers([1, 128, 128], count, (from, to) => [node('Conv', [from, 'k'], to)], [ones('k', [1, 1, 1, 1])]),
    fits: 6,
    tooMuch: 8,
    code: 'model_intermediate_too_large',
  },
  {
    name: 'numbers from a convolution, computed further one by one',
    build: (count) =>
      layers(
        [1, 128, 128],
        1,
        (from, to) => [
          node('Conv', [from, 'k'], 'y0'),
          ...Array.from({ length: count }, (_, i) => node('Add', [`y${i}`, `y${i}`], i === count - 1 ? to : `y${i + 1}`)),
        ],
        [ones('k', [1, 1, 1, 1])],
      ),
    fits: 6,
    tooMuch: 8,
    code: 'model_intermediate_too_large',
  },
  {
    name: 'channels of an image, each in a group of its own',
    build: (channels) =>
      layers(
        [channels, 64, 64],
        1,
        (from, to) => [node('Conv', [from, 'k'], to, [attribute('group', channels)])],
        [ones('k', [channels, 1, 9, 9])],
      ),
    fits: 56,
    tooMuch: 57,
    code: 'model_work_too_large',
  },
  {
    name: 'numbers a side of the window of a maximum',
    build: (kernel) => pool('MaxPool', 286, kernel),
    fits: 14,
    tooMuch: 255,
    code: 'model_work_too_large',
  },
  {
    name: 'numbers a side of the window of a mean',
    build: (kernel) => pool('AveragePool', 300, kernel),
    fits: 13,
    tooMuch: 64,
    code: 'model_work_too_large',
  },
  {
    name: 'numbers in the window of a maximum over time',
    build: (kernel) => layers([1, 2 ** 17], 1, (from, to) => [node('MaxPool', [from], to, [window(kernel)])]),
    fits: 116,
    tooMuch: 255,
    code: 'model_work_too_large',
  },
  {
    name: 'times Softmax, turned over and back',
    build: (count) => layers([512, 256], count, (from, to) => [node('Softmax', [from], to, [attribute('axis', 1)])]),
    fits: 4,
    tooMuch: 5,
    code: 'model_intermediate_too_large',
  },
  {
    name: 'normalizations of two numbers each',
    build: (count) =>
      layers([2 ** 16, 2], count, (from, to) => [node('LayerNormalization', [from, 's'], to)], [ones('s', [2])]),
    fits: 3,
    tooMuch: 4,
    code: 'model_work_too_large',
  },
  {
    name: 'numbers that become 64-bit integers',
    build: (size) => layers([size], 1, (from, to) => [
        node('Cast', [from], 'whole', [attribute('to', INT64)]),
        node('Cast', ['whole'], to, [attribute('to', FLOAT)]),
      ]),
    fits: 2 ** 17,
    tooMuch: 2 ** 17 + 1,
    code: 'model_intermediate_too_large',
  },
  {
    name: 'numbers looked up in a table',
    build: (count) =>
      layers(
        [2 ** 16],
        count,
        (from, to) => [
          node('Mul', [from, 'none'], `${to}.zero`),
          node('Cast', [`${to}.zero`], `${to}.index`, [attribute('to', INT64)]),
          node('Gather', ['table', `${to}.index`], to),
        ],
        [ones('table', [64]), floats('none', [], floatBytes(0))],
      ),
    fits: 7,
    tooMuch: 9,
    code: 'model_intermediate_too_large',
  },
  {
    name: 'largest of 64 numbers',
    build: (count) =>
      layers([2 ** 16], count, (from, to) => [node('Max', new Array(64).fill(from), to)]),
    fits: 3,
    tooMuch: 4,
    code: 'model_work_too_large',
  },
  {
    name: 'slow functions',
    build: (count) => layers([2 ** 16], count, (from, to) => [node('Softplus', [from], to)]),
    fits: 3,
    tooMuch: 4,
    code: 'model_work_too_large',
  },
  {
    name: 'sums over an inner axis',
    build: (count) =>
      layers([512, 256], count, (from, to) => [
        node('ReduceMean', [from], `${to}.mean`, [attribute('axes', [1]), attribute('keepdims', 1)]),
        node('Sub', [from, `${to}.mean`], to),
      ]),
    fits: 6,
    tooMuch: 7,
    code: 'model_intermediate_too_large',
  },
  {
    name: 'images turned over',
    build: (count) =>
      layers([8, 8, 8, 8, 8, 4], count, (from, to) => [
        node('Transpose', [from], `${to}.t`, [attribute('perm', [0, 6, 5, 4, 3, 2, 1])]),
        node('Transpose', [`${to}.t`], to, [attribute('perm', [0, 6, 5, 4, 3, 2, 1])]),
      ]),
    fits: 4,
    tooMuch: 5,
    code: 'model_work_too_large',
  },
]
