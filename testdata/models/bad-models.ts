import type { ErrorCode } from '@agentgym/contract'
import { goodModel } from './good-models.ts'
import {
  attribute,
  FLOAT,
  floatBytes,
  floats,
  INT64,
  integers,
  message,
  node,
  operatorSet,
  value,
  varint,
  weights,
} from './onnx-writer.ts'

/** A model with one thing wrong, and the code that it has to be refused with. */
export type BadModel = { name: string; code: ErrorCode; why: string; bytes: Buffer }

function bad(name: string, code: ErrorCode, why: string, bytes: Buffer): BadModel {
  return { name, code, why, bytes }
}

const good = goodModel()
const axis = integers('axis', [1])
const heads = [floats('w.logits', [4, 2]), floats('w.value', [4, 1]), axis]
const w = floats('w', [2, 4])
const b = floats('b', [4])

/** The good model with another tensor in the place of the first layer's weights. */
function withWeights(tensor: Buffer): Buffer {
  return goodModel({ initializers: [tensor, b, ...heads] })
}

/** `nodes` lead from `obs` to `features` [batch, 4] in the place of the first layer. */
function withNodes(nodes: Buffer[], initializers: Buffer[] = []): Buffer {
  return goodModel({
    nodes: [
      ...nodes,
      node('Gemm', ['features', 'w.logits'], 'logits'),
      node('MatMul', ['features', 'w.value'], 'value.column'),
      node('Squeeze', ['value.column', 'axis'], 'value'),
    ],
    initializers: [w, b, ...heads, ...initializers],
  })
}

const layer = node('Gemm', ['obs', 'w', 'b'], 'sum')

/** An empty graph but for a node that adds 1 to 1: the body of a loop. */
const body = message([1, node('Add', ['i', 'i'], 'o')], [2, 'body'])

const externalEntry = message([1, 'location'], [2, 'secret.bin'])
const inMemoryEntry = message([1, 'location'], [2, '*/_ORT_MEM_ADDR_/*'])

