import { type ModelWalk, modelFailure, shown } from './model-failure.ts'
import { type ModelTensor, readTensor } from './read-tensor.ts'
import {
  bytesField,
  bytesFields,
  checkMetadata,
  checkText,
  type FieldRule,
  floatField,
  floatFields,
  integerField,
  integerFields,
  messageField,
  messageFields,
  readMessage,
  readName,
} from './wire-reader.ts'
import type { WireMessage } from './wire-writer.ts'

export type AttributeKind = 'int' | 'float' | 'string' | 'ints' | 'floats' | 'tensor'
export type Attribute =
  | { kind: 'int' | 'float'; value: number }
  | { kind: 'ints' | 'floats'; value: number[] }
  | { kind: 'string'; value: string }
  | { kind: 'tensor'; value: ModelTensor }

export type ModelNode = {
  /** The node in messages: `node 3 (Gemm)`. */
  where: string
  operator: string
  /** "" for an optional input that is left out. */
  inputs: string[]
  outputs: string[]
  attributes: Map<string, Attribute>
}

/** AttributeProto.AttributeType of what a policy's operators take. */
const attributeKinds: Readonly<Record<number, AttributeKind>> = {
  1: 'float',
  2: 'int',
  3: 'string',
  4: 'tensor',
  6: 'floats',
  7: 'ints',
}
/** Of a kernel, of pads on both sides. */
const listLength = 16

/** Whether ONNX's own operators are meant: its domain has two names. */
export function isOwnDomain(domain: string): boolean {
  return domain === '' || domain === 'ai.onnx'
}

/**
 * Reads a node with its attributes, and adds it to `nodes`. Gives the node to be written again. Throws `model_domain_forbidden`, `model_subgraph_forbidden`,
 * `model_function_forbidden`, `model_attribute_invalid`, and what reading a tensor throws.
 */
export function readNode(bytes: Uint8Array, nodes: ModelNode[], walk: ModelWalk): WireMessage {
  const node: ModelNode = {
    where: `node ${nodes.length}`,
    operator: '',
    inputs: [],
    outputs: [],
    attributes: new Map(),
  }
  let domain = ''
  const forbidden = (code: 'model_function_forbidden' | 'model_part_forbidden', why: string) => (part: Uint8Array) => {
    if (part.length > 0) throw modelFailure(code, `${node.where} ${why}`)
  }
  const written = readMessage(walk, bytes, node.where, {
    1: bytesFields('input', walk.limits.parts, (name) => node.inputs.push(readName(name, node.where, walk, true))),
    2: bytesFields('output', walk.limits.parts, (name) => node.outputs.push(readName(name, node.where, walk, true))),
    3: bytesField('name', (name) => void readName(name, node.where, walk, true)),
    4: bytesField('op_type', (name) => {
      node.operator = readName(name, node.where, walk)
      node.where = `node ${nodes.length} (${shown(node.operator).slice(1, -1)})`
    }),
    5: messageFields('attribute', walk.limits.attributes, (attribute) => readAttribute(attribute, node, walk)),
    6: bytesField('doc_string', (text) => checkText(text, node.where, walk)),
    7: bytesField('domain', (name) => {
      domain = readName(name, node.where, walk, true)
    }),
    8: bytesField('overload', forbidden('model_function_forbidden', 'has a function overload')),
    9: messageFields('metadata_props', walk.limits.parts, (entry) => checkMetadata(entry, node.where, walk)),
    10: bytesFields('device_configurations', 1, forbidden('model_part_forbidden', 'is distributed over devices')),
  })
  if (!isOwnDomain(domain))
    throw modelFailure('model_domain_forbidden', `${node.where} uses an operator of the domain ${shown(domain)}`, {
      domain,
    })
  if (node.operator === '') throw modelFailure('model_malformed', `${node.where} has no operator`)
  nodes.push(node)
  return written
}

type AttributeFields = {
  name: string
  type: number
  int: number
  float: number
  string: string
  ints: number[]
  floats: number[]
  tensor: ModelTensor | undefined
  /** Kinds of which the attribute holds a value. */
  given: Set<string>
}

