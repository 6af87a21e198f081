import type { PolicySpec } from '@agentgym/contract'
import { attribute, encodeParts, floats, integers, type ModelParts, node, operatorSet, value } from './onnx-writer.ts'

/** A policy that sees `size` numbers and chooses one of two. */
export function policyOf(size: number): PolicySpec {
  return {
    version: 1,
    observation: [{ name: 'obs', kind: 'box', offset: 0, size, counts: [], shape: [size] }],
    action: [
      {
        name: 'action',
        kind: 'discrete',
        offset: 0,
        size: 1,
        counts: [2],
        distributionOffset: 0,
        maskOffset: 0,
        logStdOffset: 0,
        low: [],
        high: [],
        center: [],
        scale: [],
        start: 0,
      },
    ],
    hidden: [4],
    activation: 'tanh',
    embedding: 16,
    normalizeObservation: false,
  }
}

export const goodPolicy = policyOf(2)

/** The parts of a small model that nothing is wrong with; `change` replaces some of them. */
export function goodParts(change: Partial<ModelParts> = {}): ModelParts {
  return {
    irVersion: 8,
    opsets: [operatorSet('', 17)],
    nodes: [
      node('Gemm', ['obs', 'w', 'b'], 'sum'),
      node('Tanh', ['sum'], 'hidden'),
      node('Gemm', ['hidden', 'w.logits'], 'logits'),
      ...valueNodes('hidden', 'w.value'),
    ],
    initializers: [
      floats('w', [2, 4]),
      floats('b', [4]),
      floats('w.logits', [4, 2]),
      floats('w.value', [4, 1]),
      integers('axis', [1]),
    ],
    inputs: [value('obs', ['batch', 2])],
    outputs: [value('logits', ['batch', 2]), value('value', ['batch'])],
    declared: [],
    graph: [],
    model: [],
    ...change,
  }
}

export function goodModel(change: Partial<ModelParts> = {}): Buffer {
  return encodeParts(goodParts(change))
}

function valueNodes(features: string, matrix: string): Buffer[] {
  return [node('MatMul', [features, matrix], 'value.column'), node('Squeeze', ['value.column', 'axis'], 'value')]
}

/** A model of its own policy that passes, whatever made it. */
export type GoodModel = { name: string; policy: PolicySpec; bytes: Buffer }

/** `nodes` lead from `obs` to `features` [batch, width]; the heads are added. */
function architecture(
  name: string,
  size: number,
  width: number,
  nodes: Buffer[],
  initializers: Buffer[],
  opset = 17,
): GoodModel {
  const bytes = goodModel({
    opsets: [operatorSet('', opset)],
    nodes: [...nodes, node('Gemm', ['features', 'w.logits'], 'logits'), ...valueNodes('features', 'w.value')],
    initializers: [
      ...initializers,
      floats('w.logits', [width, 2]),
      floats('w.value', [width, 1]),
      integers('axis', [1]),
    ],
    inputs: [value('obs', ['batch', size])],
  })
  return { name, policy: policyOf(size), bytes }
}