const form: BadModel[] = [
  bad('empty', 'model_opset_unsupported', 'no bytes, which are a message without fields', Buffer.alloc(0)),
  bad('not-a-model', 'model_malformed', 'text', Buffer.from('this is no model\n')),
  bad(
    'pickle',
    'model_field_unknown',
    'a Python pickle, as PyTorch saves',
    Buffer.from('800495100000000000000082', 'hex'),
  ),
  bad('truncated-half', 'model_truncated', 'half of the file', good.subarray(0, good.length >> 1)),
  bad('truncated-one-byte', 'model_truncated', 'the last byte is gone', good.subarray(0, -1)),
  bad(
    'truncated-length',
    'model_truncated',
    'a length beyond the end of the file',
    Buffer.concat([good, Buffer.from([0x32, 0xff, 0xff, 0xff, 0x7f])]),
  ),
  bad(
    'length-2-63',
    'model_malformed',
    'a length of 2^63 - 1',
    Buffer.concat([good, Buffer.from([0x32]), varint(2n ** 63n - 1n)]),
  ),
  bad('length-negative', 'model_malformed', 'a length of -1', Buffer.concat([good, Buffer.from([0x32]), varint(-1)])),
  bad(
    'varint-endless',
    'model_malformed',
    'a number of eleven bytes',
    Buffer.concat([Buffer.from([0x08]), Buffer.alloc(10, 0xff), Buffer.from([0])]),
  ),
  bad(
    'varint-overlong',
    'model_malformed',
    'the version in two bytes instead of one',
    Buffer.concat([Buffer.from([0x08, 0x88, 0x00]), good.subarray(2)]),
  ),
  bad(
    'tag-overlong',
    'model_malformed',
    'a tag in two bytes instead of one',
    Buffer.concat([Buffer.from([0x88, 0x00]), good.subarray(1)]),
  ),
  bad(
    'length-overlong',
    'model_malformed',
    'a length in four bytes instead of one',
    Buffer.concat([good, Buffer.from([0x32, 0x82, 0x80, 0x80, 0x00, 0x61, 0x62])]),
  ),
  bad(
    'packed-overlong',
    'model_malformed',
    'dimensions, packed, one of them in two bytes',
    withWeights(
      message([1, Buffer.from([0x82, 0x00, 0x04])], [2, FLOAT], [8, 'w'], [9, weights(8)]),
    ),
  ),
  bad(
    'ort-format',
    'model_format_forbidden',
    "ONNX Runtime's own format",
    Buffer.from('180000004f52544d000000000c00100000000c0008000400', 'hex'),
  ),
  bad(
    'ort-mark',
    'model_format_forbidden',
    "a producer's name at the place where ONNX Runtime's own format has its mark",
    Buffer.concat([message([1, 8], [2, 'ORTM']), good.subarray(2)]),
  ),
  bad(
    'ort-mark-moved',
    'model_format_forbidden',
    'such a name that would come there when the fields are put in order',
    goodModel({ model: [[2, 'ORTM']] }),
  ),
  bad('field-zero', 'model_malformed', 'a field of the number 0', Buffer.concat([good, Buffer.from([0x02, 0x00])])),
  bad(
    'groups',
    'model_field_unknown',
    'a thousand groups within each other',
    Buffer.concat([good, Buffer.alloc(1_000, 0x53), Buffer.alloc(1_000, 0x54)]),
  ),
  bad('group-as-graph', 'model_malformed', 'the graph as a group', Buffer.from([0x08, 0x08, 0x3b, 0x3c])),
  bad('fixed64', 'model_malformed', 'the version as eight bytes', Buffer.from([0x09, 8, 0, 0, 0, 0, 0, 0, 0])),
  bad(
    'field-unknown',
    'model_field_unknown',
    'a field that no version of ONNX has',
    goodModel({ model: [[1_000, 'x']] }),
  ),
  bad(
    'field-unknown-node',
    'model_field_unknown',
    'such a field in a node',
    withNodes([node('Gemm', ['obs', 'w'], 'features', [], [99, 1])]),
  ),
  bad(
    'field-unknown-tensor',
    'model_field_unknown',
    'such a field in a tensor',
    withWeights(floats('w', [2, 4], undefined, [50, 'x'])),
  ),
  bad(
    'two-graphs',
    'model_field_duplicate',
    'a second graph, which readers merge or replace',
    Buffer.concat([good, message([7, message([2, 'other'])])]),
  ),
  bad('two-models', 'model_field_duplicate', 'the file twice', Buffer.concat([good, good])),
  bad(
    'two-names',
    'model_field_duplicate',
    'a tensor with two names',
    withWeights(floats('w', [2, 4], undefined, [8, 'other'])),
  ),
  bad(
    'two-operators',
    'model_field_duplicate',
    'a node with two operators',
    withNodes([node('Gemm', ['obs', 'w'], 'features', [], [4, 'Loop'])]),
  ),
  bad(
    'size-and-name',
    'model_field_duplicate',
    'a dimension with both a size and a name',
    goodModel({
      inputs: [
        message(
          [1, 'obs'],
          [
            2,
            message([1, message([1, FLOAT], [2, message([1, message([1, 1], [2, 'batch'])], [1, message([1, 2])])])]),
          ],
        ),
      ],
    }),
  ),
  bad('without-graph', 'model_malformed', 'nothing but versions', message([1, 8], [8, operatorSet('', 17)])),
  bad(
    'nodes-too-many',
    'model_too_many_parts',
    'more nodes than are taken',
    goodModel({ nodes: Array.from({ length: 8_193 }, () => message([4, 'Tanh'])) }),
  ),
  bad(
    'opsets-too-many',
    'model_too_many_parts',
    'the operator set a hundred times',
    goodModel({ opsets: Array.from({ length: 100 }, () => operatorSet('', 17)) }),
  ),
  bad(
    'rank-too-high',
    'model_too_many_parts',
    'a tensor of nine dimensions',
    withWeights(floats('w', [1, 1, 1, 1, 1, 1, 1, 2, 4])),
  ),
  bad(
    'unsqueezed',
    'model_too_many_parts',
    'a node that makes twenty dimensions',
    withNodes(
      [layer, node('Unsqueeze', ['sum', 'many'], 'features')],
      [
        integers(
          'many',
          Array.from({ length: 18 }, (_, i) => i + 2),
        ),
      ],
    ),
  ),
  bad(
    'chain-too-long',
    'model_nesting_too_deep',
    'two thousand nodes one after another',
    withNodes([
      node('Gemm', ['obs', 'w'], 'x0'),
      ...Array.from({ length: 2_000 }, (_, i) => node('Tanh', [`x${i}`], i === 1_999 ? 'features' : `x${i + 1}`)),
    ]),
  ),
]

const versions: BadModel[] = [
  bad('opset-old', 'model_opset_unsupported', 'operators of 2018', goodModel({ opsets: [operatorSet('', 8)] })),
  bad(
    'opset-future',
    'model_opset_unsupported',
    'operators that are not there yet',
    goodModel({ opsets: [operatorSet('', 1_000)] }),
  ),
  bad('opset-missing', 'model_opset_unsupported', 'no version of operators', goodModel({ opsets: [] })),
  bad(
    'opset-twice',
    'model_field_duplicate',
    'two versions of operators',
    goodModel({ opsets: [operatorSet('', 17), operatorSet('ai.onnx', 13)] }),
  ),
  bad('ir-old', 'model_opset_unsupported', 'a format in which weights are inputs too', goodModel({ irVersion: 3 })),
  bad('ir-negative', 'model_opset_unsupported', 'a negative version', goodModel({ irVersion: -1 })),
  bad(
    'domain-imported',
    'model_domain_forbidden',
    "asks for another vendor's operators",
    goodModel({ opsets: [operatorSet('', 17), operatorSet('com.microsoft', 1)] }),
  ),
  bad(
    'domain-of-node',
    'model_domain_forbidden',
    "a node of another vendor's",
    withNodes([node('Gemm', ['obs', 'w'], 'features', [], [7, 'com.evil'])]),
  ),
]

