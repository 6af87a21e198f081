import { type ModelWalk, modelFailure, shown } from './model-failure.ts'
import { isOwnDomain, type ModelNode, readNode } from './read-node.ts'
import { type ElementType, elementTypes, type ModelTensor, readTensor } from './read-tensor.ts'
import {
  bytesField,
  bytesFields,
  checkMetadata,
  checkText,
  integerField,
  messageField,
  messageFields,
  readMessage,
  readName,
} from './wire-reader.ts'
import type { WireMessage } from './wire-writer.ts'

/** A dimension as declared: a size, a name, or null where nothing is said. */
export type DeclaredDim = number | string | null

/** An input, an output or a value between nodes, as the file declares it. */
export type DeclaredValue = { name: string; type: ElementType; dims: DeclaredDim[] }

export type ModelGraph = {
  nodes: ModelNode[]
  initializers: ModelTensor[]
  inputs: DeclaredValue[]
  outputs: DeclaredValue[]
  /** `value_info`: shapes that the exporter wrote down beside the graph. */
  declared: DeclaredValue[]
}

/** From the operators' last change of meaning that matters here to the newest that was looked at. */
const opsetVersions = { lowest: 13, highest: 21 } as const
const irVersions = { lowest: 7, highest: 11 } as const

/** What the walk has read of a file, and the message that it would write of it. */
export type WalkedModel = { graph: ModelGraph; opset: number; written: WireMessage }

/**
 * Reads a serialized ModelProto whole: every field of every message is known, bounded and either accepted or rejected.
 * Gives the graph, the version of its operators, and the message of all that was read. Field numbers are those of the
 * official onnx.proto.
 */
export function readModel(bytes: Uint8Array, walk: ModelWalk): WalkedModel {
  let graph: ModelGraph | undefined
  let irVersion = 0
  const opsets: number[] = []
  const what = 'the model'
  const text = (name: string) => bytesField(name, (value) => checkText(value, what, walk))
  const refuse = (name: string, code: 'model_function_forbidden' | 'model_part_forbidden', why: string) =>
    bytesFields(name, 1, () => {
      throw modelFailure(code, `${what} ${why}`)
    })
  const written = readMessage(walk, bytes, what, {
    1: integerField('ir_version', (version) => {
      irVersion = version
    }),
    2: text('producer_name'),
    3: text('producer_version'),
    4: text('domain'),
    5: integerField('model_version', () => {}),
    6: text('doc_string'),
    7: messageField('graph', (message) => {
      graph = { nodes: [], initializers: [], inputs: [], outputs: [], declared: [] }
      return readGraph(message, graph, walk)
    }),
    8: messageFields('opset_import', walk.limits.attributes, (message) => readOperatorSet(message, opsets, walk)),
    14: messageFields('metadata_props', walk.limits.parts, (entry) => checkMetadata(entry, what, walk)),
    20: refuse('training_info', 'model_part_forbidden', 'has training information'),
    25: refuse('functions', 'model_function_forbidden', 'defines functions'),
    26: refuse('configuration', 'model_part_forbidden', 'is distributed over devices'),
  })
  if (irVersion < irVersions.lowest || irVersion > irVersions.highest)
    throw unsupported('IR version', irVersion, irVersions)
  const [opset] = opsets
  if (opsets.length > 1) throw modelFailure('model_field_duplicate', 'it imports two versions of the operator set')
  if (opset === undefined || opset < opsetVersions.lowest || opset > opsetVersions.highest)
    throw unsupported('operator set', opset ?? 0, opsetVersions)
  if (graph === undefined) throw modelFailure('model_malformed', 'it has no graph')
  return { graph, opset, written }
}

function readOperatorSet(message: Uint8Array, opsets: number[], walk: ModelWalk): WireMessage {
  let domain = ''
  let version = 0
  const written = readMessage(walk, message, 'an operator set', {
    1: bytesField('domain', (name) => {
      domain = readName(name, 'an operator set', walk, true)
    }),
    2: integerField('version', (value) => {
      version = value
    }),
  })
  if (!isOwnDomain(domain))
    throw modelFailure('model_domain_forbidden', `it uses operators of the domain ${shown(domain)}`, { domain })
  opsets.push(version)
  return written
}

function unsupported(name: string, given: number, { lowest, highest }: { lowest: number; highest: number }): Error {
  return modelFailure('model_opset_unsupported', `its ${name} is ${given}; it must be ${lowest} to ${highest}`, {
    given,
  })
}