/** What other exporters write: every operator of the list, beside those of our own exports. */
export const goodModels: GoodModel[] = [
  { name: 'two layers', policy: goodPolicy, bytes: goodModel() },
  {
    name: 'with documentation, metadata and declared shapes',
    policy: goodPolicy,
    bytes: goodModel({
      declared: [value('hidden', ['batch', 4]), value('sum', [null, 4])],
      graph: [[10, 'a graph']],
      model: [
        [2, 'pytorch'],
        [3, '2.11'],
        [6, 'a model'],
      ],
    }),
  },
  architecture(
    'convolutions, pools and normalisations',
    3 * 12 * 12,
    8,
    [
      node('Reshape', ['obs', 'image'], 'x0'),
      node('Conv', ['x0', 'w1', 'b1'], 'x1', [
        attribute('strides', [2, 2]),
        attribute('pads', [1, 1, 1, 1]),
        attribute('kernel_shape', [3, 3]),
      ]),
      node('BatchNormalization', ['x1', 'b1', 'b1', 'b1', 'ones'], 'x2', [attribute('epsilon', { float: 1e-5 })]),
      node('LeakyRelu', ['x2'], 'x3', [attribute('alpha', { float: 0.1 })]),
      node('MaxPool', ['x3'], 'x4', [attribute('kernel_shape', [2, 2])]),
      node('Conv', ['x4', 'w2'], 'x5', [attribute('group', 2), attribute('dilations', [2, 1])]),
      node('AveragePool', ['x5'], 'x6', [
        attribute('kernel_shape', [2, 2]),
        attribute('strides', [1, 2]),
        attribute('pads', [1, 0, 1, 0]),
      ]),
      node('GlobalAveragePool', ['x6'], 'x7'),
      node('Flatten', ['x7'], 'features'),
    ],
    [
      integers('image', [0, 3, 12, 12]),
      floats('w1', [6, 3, 3, 3]),
      floats('b1', [6]),
      floats('ones', [6], Buffer.from(new Float32Array(6).fill(1).buffer)),
      floats('w2', [8, 3, 2, 2]),
    ],
  ),
  architecture(
    'a convolution over time, and sums',
    4 * 9,
    4,
    [
      node('Reshape', ['obs', 'series'], 'x0'),
      node('Conv', ['x0', 'w1'], 'x1', [attribute('kernel_shape', [3]), attribute('pads', [1, 0])]),
      node('ReduceMean', ['x1'], 'x2', [attribute('axes', [2]), attribute('keepdims', 1)]),
      node('ReduceMax', ['x1'], 'x3', [attribute('axes', [-1]), attribute('keepdims', 1)]),
      node('ReduceMin', ['x1'], 'x4', [attribute('axes', [2])]),
      node('Max', ['x2', 'x3', 'x4'], 'x5'),
      node('Min', ['x5', 'x2'], 'x6'),
      node('Squeeze', ['x6', 'last'], 'features'),
    ],
    [integers('series', [-1, 4, 9]), floats('w1', [4, 4, 3]), integers('last', [-1])],
  ),
  architecture(
    'attention',
    5 * 6,
    6,
    [
      node('Reshape', ['obs', 'tokens'], 'x0'),
      node('LayerNormalization', ['x0', 'scale', 'scale'], 'x1', [attribute('axis', -1)]),
      node('MatMul', ['x1', 'w.q'], 'q'),
      node('MatMul', ['x1', 'w.k'], 'k'),
      node('Transpose', ['k'], 'k.turned', [attribute('perm', [0, 2, 1])]),
      node('MatMul', ['q', 'k.turned'], 'scores'),
      node('Softmax', ['scores'], 'attention', [attribute('axis', -1)]),
      node('MatMul', ['attention', 'x0'], 'x2'),
      node('ReduceSum', ['x2', 'one'], 'features', [attribute('keepdims', 0)]),
    ],
    [
      integers('tokens', [0, 5, -1]),
      floats('scale', [6]),
      floats('w.q', [6, 6]),
      floats('w.k', [6, 6]),
      integers('one', [1]),
    ],
  ),
  architecture(
    'one number at a time',
    4,
    4,
    [
      node('Abs', ['obs'], 'x0'),
      node('Sqrt', ['x0'], 'x1'),
      node('Sigmoid', ['x1'], 'x2'),
      node('Log', ['x2'], 'x3'),
      node('Neg', ['x3'], 'x4'),
      node('Exp', ['x4'], 'x5'),
      node('Reciprocal', ['x5'], 'x6'),
      node('Softplus', ['x6'], 'x7'),
      node('Softsign', ['x7'], 'x8'),
      node('Erf', ['x8'], 'x9'),
      node('Elu', ['x9'], 'x10', [attribute('alpha', { float: 0.5 })]),
      node('Relu', ['x10'], 'x11'),
      node('Identity', ['x11'], 'x12'),
      node('LogSoftmax', ['x12'], 'x13'),
      node('Sub', ['x13', 'row'], 'x14'),
      node('Div', ['x14', 'row'], 'x15'),
      node('Mul', ['x15', 'scalar'], 'x16'),
      node('Add', ['x16', 'obs'], 'x17'),
      node('Clip', ['x17', 'scalar', ''], 'features'),
    ],
    [
      floats('row', [1, 4], Buffer.from(new Float32Array(4).fill(2).buffer)),
      floats('scalar', [], Buffer.from(new Float32Array(1).fill(0.5).buffer)),
    ],
  ),
  architecture(
    'columns taken apart and sizes that stand in the file',
    6,
    10,
    [
      node('Constant', [], 'zeros', [attribute('value', integers('', [0, 0, 0]))]),
      node('Slice', ['obs', 'start', 'end', 'axes', 'step'], 'x0'),
      node('Gather', ['obs', 'choice'], 'x1', [attribute('axis', 1)]),
      node('Cast', ['x1'], 'x2', [attribute('to', 7)]),
      node('Equal', ['x2', 'zeros'], 'x3'),
      node('Cast', ['x3'], 'x4', [attribute('to', 1)]),
      node('ConstantOfShape', ['shape'], 'ones', [
        attribute('value', floats('', [1], Buffer.from(new Float32Array(1).fill(1).buffer))),
      ]),
      node('Range', ['from', 'to', 'by'], 'numbers'),
      node('Cast', ['numbers'], 'numbers.float', [attribute('to', 1)]),
      node('Unsqueeze', ['x0', 'axis'], 'x5'),
      node('Tile', ['x5', 'repeats'], 'x6'),
      node('Flatten', ['x6'], 'x7'),
      node('Expand', ['ones', 'wide'], 'ones.wide'),
      node('Mul', ['x7', 'ones.wide'], 'x8'),
      node('Mul', ['x4', 'numbers.float'], 'x9'),
      node('Concat', ['x8', 'x9', 'x0'], 'x10', [attribute('axis', -1)]),
      node('Slice', ['x10', 'zero', 'ten', 'axes'], 'features'),
    ],
    [
      integers('start', [-1]),
      integers('end', [0]),
      integers('axes', [1]),
      integers('step', [-2]),
      integers('choice', [0, 2, 5]),
      integers('shape', [1, 1]),
      integers('from', [2], []),
      integers('to', [8], []),
      integers('by', [2], []),
      integers('repeats', [1, 2, 1]),
      integers('wide', [1, 6]),
      integers('zero', [0]),
      integers('ten', [10]),
    ],
  ),
  architecture('sums by operator set 18', 4, 1, [node('ReduceMean', ['obs', 'axis'], 'features')], [], 18),
]