const parts: BadModel[] = [
  bad(
    'external-data',
    'model_external_data',
    'weights in a file beside the model',
    withWeights(message([1, 2], [1, 4], [2, FLOAT], [8, 'w'], [13, externalEntry], [14, 1])),
  ),
  bad(
    'external-data-default',
    'model_external_data',
    'a file is named, the location says otherwise',
    withWeights(floats('w', [2, 4], undefined, [13, externalEntry], [14, 0])),
  ),
  bad(
    'external-location-only',
    'model_external_data',
    'the location says elsewhere, no file is named',
    withWeights(floats('w', [2, 4], undefined, [14, 1])),
  ),
  bad(
    'external-in-memory',
    'model_external_data',
    "ONNX Runtime's marker for an address in memory",
    withWeights(message([1, 2], [1, 4], [2, FLOAT], [8, 'w'], [13, inMemoryEntry], [14, 1])),
  ),
  bad(
    'external-in-attribute',
    'model_external_data',
    "a node's constant in a file",
    withNodes([
      layer,
      node('Constant', [], 'c', [attribute('value', message([1, 4], [2, FLOAT], [13, externalEntry], [14, 1]))]),
      node('Add', ['sum', 'c'], 'features'),
    ]),
  ),
  bad(
    'external-in-unused',
    'model_external_data',
    'in a tensor that no node reads',
    goodModel({
      initializers: [w, b, ...heads, message([1, 4], [2, FLOAT], [8, 'unused'], [13, externalEntry], [14, 1])],
    }),
  ),
  bad(
    'data-location-other',
    'model_malformed',
    'a location that is neither here nor elsewhere',
    withWeights(floats('w', [2, 4], undefined, [14, 7])),
  ),
  bad(
    'sparse-initializer',
    'model_part_forbidden',
    'weights as a sparse tensor, its numbers in a file',
    goodModel({
      graph: [[15, message([1, message([1, 1], [2, FLOAT], [8, 'w'], [13, externalEntry], [14, 1])], [3, 2])]],
    }),
  ),
  bad(
    'sparse-attribute',
    'model_part_forbidden',
    "a node's constant as a sparse tensor",
    withNodes([node('Constant', [], 'features', [message([1, 'sparse_value'], [20, 11], [22, message([3, 4])])])]),
  ),
  bad(
    'training-info',
    'model_part_forbidden',
    'instructions for training, with a graph',
    goodModel({ model: [[20, message([1, body])]] }),
  ),
  bad(
    'quantisation',
    'model_part_forbidden',
    'says that tensors are quantised',
    goodModel({ graph: [[14, message([1, 'w'], [2, message([1, 'SCALE_TENSOR'], [2, 'b'])])]] }),
  ),
  bad(
    'devices',
    'model_part_forbidden',
    'spread over devices',
    goodModel({ model: [[26, message([1, 'two'], [2, 2])]] }),
  ),
  bad(
    'segment',
    'model_part_forbidden',
    'a tensor that is a segment of another',
    withWeights(floats('w', [2, 4], undefined, [3, message([1, 0], [2, 8])])),
  ),
  bad(
    'functions',
    'model_function_forbidden',
    'a function of its own, which calls itself',
    goodModel({
      model: [[25, message([1, 'Tanh'], [7, node('Tanh', ['x'], 'y')], [9, operatorSet('', 17)])]],
    }),
  ),
  bad(
    'overload',
    'model_function_forbidden',
    'an overload of a function',
    withNodes([node('Gemm', ['obs', 'w'], 'features', [], [8, 'other'])]),
  ),
  bad(
    'attribute-of-function',
    'model_function_forbidden',
    "refers to a function's attribute",
    withNodes([layer, node('LeakyRelu', ['sum'], 'features', [message([1, 'alpha'], [20, 1], [21, 'slope'])])]),
  ),
  bad(
    'loop',
    'model_subgraph_forbidden',
    'a loop that never ends',
    withNodes([layer, node('Loop', ['', 'true', 'sum'], 'features', [message([1, 'body'], [6, body], [20, 5])])]),
  ),
  bad(
    'if',
    'model_subgraph_forbidden',
    'a branch',
    withNodes([node('If', ['c'], 'features', [message([1, 'then_branch'], [6, body], [20, 5])])]),
  ),
  bad(
    'scan',
    'model_subgraph_forbidden',
    'a scan',
    withNodes([node('Scan', ['obs'], 'features', [message([1, 'body'], [6, body], [20, 5])])]),
  ),
  bad(
    'graph-in-known-operator',
    'model_subgraph_forbidden',
    'a graph in a node that takes none',
    withNodes([node('Gemm', ['obs', 'w'], 'features', [message([1, 'alpha'], [6, body], [20, 1])])]),
  ),
  bad(
    'graphs-attribute',
    'model_subgraph_forbidden',
    'a list of graphs',
    withNodes([node('Gemm', ['obs', 'w'], 'features', [message([1, 'x'], [11, body], [20, 10])])]),
  ),
  bad(
    'loop-without-graph',
    'model_operator_forbidden',
    'a loop whose body is left out',
    withNodes([layer, node('Loop', ['', '', 'sum'], 'features')]),
  ),
  bad(
    'operator-random',
    'model_operator_forbidden',
    'gives other numbers at every run',
    withNodes([layer, node('RandomNormalLike', ['sum'], 'features')]),
  ),
  bad(
    'operator-inherited',
    'model_operator_forbidden',
    'an operator named like a property of every object',
    withNodes([node('constructor', ['obs'], 'features')]),
  ),
  bad(
    'operator-dropout',
    'model_operator_forbidden',
    'a layer that only training needs',
    withNodes([layer, node('Dropout', ['sum'], 'features')]),
  ),
  bad(
    'operator-recurrent',
    'model_operator_forbidden',
    'a recurrent layer',
    withNodes([layer, node('LSTM', ['sum', 'w', 'w'], 'features')]),
  ),
]

