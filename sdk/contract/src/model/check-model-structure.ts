import type { ActionLeaf, PolicySpec } from '../agent-manifest.ts'
import { type ModelLimits, ModelWalk, modelFailure, modelLimits, shown } from './model-failure.ts'
import { BATCH, OperatorCall, rowElements, sameShape, storedElements, type Value } from './operator-call.ts'
import { operators } from './operators.ts'
import { type DeclaredDim, type DeclaredValue, type ModelGraph, readModel } from './read-model.ts'
import type { ModelNode } from './read-node.ts'

/**
 * Checks the structure of an untrusted model.onnx before anything runs it: a walk over the file's bytes that takes time
 * and memory in proportion to them, and calls no other code. What passes is a graph of pure operators on a list, with
 * everything in the file itself, finite weights, the inputs and outputs of its policy, and bounds on every value and on
 * the work of a row. It says nothing of what the policy does.
 *
 * Returns the model as the walk has read it, written again in an array of its own. These bytes, never the file's own, are
 * what ONNX Runtime may load: what was checked is what runs. They equal the file's where protobuf's own writers made it.
 *
 * Throws AgentGymError with a code `model_…` for each kind of fault; the message names the place.
 */
export function checkModelStructure(
  bytes: Uint8Array,
  expected: { policy: PolicySpec },
  limits: Partial<ModelLimits> = {},
): Uint8Array<ArrayBuffer> {
  const bounds = { ...modelLimits, ...limits }
  if (bytes.length > bounds.bytes)
    throw modelFailure('model_too_large', `it has ${bytes.length} bytes; the limit is ${bounds.bytes}`, {
      limit: bounds.bytes,
    })
  refuseOrtFormat(bytes)
  const { graph, opset, written } = readModel(bytes, new ModelWalk(bounds))
  const values: GraphValues = new Map()
  for (const tensor of graph.initializers) {
    if (tensor.name === '') throw modelFailure('model_name_invalid', 'an initializer has no name')
    define(values, tensor.name, { ...tensor, depth: 0 }, 'an initializer')
  }
  const inputElements = checkInputs(graph, expected.policy, values)
  inferShapes(graph, { opset, values, limits: bounds, inputElements })
  checkOutputs(graph, expected.policy, values)
  checkDeclared(graph.declared, values)
  const canonical = written.toBytes()
  refuseOrtFormat(canonical)
  return canonical
}

/**
 * The same for a model that is published: its bytes must be those that the walk would write, so that everyone who
 * downloads them has what was checked, whatever reads them. Throws `model_not_canonical` too.
 */
export function checkPublishedModel(bytes: Uint8Array, expected: { policy: PolicySpec }): void {
  const canonical = checkModelStructure(bytes, expected)
  let at = 0
  while (at < canonical.length && canonical[at] === bytes[at]) at++
  if (at < canonical.length || canonical.length !== bytes.length)
    throw modelFailure('model_not_canonical', `it is not in protobuf's canonical form, from byte ${at}`)
}

/**
 * ONNX Runtime takes a file whose bytes 4 to 7 are these for its own format, a flatbuffer, which has nothing to do with
 * what a reader of protobuf finds in it. A file can be both.
 */
function refuseOrtFormat(bytes: Uint8Array): void {
  if (bytes[4] === 0x4f && bytes[5] === 0x52 && bytes[6] === 0x54 && bytes[7] === 0x4d)
    throw modelFailure('model_format_forbidden', "it is marked as ONNX Runtime's own format (ORTM), not ONNX")
}

/** One input for each leaf of the observation, float32 [batch, size]. Gives the elements of a row of all of them. */
function checkInputs({ inputs }: ModelGraph, policy: PolicySpec, values: GraphValues): number {
  const expected = policyInputs(policy)
  let elements = 0
  for (const { name, type, dims } of inputs) {
    const rest = expected.get(name)
    if (rest === undefined)
      throw modelFailure('model_input_mismatch', `its input ${shown(name)} is not an input of its policy`, {
        name,
      })
    if (type !== 'float' || !isBatchOf(dims, rest))
      throw modelFailure(
        'model_input_mismatch',
        `its input ${shown(name)} is ${type} [${shownDims(dims)}]; expected float [batch, ${rest}]`,
        { name },
      )
    define(values, name, { type, dims: [BATCH, ...rest], integers: null, depth: 0 }, 'an input')
    elements += rest[0]
  }
  for (const name of expected.keys()) {
    if (!inputs.some((input) => input.name === name))
      throw modelFailure('model_input_mismatch', `it has no input ${shown(name)}`, { name })
  }
  return elements
}