function readGraph(bytes: Uint8Array, graph: ModelGraph, walk: ModelWalk): WireMessage {
  const what = 'the graph'
  const refuse = (name: string, why: string) =>
    bytesFields(name, 1, () => {
      throw modelFailure('model_part_forbidden', `${what} ${why}`)
    })
  const values = (name: string, max: number, list: DeclaredValue[]) =>
    messageFields(name, max, (value) => readValue(value, `${name} ${list.length}`, list, walk))
  return readMessage(walk, bytes, what, {
    1: messageFields('node', walk.limits.nodes, (message) => readNode(message, graph.nodes, walk)),
    2: bytesField('name', (name) => void readName(name, what, walk, true)),
    5: messageFields('initializer', walk.limits.parts, (message) => {
      const { tensor, written } = readTensor(message, `initializer ${graph.initializers.length}`, walk)
      graph.initializers.push(tensor)
      return written
    }),
    10: bytesField('doc_string', (text) => checkText(text, what, walk)),
    11: values('input', walk.limits.parts, graph.inputs),
    12: values('output', walk.limits.parts, graph.outputs),
    13: values('value_info', walk.limits.nodes, graph.declared),
    14: refuse('quantization_annotation', 'has quantization annotations'),
    15: refuse('sparse_initializer', 'contains sparse tensors'),
    16: messageFields('metadata_props', walk.limits.parts, (entry) => checkMetadata(entry, what, walk)),
  })
}

/** ValueInfoProto: a name, an element type and dimensions, added to `list`. */
function readValue(bytes: Uint8Array, what: string, list: DeclaredValue[], walk: ModelWalk): WireMessage {
  let name = ''
  let type: Omit<DeclaredValue, 'name'> | undefined
  const where = () => (name === '' ? what : `${what} (${shown(name)})`)
  const written = readMessage(walk, bytes, what, {
    1: bytesField('name', (text) => {
      name = readName(text, what, walk)
    }),
    2: messageField('type', (message) => {
      type = { type: 'float', dims: [] }
      return readType(message, type, where(), walk)
    }),
    3: bytesField('doc_string', (text) => checkText(text, what, walk)),
    4: messageFields('metadata_props', walk.limits.attributes, (entry) => checkMetadata(entry, what, walk)),
  })
  if (name === '') throw modelFailure('model_name_invalid', `${what} has no name`)
  if (type === undefined) throw modelFailure('model_type_unsupported', `${where()} has no type`)
  list.push({ name, ...type })
  return written
}

/** TypeProto: of its kinds only the tensor. */
function readType(bytes: Uint8Array, value: Omit<DeclaredValue, 'name'>, where: string, walk: ModelWalk): WireMessage {
  let isTensor = false
  const refuse = (name: string) =>
    bytesField(name, () => {
      throw modelFailure('model_type_unsupported', `${where} is not a tensor`)
    })
  const written = readMessage(walk, bytes, where, {
    1: messageField('tensor_type', (message) => {
      isTensor = true
      return readTensorType(message, value, where, walk)
    }),
    4: refuse('sequence_type'),
    5: refuse('map_type'),
    6: bytesField('denotation', (text) => checkText(text, where, walk)),
    7: refuse('opaque_type'),
    8: refuse('sparse_tensor_type'),
    9: refuse('optional_type'),
  })
  if (!isTensor) throw modelFailure('model_type_unsupported', `${where} is not a tensor`)
  return written
}

function readTensorType(
  bytes: Uint8Array,
  value: Omit<DeclaredValue, 'name'>,
  where: string,
  walk: ModelWalk,
): WireMessage {
  let type = 0
  let hasShape = false
  const written = readMessage(walk, bytes, where, {
    1: integerField('elem_type', (given) => {
      type = given
    }),
    2: messageField('shape', (message) => {
      hasShape = true
      return readShape(message, value.dims, where, walk)
    }),
  })
  if (elementTypes[type] === undefined)
    throw modelFailure('model_type_unsupported', `${where} has the element type ${type}`, { type })
  if (!hasShape) throw modelFailure('model_shape_mismatch', `${where} has no shape`)
  value.type = elementTypes[type]
  return written
}

function readShape(bytes: Uint8Array, dims: DeclaredDim[], where: string, walk: ModelWalk): WireMessage {
  return readMessage(walk, bytes, where, {
    1: messageFields('dim', walk.limits.rank, (message) => {
      const given: DeclaredDim[] = []
      const written = readMessage(walk, message, where, {
        1: integerField('dim_value', (value) => given.push(value)),
        2: bytesField('dim_param', (name) => given.push(readName(name, where, walk, true))),
        3: bytesField('denotation', (text) => checkText(text, where, walk)),
      })
      if (given.length > 1)
        throw modelFailure('model_field_duplicate', `${where} has a dimension with both a size and a name`)
      dims.push(given[0] ?? null)
      return written
    }),
  })
}