const names: BadModel[] = [
  bad(
    'name-not-utf-8',
    'model_name_invalid',
    'a byte that is no UTF-8',
    withNodes([message([1, 'obs'], [1, 'w'], [2, 'features'], [3, Buffer.from([0xc3, 0x28])], [4, 'Gemm'])]),
  ),
  bad(
    'name-escape',
    'model_name_invalid',
    'a name that a terminal obeys',
    withNodes([node('Gemm', ['obs', 'w'], 'features', [], [3, '\u001b[2J'])]),
  ),
  bad('name-nul', 'model_name_invalid', 'a NUL', withNodes([node('Gemm', ['obs\0', 'w'], 'features')])),
  bad('name-empty', 'model_name_invalid', 'an initializer without a name', withWeights(floats('', [2, 4]))),
  bad(
    'name-long',
    'model_string_too_long',
    'a name of a kilobyte',
    withNodes([node('Gemm', ['obs', 'w'], 'features', [], [3, 'n'.repeat(1_024)])]),
  ),
  bad('documentation-long', 'model_string_too_long', 'a long text', goodModel({ model: [[6, 'x'.repeat(65_537)]] })),
  bad(
    'name-twice',
    'model_name_duplicate',
    'two nodes give one name',
    withNodes([node('Gemm', ['obs', 'w'], 'features'), node('Gemm', ['obs', 'w'], 'features')]),
  ),
  bad(
    'initializer-twice',
    'model_name_duplicate',
    'two tensors of one name',
    goodModel({ initializers: [w, w, b, ...heads] }),
  ),
  bad(
    'initializer-as-input',
    'model_name_duplicate',
    'a tensor named as the input is',
    goodModel({ initializers: [w, b, ...heads, floats('obs', [1, 2])] }),
  ),
  bad(
    'declared-twice',
    'model_name_duplicate',
    'a shape declared twice',
    goodModel({ declared: [value('sum', ['n', 4]), value('sum', ['n', 4])] }),
  ),
  bad(
    'name-unknown',
    'model_name_undefined',
    'a node reads what is not there',
    withNodes([node('Gemm', ['obs', 'nowhere'], 'features')]),
  ),
  bad(
    'cycle',
    'model_name_undefined',
    'two nodes that read each other',
    withNodes([node('Add', ['obs', 'y'], 'x'), node('Add', ['obs', 'x'], 'y'), node('Gemm', ['y', 'w'], 'features')]),
  ),
  bad(
    'order',
    'model_name_undefined',
    'a node before the one that it reads',
    withNodes([node('Tanh', ['sum'], 'features'), layer]),
  ),
  bad(
    'declared-unknown',
    'model_name_undefined',
    'the shape of what is not there',
    goodModel({ declared: [value('ghost', ['n', 4])] }),
  ),
]

