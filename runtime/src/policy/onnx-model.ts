import protobuf from 'protobufjs'

/**
 * The part of ONNX's protobuf schema that our models use; field numbers are those of the official onnx.proto3.
 * Fields that are left out here (external data, sub-graphs, functions, sparse tensors, training) are ones that no model
 * of ours has.
 */
const schema = `
  syntax = "proto3";
  package onnx;
  message ModelProto {
    int64 ir_version = 1;
    string producer_name = 2;
    string producer_version = 3;
    GraphProto graph = 7;
    repeated OperatorSetIdProto opset_import = 8;
  }
  message OperatorSetIdProto { string domain = 1; int64 version = 2; }
  message GraphProto {
    repeated NodeProto node = 1;
    string name = 2;
    repeated TensorProto initializer = 5;
    repeated ValueInfoProto input = 11;
    repeated ValueInfoProto output = 12;
  }
  message NodeProto {
    repeated string input = 1;
    repeated string output = 2;
    string name = 3;
    string op_type = 4;
    repeated AttributeProto attribute = 5;
  }
  message AttributeProto { string name = 1; int64 i = 3; repeated int64 ints = 8; int32 type = 20; }
  message TensorProto {
    repeated int64 dims = 1;
    int32 data_type = 2;
    string name = 8;
    bytes raw_data = 9;
  }
  message ValueInfoProto { string name = 1; TypeProto type = 2; }
  message TypeProto {
    message Tensor { int32 elem_type = 1; TensorShapeProto shape = 2; }
    Tensor tensor_type = 1;
  }
  message TensorShapeProto {
    message Dimension { oneof value { int64 dim_value = 1; string dim_param = 2; } }
    repeated Dimension dim = 1;
  }
`

const ModelProto = protobuf.parse(schema, { keepCase: true }).root.lookupType('onnx.ModelProto')

/** Values of TensorProto.DataType. */
export const FLOAT = 1
export const INT64 = 7

/** Values of AttributeProto.AttributeType for an integer and for a list of them, the only attributes that our nodes have. */
const INT_ATTRIBUTE = 2
const INTS_ATTRIBUTE = 7

/** Opset 17 and IR 8 are old enough for every runtime in use, and have every operator that we need. */
const IR_VERSION = 8
const OPSET = 17

export type OnnxNode = {
  op: string
  inputs: string[]
  outputs: string[]
  attributes?: Record<string, number | number[]>
}
export type OnnxTensor = { name: string; dims: number[] } & (
  | { type: typeof FLOAT; data: Float32Array }
  | { type: typeof INT64; data: BigInt64Array }
)
/** A float32 input or output; a dimension given by name is free. */
export type OnnxValue = { name: string; dims: (number | string)[] }
export type OnnxGraph = {
  name: string
  nodes: OnnxNode[]
  initializers: OnnxTensor[]
  inputs: OnnxValue[]
  outputs: OnnxValue[]
}

/** Serialises a graph. The same graph gives the same bytes: protobufjs writes fields in the order of their numbers. */
export function encodeModel(graph: OnnxGraph): Uint8Array {
  return ModelProto.encode({
    ir_version: IR_VERSION,
    producer_name: 'agentgym',
    producer_version: '1',
    opset_import: [{ domain: '', version: OPSET }],
    graph: {
      name: graph.name,
      node: graph.nodes.map(({ op, inputs, outputs, attributes }) => ({
        input: inputs,
        output: outputs,
        // Names are what profilers and error messages show.
        name: outputs[0],
        op_type: op,
        attribute: Object.entries(attributes ?? {}).map(([name, value]) =>
          typeof value === 'number'
            ? { name, i: value, type: INT_ATTRIBUTE }
            : { name, ints: value, type: INTS_ATTRIBUTE },
        ),
      })),
      initializer: graph.initializers.map(({ name, dims, type, data }) => ({
        name,
        dims,
        data_type: type,
        raw_data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
      })),
      input: graph.inputs.map(valueInfo),
      output: graph.outputs.map(valueInfo),
    },
  }).finish()
}

function valueInfo({ name, dims }: OnnxValue) {
  const dim = dims.map((size) => (typeof size === 'number' ? { dim_value: size } : { dim_param: size }))
  return { name, type: { tensor_type: { elem_type: FLOAT, shape: { dim } } } }
}

type DecodedTensor = { name: string; dims: unknown[]; data_type: number; raw_data: Uint8Array }
type DecodedModel = { graph: { initializer: DecodedTensor[] } }

/** The float32 tensors of a model that `encodeModel` wrote, by name. */
export function readFloats(bytes: Uint8Array): Map<string, Float32Array> {
  const tensors = decode(bytes).graph.initializer.filter((tensor) => tensor.data_type === FLOAT)
  return new Map(tensors.map((tensor) => [tensor.name, floatsOf(tensor)]))
}

/** Whether two models are the same but for differences of float32 numbers up to `tolerance`, relative to the larger one. */
export function isSameModel(a: Uint8Array, b: Uint8Array, tolerance: number): boolean {
  const [one, other] = [decode(a), decode(b)]
  const floats = readFloats(b)
  for (const tensor of one.graph.initializer) {
    if (tensor.data_type !== FLOAT) continue
    const mine = floatsOf(tensor)
    const theirs = floats.get(tensor.name)
    if (theirs?.length !== mine.length) return false
    const close = (x: number, y: number) => Math.abs(x - y) <= tolerance * Math.max(Math.abs(x), Math.abs(y))
    if (!mine.every((x, i) => close(x, theirs[i]))) return false
  }
  return Buffer.compare(withoutFloats(one), withoutFloats(other)) === 0
}

function decode(bytes: Uint8Array): DecodedModel {
  return ModelProto.decode(bytes) as unknown as DecodedModel
}

function floatsOf({ raw_data }: DecodedTensor): Float32Array {
  return new Float32Array(Uint8Array.from(raw_data).buffer)
}

function withoutFloats(model: DecodedModel): Uint8Array {
  for (const tensor of model.graph.initializer) if (tensor.data_type === FLOAT) tensor.raw_data = new Uint8Array()
  return ModelProto.encode(model as never).finish()
}
