import { type ModelWalk, modelFailure, shown } from './model-failure.ts'
import { isOwnDomain, type ModelNode, readNode } from './read-node.ts'
import { type ElementType, elementTypes, type ModelTensor, readTensor } from './read-tensor.ts'
import {
  bytesField,
  bytesFields,
  checkMetadata,
  checkText,
  integerField,
  readMessage,
  readName,
} from './wire-reader.ts'

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

/**
 * Reads a serialized ModelProto whole: every field of every message is known, bounded and either accepted or rejected.
 * Gives the graph and the version of its operators. Field numbers are those of the official onnx.proto.
 */
export function readModel(bytes: Uint8Array, walk: ModelWalk): { graph: ModelGraph; opset: number } {
  let graph: Uint8Array | undefined
  let irVersion = 0
  const operatorSets: Uint8Array[] = []
  const what = 'the model'
  const text = (name: string) => bytesField(name, (value) => checkText(value, what, walk))
  const refuse = (name: string, code: 'model_function_forbidden' | 'model_part_forbidden', why: string) =>
    bytesFields(name, 1, () => {
      throw modelFailure(code, `${what} ${why}`)
    })
  readMessage(walk, bytes, what, {
    1: integerField('ir_version', (version) => {
      irVersion = version
    }),
    2: text('producer_name'),
    3: text('producer_version'),
    4: text('domain'),
    5: integerField('model_version', () => {}),
    6: text('doc_string'),
    7: bytesField('graph', (message) => {
      graph = message
    }),
    8: bytesFields('opset_import', walk.limits.attributes, (message) => operatorSets.push(message)),
    14: bytesFields('metadata_props', walk.limits.parts, (entry) => checkMetadata(entry, what, walk)),
    20: refuse('training_info', 'model_part_forbidden', 'holds instructions for training'),
    25: refuse('functions', 'model_function_forbidden', 'defines functions'),
    26: refuse('configuration', 'model_part_forbidden', 'is spread over devices'),
  })
  if (irVersion < irVersions.lowest || irVersion > irVersions.highest)
    throw unsupported('IR version', irVersion, irVersions)
  const opset = readOperatorSets(operatorSets, walk)
  if (graph === undefined) throw modelFailure('model_malformed', 'there is no graph in it')
  return { graph: readGraph(graph, walk), opset }
}

function readOperatorSets(messages: Uint8Array[], walk: ModelWalk): number {
  let opset: number | undefined
  for (const message of messages) {
    let domain = ''
    let version = 0
    readMessage(walk, message, 'an operator set', {
      1: bytesField('domain', (name) => {
        domain = readName(name, 'an operator set', walk, true)
      }),
      2: integerField('version', (value) => {
        version = value
      }),
    })
    if (!isOwnDomain(domain))
      throw modelFailure('model_domain_forbidden', `it asks for operators of the domain ${shown(domain)}`, { domain })
    if (opset !== undefined) throw modelFailure('model_field_duplicate', 'it names two versions of its operators')
    opset = version
  }
  if (opset === undefined || opset < opsetVersions.lowest || opset > opsetVersions.highest)
    throw unsupported('operator set', opset ?? 0, opsetVersions)
  return opset
}

function unsupported(name: string, given: number, { lowest, highest }: { lowest: number; highest: number }): Error {
  return modelFailure('model_opset_unsupported', `its ${name} is ${given}; ${lowest} to ${highest} are taken`, {
    given,
  })
}