const tensors: BadModel[] = [
  bad(
    'half-precision',
    'model_type_unsupported',
    'weights of two bytes',
    withWeights(message([1, 2], [1, 4], [2, 10], [8, 'w'], [9, Buffer.alloc(16)])),
  ),
  bad(
    'doubles',
    'model_type_unsupported',
    'weights of eight bytes',
    withWeights(message([1, 2], [1, 4], [2, 11], [8, 'w'], [9, Buffer.alloc(64)])),
  ),
  bad(
    'strings',
    'model_type_unsupported',
    'a tensor of strings',
    withWeights(message([1, 1], [2, 8], [8, 'w'], [6, 'text'])),
  ),
  bad(
    'type-beyond-int32',
    'model_type_unsupported',
    'a type of 2^32 + 1, which some readers cut to 1',
    withWeights(message([1, 2], [1, 4], [2, 2n ** 32n + 1n], [8, 'w'], [9, weights(8)])),
  ),
  bad(
    'integers-added',
    'model_type_unsupported',
    'integers where numbers belong',
    withNodes([layer, node('Div', ['axis', 'axis'], 'one'), node('Identity', ['sum'], 'features')]),
  ),
  bad(
    'sequence',
    'model_type_unsupported',
    'an input that is a sequence',
    goodModel({ inputs: [message([1, 'obs'], [2, message([4, message([1, message([1, message([1, FLOAT])])])])])] }),
  ),
  bad(
    'dimension-zero',
    'model_shape_invalid',
    'a dimension of 0',
    withWeights(message([1, 0], [1, 4], [2, FLOAT], [8, 'w'], [9, ''])),
  ),
  bad(
    'dimension-negative',
    'model_shape_invalid',
    'a dimension of -1',
    withWeights(message([1, -1], [1, 4], [2, FLOAT], [8, 'w'], [9, weights(4)])),
  ),
  bad(
    'dimensions-overflow',
    'model_shape_invalid',
    'dimensions whose product is 0 in 64 bits',
    withWeights(message([1, 2n ** 32n], [1, 2n ** 32n], [2, FLOAT], [8, 'w'], [9, ''])),
  ),
  bad(
    'dimension-2-62',
    'model_malformed',
    'a dimension of 2^62',
    withWeights(message([1, 2n ** 62n], [2, FLOAT], [8, 'w'], [9, ''])),
  ),
  bad('tensor-short', 'model_tensor_size_mismatch', 'a number too few', withWeights(floats('w', [2, 4], weights(7)))),
  bad('tensor-long', 'model_tensor_size_mismatch', 'a number too many', withWeights(floats('w', [2, 4], weights(9)))),
  bad(
    'tensor-huge',
    'model_tensor_size_mismatch',
    '75 bytes that say they are 4 GB',
    withWeights(message([1, 2 ** 30], [2, FLOAT], [8, 'w'], [9, weights(8)])),
  ),
  bad(
    'tensor-empty',
    'model_tensor_size_mismatch',
    'no numbers at all',
    withWeights(message([1, 2], [1, 4], [2, FLOAT], [8, 'w'])),
  ),
  bad(
    'tensor-two-places',
    'model_tensor_size_mismatch',
    'its numbers twice, in two forms',
    withWeights(floats('w', [2, 4], undefined, [4, floatBytes(1, 2, 3, 4, 5, 6, 7, 8)])),
  ),
  bad(
    'tensor-other-form',
    'model_tensor_size_mismatch',
    'numbers in the form of another type',
    withWeights(message([1, 2], [1, 4], [2, FLOAT], [8, 'w'], [7, Buffer.alloc(8, 1)])),
  ),
  bad(
    'integers-short',
    'model_tensor_size_mismatch',
    'an integer too few, as varints',
    goodModel({
      initializers: [w, b, ...heads.slice(0, 2), message([1, 2], [2, INT64], [8, 'axis'], [7, Buffer.from([1])])],
    }),
  ),
  bad(
    'weight-nan',
    'model_weights_not_finite',
    'a weight that is not a number',
    withWeights(floats('w', [2, 4], floatBytes(1, 2, 3, 4, 5, 6, 7, Number.NaN))),
  ),
  bad(
    'weight-infinite',
    'model_weights_not_finite',
    'an infinite weight',
    withWeights(floats('w', [2, 4], floatBytes(Number.NEGATIVE_INFINITY, 2, 3, 4, 5, 6, 7, 8))),
  ),
  bad(
    'weight-nan-packed',
    'model_weights_not_finite',
    'the same in float_data',
    withWeights(message([1, 2], [1, 4], [2, FLOAT], [8, 'w'], [4, floatBytes(1, 2, 3, 4, 5, 6, 7, Number.NaN)])),
  ),
  bad(
    'weight-nan-attribute',
    'model_weights_not_finite',
    'the same in a constant',
    withNodes([
      layer,
      node('Constant', [], 'c', [attribute('value', floats('', [1], floatBytes(Number.NaN)))]),
      node('Add', ['sum', 'c'], 'features'),
    ]),
  ),
  bad(
    'boolean-two',
    'model_malformed',
    'a truth value of 2',
    goodModel({ initializers: [w, b, ...heads, message([1, 1], [2, 9], [8, 'flag'], [9, Buffer.from([2])])] }),
  ),
]