/** The outputs of the policy, float32 [batch, n] or [batch], as they are declared and as the nodes make them. */
function checkOutputs({ outputs }: ModelGraph, policy: PolicySpec, values: GraphValues): void {
  const missing = policyOutputs(policy)
  for (const { name, type, dims } of outputs) {
    const rest = missing.get(name)
    if (rest === undefined)
      throw modelFailure(
        'model_output_mismatch',
        `its output ${shown(name)} is a duplicate or not an output of its policy`,
        { name },
      )
    missing.delete(name)
    const made = values.get(name)
    if (made === undefined || made.depth === 0)
      throw modelFailure('model_output_mismatch', `no node produces its output ${shown(name)}`, { name })
    const wanted = ['batch', ...rest].join(', ')
    const fits = (found: readonly number[]) =>
      found.length === rest.length + 1 && found[0] === BATCH && rest.every((dim, i) => dim === found[i + 1])
    if (made.type !== 'float' || !fits(made.dims))
      throw modelFailure(
        'model_output_mismatch',
        `its output ${shown(name)} is ${made.type} [${shownDims(made.dims)}]; expected float [${wanted}]`,
        { name },
      )
    if (type !== 'float' || !isBatchOf(dims, rest))
      throw modelFailure(
        'model_output_mismatch',
        `its output ${shown(name)} is declared as ${type} [${shownDims(dims)}]; expected float [${wanted}]`,
        { name },
      )
  }
  for (const name of missing.keys())
    throw modelFailure('model_output_mismatch', `it has no output ${shown(name)}`, { name })
}

/** Shapes that the file declares for values between nodes: ONNX Runtime plans its memory by them, so they must be true. */
function checkDeclared(declared: DeclaredValue[], values: GraphValues): void {
  const seen = new Set<string>()
  for (const { name, type, dims } of declared) {
    if (seen.has(name))
      throw modelFailure('model_name_duplicate', `the shape of ${shown(name)} is declared twice`, { name })
    seen.add(name)
    const made = values.get(name)
    if (made === undefined)
      throw modelFailure('model_name_undefined', `a shape is declared for ${shown(name)}, which does not exist`, {
        name,
      })
    const fits =
      dims.length === made.dims.length &&
      dims.every((dim, i) => (made.dims[i] === BATCH ? typeof dim !== 'number' : dim === made.dims[i]))
    if (type !== made.type || !fits)
      throw modelFailure(
        'model_shape_mismatch',
        `${shown(name)} is declared as ${type} [${shownDims(dims)}] but is ${made.type} [${shownDims(made.dims)}]`,
        { name },
      )
  }
}

/** Declared as [batch, …rest]. The batch has a name or none, but no size; only the batch may be so. */
function isBatchOf(dims: DeclaredValue['dims'], rest: readonly number[]): boolean {
  return dims.length === rest.length + 1 && typeof dims[0] !== 'number' && rest.every((dim, i) => dims[i + 1] === dim)
}

function shownDims(dims: readonly DeclaredDim[]): string {
  const words = dims.map((dim) => (typeof dim === 'string' ? shown(dim) : dim === BATCH ? 'batch' : (dim ?? 'unknown')))
  return words.join(', ')
}

/** The value of a name in the graph, and the length of the longest chain of nodes that leads to it. */
type GraphValues = Map<string, Value & { depth: number }>

/** What the walk over the nodes begins with. */
type Inference = {
  opset: number
  /** Inputs and initializers; the results are added. */
  values: GraphValues
  limits: ModelLimits
  /** Of a row of all inputs. */
  inputElements: number
}

/**
 * Walks the nodes in their order, which must be one in which they can run, and finds the type and shape of every value
 * from those of the inputs: without running anything, for any size of the batch. Bounds every value, all of them together,
 * and the work.
 */
function inferShapes({ nodes }: ModelGraph, { opset, values, limits, inputElements }: Inference): void {
  let elementsTotal = inputElements
  let work = 0
  if (inputElements > limits.elements)
    throw modelFailure(
      'model_intermediate_too_large',
      `its inputs have ${inputElements} elements per row; the limit is ${limits.elements}`,
      { limit: limits.elements },
    )
  for (const node of nodes) {
    let depth = 1
    const inputs = node.inputs.map((name) => {
      if (name === '') return null
      const value = values.get(name)
      if (value === undefined)
        throw modelFailure(
          'model_name_undefined',
          `${node.where} reads ${shown(name)}, which no earlier node produces`,
          { name },
        )
      depth = Math.max(depth, value.depth + 1)
      return value
    })
    if (depth > limits.depth)
      throw modelFailure('model_nesting_too_deep', `${node.where} ends a chain of more than ${limits.depth} nodes`, {
        limit: limits.depth,
      })
    const call = new OperatorCall(node, inputs, opset)
    const value = infer(node, call)
    if (value.dims.length > limits.rank)
      throw modelFailure(
        'model_too_many_parts',
        `${node.where} produces a tensor with more than ${limits.rank} dimensions`,
        {
          limit: limits.rank,
        },
      )
    // What is computed from a blocked image, number by number, stays one.
    value.blocked ??= inputs.some((input) => input?.blocked === true && sameShape(input.dims, value.dims))
    const elements = storedElements(value)
    elementsTotal += elements + call.scratch
    work += elementWork * rowElements(value.dims) + call.work
    if (elements > limits.elements || elementsTotal > limits.elementsTotal)
      throw tooLarge(node, elements, elementsTotal, limits)
    if (work > limits.work)
      throw modelFailure(
        'model_work_too_large',
        `at ${node.where}, a row needs ${work} operations so far; the limit is ${limits.work}`,
        { limit: limits.work },
      )
    define(values, node.outputs[0], { ...value, depth }, node.where)
  }
}