function readGraph(bytes: Uint8Array, walk: ModelWalk): ModelGraph {
  const graph: ModelGraph = { nodes: [], initializers: [], inputs: [], outputs: [], declared: [] }
  const what = 'the graph'
  const refuse = (name: string, why: string) =>
    bytesFields(name, 1, () => {
      throw modelFailure('model_part_forbidden', `${what} ${why}`)
    })
  const values = (name: string, max: number, list: DeclaredValue[]) =>
    bytesFields(name, max, (value) => list.push(readValue(value, `${name} ${list.length}`, walk)))
  readMessage(walk, bytes, what, {
    1: bytesFields('node', walk.limits.nodes, (node) => graph.nodes.push(readNode(node, graph.nodes.length, walk))),
    2: bytesField('name', (name) => void readName(name, what, walk, true)),
    5: bytesFields('initializer', walk.limits.parts, (tensor) =>
      graph.initializers.push(readTensor(tensor, `initializer ${graph.initializers.length}`, walk)),
    ),
    10: bytesField('doc_string', (text) => checkText(text, what, walk)),
    11: values('input', walk.limits.parts, graph.inputs),
    12: values('output', walk.limits.parts, graph.outputs),
    13: values('value_info', walk.limits.nodes, graph.declared),
    14: refuse('quantization_annotation', 'says how tensors are quantised'),
    15: refuse('sparse_initializer', 'holds sparse tensors'),
    16: bytesFields('metadata_props', walk.limits.parts, (entry) => checkMetadata(entry, what, walk)),
  })
  return graph
}

/** ValueInfoProto: a name, an element type and dimensions. */
function readValue(bytes: Uint8Array, what: string, walk: ModelWalk): DeclaredValue {
  let name = ''
  let type: Uint8Array | undefined
  readMessage(walk, bytes, what, {
    1: bytesField('name', (text) => {
      name = readName(text, what, walk)
    }),
    2: bytesField('type', (message) => {
      type = message
    }),
    3: bytesField('doc_string', (text) => checkText(text, what, walk)),
    4: bytesFields('metadata_props', walk.limits.attributes, (entry) => checkMetadata(entry, what, walk)),
  })
  if (name === '') throw modelFailure('model_name_invalid', `${what} has no name`)
  const where = `${what} (${shown(name)})`
  if (type === undefined) throw modelFailure('model_type_unsupported', `${where} has no type`)
  return { name, ...readType(type, where, walk) }
}

/** TypeProto: of its kinds only the tensor. */
function readType(bytes: Uint8Array, where: string, walk: ModelWalk): Omit<DeclaredValue, 'name'> {
  let tensor: Uint8Array | undefined
  const refuse = (name: string) =>
    bytesField(name, () => {
      throw modelFailure('model_type_unsupported', `${where} is no tensor`)
    })
  readMessage(walk, bytes, where, {
    1: bytesField('tensor_type', (message) => {
      tensor = message
    }),
    4: refuse('sequence_type'),
    5: refuse('map_type'),
    6: bytesField('denotation', (text) => checkText(text, where, walk)),
    7: refuse('opaque_type'),
    8: refuse('sparse_tensor_type'),
    9: refuse('optional_type'),
  })
  if (tensor === undefined) throw modelFailure('model_type_unsupported', `${where} is no tensor`)
  let type = 0
  let shape: Uint8Array | undefined
  readMessage(walk, tensor, where, {
    1: integerField('elem_type', (value) => {
      type = value
    }),
    2: bytesField('shape', (message) => {
      shape = message
    }),
  })
  if (elementTypes[type] === undefined)
    throw modelFailure('model_type_unsupported', `${where} has the element type ${type}`, { type })
  if (shape === undefined) throw modelFailure('model_shape_mismatch', `${where} has no shape`)
  return { type: elementTypes[type], dims: readShape(shape, where, walk) }
}

function readShape(bytes: Uint8Array, where: string, walk: ModelWalk): DeclaredDim[] {
  const dims: DeclaredDim[] = []
  readMessage(walk, bytes, where, {
    1: bytesFields('dim', walk.limits.rank, (message) => {
      const given: DeclaredDim[] = []
      readMessage(walk, message, where, {
        1: integerField('dim_value', (value) => given.push(value)),
        2: bytesField('dim_param', (name) => given.push(readName(name, where, walk, true))),
        3: bytesField('denotation', (text) => checkText(text, where, walk)),
      })
      if (given.length > 1)
        throw modelFailure('model_field_duplicate', `${where} has a dimension with both a size and a name`)
      dims.push(given[0] ?? null)
    }),
  })
  return dims
}