const attributes: BadModel[] = [
  bad(
    'attribute-unknown',
    'model_attribute_invalid',
    'an attribute that the operator does not have',
    withNodes([layer, node('Tanh', ['sum'], 'features', [attribute('alpha', { float: 1 })])]),
  ),
  bad(
    'attribute-inherited',
    'model_attribute_invalid',
    'one named like a property of every object',
    withNodes([layer, node('Tanh', ['sum'], 'features', [attribute('constructor', 1)])]),
  ),
  bad(
    'attribute-kind',
    'model_attribute_invalid',
    'a number where a list belongs',
    withNodes([layer, node('Transpose', ['sum'], 'features', [attribute('perm', 1)])]),
  ),
  bad(
    'attribute-two-kinds',
    'model_attribute_invalid',
    'says that it is one kind and holds another',
    withNodes([
      layer,
      node('Softmax', ['sum'], 'features', [message([1, 'axis'], [2, { float: 1 }], [3, 1], [20, 2])]),
    ]),
  ),
  bad(
    'attribute-twice',
    'model_attribute_invalid',
    'an attribute that stands twice',
    withNodes([layer, node('Softmax', ['sum'], 'features', [attribute('axis', 1), attribute('axis', 0)])]),
  ),
  bad(
    'attribute-nan',
    'model_attribute_invalid',
    'a slope that is not a number',
    withNodes([layer, node('LeakyRelu', ['sum'], 'features', [attribute('alpha', { float: Number.NaN })])]),
  ),
  bad(
    'training-mode',
    'model_attribute_invalid',
    'a normalisation that learns from the batch',
    withNodes([
      layer,
      node('BatchNormalization', ['sum', 'b', 'b', 'b', 'b'], 'features', [attribute('training_mode', 1)]),
    ]),
  ),
  bad(
    'cast-to-string',
    'model_attribute_invalid',
    'numbers made into text',
    withNodes([layer, node('Cast', ['sum'], 'features', [attribute('to', 8)])]),
  ),
  bad(
    'auto-pad',
    'model_attribute_invalid',
    'padding that is left to the reader',
    withNodes(
      [
        node('Unsqueeze', ['obs', 'axis'], 'x'),
        node('Conv', ['x', 'k'], 'y', [attribute('auto_pad', 'SAME_UPPER')]),
        node('Flatten', ['y'], 'features'),
      ],
      [floats('k', [2, 1, 1])],
    ),
  ),
  bad(
    'pad-huge',
    'model_attribute_invalid',
    'two thousand million numbers of padding',
    withNodes(
      [
        node('Unsqueeze', ['obs', 'axis'], 'x'),
        node('Conv', ['x', 'k'], 'y', [attribute('pads', [2_000_000_000, 0])]),
        node('Flatten', ['y'], 'features'),
      ],
      [floats('k', [2, 1, 1])],
    ),
  ),
  bad(
    'stride-zero',
    'model_attribute_invalid',
    'a window that never moves',
    withNodes(
      [
        node('Unsqueeze', ['obs', 'axis'], 'x'),
        node('Conv', ['x', 'k'], 'y', [attribute('strides', [0])]),
        node('Flatten', ['y'], 'features'),
      ],
      [floats('k', [2, 1, 1])],
    ),
  ),
]

const shapes: BadModel[] = [
  bad('layer-too-wide', 'model_shape_invalid', 'weights for three numbers, of two', withWeights(floats('w', [3, 4]))),
  bad(
    'bias-too-wide',
    'model_shape_invalid',
    'a bias of five for four',
    goodModel({ initializers: [w, floats('b', [5]), ...heads] }),
  ),
  bad(
    'inputs-missing',
    'model_shape_invalid',
    'a layer without weights',
    withNodes([node('Gemm', ['obs'], 'features')]),
  ),
  bad(
    'input-left-out',
    'model_shape_invalid',
    'a layer whose weights are left out',
    withNodes([node('Gemm', ['obs', ''], 'features')]),
  ),
  bad(
    'outputs-two',
    'model_shape_invalid',
    'two results where one is',
    withNodes([node('Gemm', ['obs', 'w'], 'features', [], [2, 'second'])]),
  ),
  bad(
    'squeeze-wide',
    'model_shape_invalid',
    'removes a dimension of four',
    withNodes([layer, node('Squeeze', ['sum', 'axis'], 'features')]),
  ),
  bad(
    'slice-nothing',
    'model_shape_invalid',
    'leaves nothing',
    withNodes([layer, node('Slice', ['sum', 'from', 'from', 'axis'], 'features')], [integers('from', [2])]),
  ),
  bad(
    'slice-step-zero',
    'model_shape_invalid',
    'goes in steps of zero',
    withNodes(
      [layer, node('Slice', ['sum', 'axis', 'four', 'axis', 'zero'], 'features')],
      [integers('four', [4]), integers('zero', [0])],
    ),
  ),
  bad(
    'reshape-other-size',
    'model_shape_invalid',
    'four numbers as three',
    withNodes([layer, node('Reshape', ['sum', 'shape'], 'features')], [integers('shape', [0, 3])]),
  ),
  bad(
    'axis-beyond',
    'model_shape_invalid',
    'an axis that is not there',
    withNodes([layer, node('Softmax', ['sum'], 'features', [attribute('axis', 7)])]),
  ),
  bad(
    'declared-wrong',
    'model_shape_mismatch',
    'declares a value smaller than it is',
    goodModel({ declared: [value('sum', ['batch', 1])] }),
  ),
  bad(
    'declared-batch',
    'model_shape_mismatch',
    'declares a batch of one',
    goodModel({ declared: [value('sum', [1, 4])] }),
  ),
  bad(
    'declared-free',
    'model_shape_mismatch',
    'calls a width by the name of the batch',
    goodModel({ declared: [value('sum', ['batch', 'batch'])] }),
  ),
  bad(
    'declared-type',
    'model_shape_mismatch',
    'declares numbers as integers',
    goodModel({ declared: [value('sum', ['batch', 4], INT64)] }),
  ),
  bad(
    'batch-summed',
    'model_batch_mixed',
    'sums over the batch',
    withNodes([layer, node('ReduceSum', ['sum', 'zero'], 'features')], [integers('zero', [0])]),
  ),
  bad(
    'batch-fixed',
    'model_batch_mixed',
    'a batch of four and no other',
    withNodes([layer, node('Add', ['sum', 'square'], 'features')], [floats('square', [4, 4])]),
  ),
  bad(
    'batch-turned',
    'model_batch_mixed',
    'rows become columns',
    withNodes([layer, node('Transpose', ['sum'], 'features')]),
  ),
  bad(
    'batch-joined',
    'model_batch_mixed',
    'one row after another',
    withNodes([layer, node('Concat', ['sum', 'sum'], 'features', [attribute('axis', 0)])]),
  ),
  bad(
    'batch-sized',
    'model_batch_mixed',
    'gives the batch a size',
    withNodes([layer, node('Reshape', ['sum', 'shape'], 'features')], [integers('shape', [1, 4])]),
  ),
  bad(
    'batch-outer',
    'model_batch_mixed',
    'every row with every other',
    withNodes(
      [layer, node('Unsqueeze', ['sum', 'zero'], 'x'), node('Add', ['x', 'sum'], 'features')],
      [integers('zero', [0])],
    ),
  ),
  bad(
    'batch-looked-up',
    'model_batch_mixed',
    'rows of the batch by numbers of the batch',
    withNodes([
      layer,
      node('Cast', ['sum'], 'i', [attribute('to', INT64)]),
      node('Gather', ['sum', 'i'], 'features', [attribute('axis', 0)]),
    ]),
  ),
]