/** Of every element that a node makes, whatever it does: 6.4 ns. */
const elementWork = 64

/** Gives a name its value, once. */
function define(values: GraphValues, name: string, value: Value & { depth: number }, where: string): void {
  if (values.has(name))
    throw modelFailure('model_name_duplicate', `${where} produces ${shown(name)}, which already exists`, { name })
  values.set(name, value)
}

function infer(node: ModelNode, call: OperatorCall): Value {
  const operator = operators.get(node.operator)
  if (operator === undefined)
    throw modelFailure('model_operator_forbidden', `${node.where}: its operator is not allowed`, {
      operator: node.operator,
    })
  const [fewest, most] = operator.inputs
  if (node.inputs.length < fewest || node.inputs.length > most)
    throw modelFailure(
      'model_shape_invalid',
      `${node.where} has ${node.inputs.length} inputs; it takes ${fewest} to ${most}`,
    )
  if (node.outputs.length !== 1 || node.outputs[0] === '')
    throw modelFailure(
      'model_shape_invalid',
      `${node.where} has ${node.outputs.length} outputs; it must have one, with a name`,
    )
  for (const [name, { kind }] of node.attributes) {
    const expected = Object.hasOwn(operator.attributes ?? {}, name) ? operator.attributes?.[name] : undefined
    if (expected !== kind)
      throw call.attribute(name, expected === undefined ? 'is unknown' : `is ${kind}, not ${expected}`)
  }
  for (const name of operator.required ?? []) if (!node.attributes.has(name)) throw call.attribute(name, 'is missing')
  return operator.infer(call)
}

function tooLarge(node: ModelNode, elements: number, total: number, limits: ModelLimits): Error {
  const what =
    elements > limits.elements
      ? `${node.where} produces ${elements} elements per row; the limit is ${limits.elements}`
      : `at ${node.where}, a row has ${total} elements so far; the limit is ${limits.elementsTotal}`
  return modelFailure('model_intermediate_too_large', what, {
    limit: elements > limits.elements ? limits.elements : limits.elementsTotal,
  })
}

/** Names of the tensors that a model gives for one action leaf. */
export function actionOutputNames(leaf: ActionLeaf): { logits: string } | { mean: string; logStd: string } {
  const prefix = leaf.name === 'action' ? '' : `${leaf.name}.`
  return leaf.kind === 'box' ? { mean: `${prefix}mean`, logStd: `${prefix}log_std` } : { logits: `${prefix}logits` }
}

/** Dimensions of a model's float32 inputs by name, without the batch: one a leaf of the observation. */
export function policyInputs(spec: PolicySpec): Map<string, number[]> {
  const inputs = new Map(spec.observation.map(({ name, size }) => [name, [size]]))
  return spec.memory === undefined ? inputs : inputs.set(STATE_INPUT, [stateSize(spec)])
}

/** The memory of a recurrent policy, where it comes in and where it leaves. */
export const STATE_INPUT = 'state'
export const STATE_OUTPUT = 'next_state'

/** Numbers of one episode's memory: the actor's and the critic's units; 0 for a policy without memory. */
export function stateSize({ memory }: Pick<PolicySpec, 'memory'>): number {
  return memory === undefined ? 0 : 2 * memory.units
}

/** Dimensions of a model's float32 outputs by name, without the batch. */
export function policyOutputs(spec: PolicySpec): Map<string, number[]> {
  const outputs = new Map<string, number[]>()
  for (const leaf of spec.action) {
    if (leaf.fixed !== undefined) continue
    const columns = leaf.kind === 'box' ? leaf.size : leaf.counts.reduce((sum, count) => sum + count, 0)
    for (const name of Object.values(actionOutputNames(leaf))) outputs.set(name, [columns])
  }
  if (spec.memory !== undefined) outputs.set(STATE_OUTPUT, [stateSize(spec)])
  return outputs.set('value', [])
}