function readAttribute(bytes: Uint8Array, { where, attributes }: ModelNode, walk: ModelWalk): WireMessage {
  const { written, ...fields } = readAttributeFields(bytes, `an attribute of ${where}`, walk)
  const { name, type, given } = fields
  if (name === '') throw modelFailure('model_attribute_invalid', `${where} has an attribute without a name`)
  const kind = attributeKinds[type]
  if (kind === undefined) throw invalid(where, name, `has a type (${type}) that no policy operator supports`)
  // A zero or an empty list may be left out of the file.
  for (const other of given)
    if (other !== kind) throw invalid(where, name, `is declared as ${kind} but contains ${other}`)
  if (kind === 'tensor' && fields.tensor === undefined) throw invalid(where, name, 'contains no tensor')
  const numbers = kind === 'float' ? [fields.float] : kind === 'floats' ? fields.floats : []
  if (!numbers.every(Number.isFinite)) throw invalid(where, name, 'is not finite')
  if (attributes.has(name)) throw invalid(where, name, 'occurs twice')
  attributes.set(name, { kind, value: fields[kind] } as Attribute)
  return written
}

function readAttributeFields(
  bytes: Uint8Array,
  what: string,
  walk: ModelWalk,
): AttributeFields & { written: WireMessage } {
  const fields: AttributeFields = {
    name: '',
    type: 0,
    int: 0,
    float: 0,
    string: '',
    ints: [],
    floats: [],
    tensor: undefined,
    given: new Set(),
  }
  const give = (kind: AttributeKind) => fields.given.add(kind)
  const written = readMessage(walk, bytes, what, {
    ...refusedKinds(what),
    1: bytesField('name', (name) => {
      fields.name = readName(name, what, walk)
    }),
    2: floatField('f', (value) => {
      fields.float = value
      give('float')
    }),
    3: integerField('i', (value) => {
      fields.int = value
      give('int')
    }),
    4: bytesField('s', (text) => {
      fields.string = readName(text, what, walk, true)
      give('string')
    }),
    5: messageField('t', (message) => {
      const read = readTensor(message, `the tensor in ${what}`, walk)
      fields.tensor = read.tensor
      give('tensor')
      return read.written
    }),
    7: floatFields('floats', listLength, (value) => {
      fields.floats.push(value)
      give('floats')
    }),
    8: integerFields('ints', listLength, (value) => {
      fields.ints.push(value)
      give('ints')
    }),
    13: bytesField('doc_string', (text) => checkText(text, what, walk)),
    20: integerField('type', (type) => {
      fields.type = type
    }),
  })
  return { ...fields, written }
}

/** Values of attributes that are refused at sight, whatever is in them. */
function refusedKinds(what: string): Record<number, FieldRule> {
  const refuse = (
    name: string,
    code: 'model_subgraph_forbidden' | 'model_function_forbidden' | 'model_part_forbidden' | 'model_attribute_invalid',
    why: string,
  ) =>
    bytesFields(name, 1, () => {
      throw modelFailure(code, `${what} ${why}`)
    })
  return {
    6: refuse('g', 'model_subgraph_forbidden', 'contains a graph'),
    9: refuse('strings', 'model_attribute_invalid', 'contains a list of strings'),
    10: refuse('tensors', 'model_attribute_invalid', 'contains a list of tensors'),
    11: refuse('graphs', 'model_subgraph_forbidden', 'holds graphs'),
    14: refuse('tp', 'model_attribute_invalid', 'contains a type'),
    15: refuse('type_protos', 'model_attribute_invalid', 'holds types'),
    21: refuse('ref_attr_name', 'model_function_forbidden', 'refers to an attribute of a function'),
    22: refuse('sparse_tensor', 'model_part_forbidden', 'contains a sparse tensor'),
    23: refuse('sparse_tensors', 'model_part_forbidden', 'contains sparse tensors'),
  }
}

function invalid(where: string, name: string, why: string): Error {
  return modelFailure('model_attribute_invalid', `the attribute ${shown(name)} of ${where} ${why}`, { attribute: name })
}