const sizes: BadModel[] = [
  bad(
    'constant-of-shape',
    'model_static_size',
    '75 bytes that ask for 2 GB',
    withNodes(
      [
        layer,
        node('ConstantOfShape', ['huge'], 'x', [attribute('value', floats('', [1]))]),
        node('Identity', ['sum'], 'features'),
      ],
      [integers('huge', [536_870_912])],
    ),
  ),
  bad(
    'expand-huge',
    'model_static_size',
    'the same by Expand',
    withNodes([layer, node('Expand', ['sum', 'huge'], 'features')], [integers('huge', [1, 536_870_912])]),
  ),
  bad(
    'tile-huge',
    'model_static_size',
    'the same by Tile',
    withNodes([layer, node('Tile', ['sum', 'huge'], 'features')], [integers('huge', [1, 536_870_912])]),
  ),
  bad(
    'range-huge',
    'model_static_size',
    'the same by Range',
    withNodes(
      [layer, node('Range', ['a', 'z', 'one'], 'x'), node('Identity', ['sum'], 'features')],
      [integers('a', [0], []), integers('z', [2 ** 40], []), integers('one', [1], [])],
    ),
  ),
  bad(
    'range-endless',
    'model_static_size',
    'steps of zero',
    withNodes(
      [layer, node('Range', ['a', 'z', 'a'], 'x'), node('Identity', ['sum'], 'features')],
      [integers('a', [0], []), integers('z', [9], [])],
    ),
  ),
  bad(
    'reshape-computed',
    'model_static_size',
    'a shape that is computed from the observations',
    withNodes([
      layer,
      node('Cast', ['sum'], 'shape', [attribute('to', INT64)]),
      node('Reshape', ['sum', 'shape'], 'features'),
    ]),
  ),
  bad(
    'expand-computed',
    'model_static_size',
    'the same for Expand',
    withNodes([
      layer,
      node('Cast', ['sum'], 'shape', [attribute('to', INT64)]),
      node('Expand', ['sum', 'shape'], 'features'),
    ]),
  ),
  bad(
    'reduce-all',
    'model_static_size',
    'a sum that names no axes',
    withNodes([layer, node('ReduceSum', ['sum'], 'features')]),
  ),
  bad(
    'doubling',
    'model_intermediate_too_large',
    'a tensor that doubles at every node',
    withNodes([
      node('Identity', ['obs'], 'x0'),
      ...Array.from({ length: 40 }, (_, i) => node('Concat', [`x${i}`, `x${i}`], `x${i + 1}`, [attribute('axis', 1)])),
      node('Gemm', ['obs', 'w'], 'features'),
    ]),
  ),
  bad(
    'broadcast-outer',
    'model_intermediate_too_large',
    'a row of 1,024 by a column of 1,024',
    withNodes(
      [layer, node('Mul', ['row', 'column'], 'x'), node('Identity', ['sum'], 'features')],
      [floats('row', [1, 1_024]), floats('column', [1_024, 1])],
    ),
  ),
  bad(
    'product-outer',
    'model_intermediate_too_large',
    'the same as a product of matrices',
    withNodes(
      [layer, node('MatMul', ['column', 'row'], 'x'), node('Identity', ['sum'], 'features')],
      [floats('row', [1, 1_024]), floats('column', [1_024, 1])],
    ),
  ),
  bad(
    'many-values',
    'model_intermediate_too_large',
    'a hundred large values at once',
    withNodes(
      [
        layer,
        ...Array.from({ length: 100 }, (_, i) => node('Expand', ['sum.one', 'wide'], `x${i}`)),
        node('Identity', ['sum'], 'features'),
      ].flatMap((bytes, i) => (i === 1 ? [node('Unsqueeze', ['sum', 'two'], 'sum.one'), bytes] : [bytes])),
      [integers('two', [2]), integers('wide', [1, 1, 16_384])],
    ),
  ),
  bad(
    'work',
    'model_work_too_large',
    'matrices of 512 × 512, one after another, of next to no weights',
    withNodes(
      [
        node('Identity', ['obs'], 'x0'),
        ...Array.from({ length: 17 }, (_, i) =>
          node('Concat', [`x${i}`, `x${i}`], `x${i + 1}`, [attribute('axis', 1)]),
        ),
        node('Reshape', ['x17', 'square'], 'y0'),
        ...Array.from({ length: 4 }, (_, i) => node('MatMul', [`y${i}`, `y${i}`], `y${i + 1}`)),
        node('Gemm', ['obs', 'w'], 'features'),
      ],
      [integers('square', [0, 512, 512])],
    ),
  ),
]

const policy: BadModel[] = [
  bad(
    'input-other-name',
    'model_input_mismatch',
    'an input that the policy does not have',
    goodModel({ inputs: [value('observation', ['batch', 2])] }),
  ),
  bad(
    'input-other-size',
    'model_input_mismatch',
    'three numbers, where the policy has two',
    goodModel({ inputs: [value('obs', ['batch', 3])] }),
  ),
  bad(
    'input-fixed-batch',
    'model_input_mismatch',
    'a batch of one and no other',
    goodModel({ inputs: [value('obs', [1, 2])] }),
  ),
  bad(
    'input-integers',
    'model_input_mismatch',
    'integers, where the policy has numbers',
    goodModel({ inputs: [value('obs', ['batch', 2], INT64)] }),
  ),
  bad('input-missing', 'model_input_mismatch', 'no input at all', goodModel({ inputs: [] })),
  bad(
    'input-more',
    'model_input_mismatch',
    'another input beside it',
    goodModel({ inputs: [value('obs', ['batch', 2]), value('secret', ['batch', 2])] }),
  ),
  bad(
    'input-twice',
    'model_name_duplicate',
    'the input twice',
    goodModel({ inputs: [value('obs', ['batch', 2]), value('obs', ['batch', 2])] }),
  ),
  bad(
    'output-other-size',
    'model_output_mismatch',
    'three choices, where the policy has two',
    goodModel({ initializers: [w, b, floats('w.logits', [4, 3]), ...heads.slice(1)] }),
  ),
  bad(
    'output-declared-other',
    'model_output_mismatch',
    'declares three choices and gives two',
    goodModel({ outputs: [value('logits', ['batch', 3]), value('value', ['batch'])] }),
  ),
  bad('output-missing', 'model_output_mismatch', 'no value', goodModel({ outputs: [value('logits', ['batch', 2])] })),
  bad(
    'output-more',
    'model_output_mismatch',
    'another output beside them',
    goodModel({ outputs: [value('logits', ['batch', 2]), value('value', ['batch']), value('hidden', ['batch', 4])] }),
  ),
  bad(
    'output-twice',
    'model_output_mismatch',
    'an output twice',
    goodModel({ outputs: [value('logits', ['batch', 2]), value('logits', ['batch', 2]), value('value', ['batch'])] }),
  ),
  bad(
    'output-constant',
    'model_output_mismatch',
    'an output that no node makes',
    goodModel({
      nodes: [layer, node('MatMul', ['sum', 'w.value'], 'v'), node('Squeeze', ['v', 'axis'], 'value')],
      initializers: [w, b, ...heads.slice(1), floats('logits', [1, 2])],
    }),
  ),
  bad(
    'output-wide-value',
    'model_output_mismatch',
    'a value of two dimensions',
    goodModel({
      nodes: [layer, node('Gemm', ['sum', 'w.logits'], 'logits'), node('MatMul', ['sum', 'w.value'], 'value')],
    }),
  ),
  bad(
    'output-without-shape',
    'model_shape_mismatch',
    'an output without a shape',
    goodModel({ outputs: [message([1, 'logits'], [2, message([1, message([1, FLOAT])])]), value('value', ['batch'])] }),
  ),
]

export const badModels: BadModel[] = [
  ...form,
  ...versions,
  ...parts,
  ...names,
  ...tensors,
  ...attributes,
  ...shapes,
  ...sizes,
  ...policy,
]
