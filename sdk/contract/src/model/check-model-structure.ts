import type { PolicySpec } from '../policy-spec.ts'
import { define, type GraphValues, inferShapes } from './infer-shapes.ts'
import { modelFailure, shown } from './model-failure.ts'
import { type ModelLimits, modelLimits } from './model-limits.ts'
import { ModelWalk } from './model-walk.ts'
import { BATCH } from './operators/operator-call.ts'
import { policyInputs, policyOutputs } from './policy-tensors.ts'
import { type DeclaredDim, type DeclaredValue, type ModelGraph, readModel } from './read-model.ts'

/**
 * Holds a model.onnx from others to its structure, before anything runs it: a walk over the file's bytes that takes time
 * and memory in proportion to them, and calls no other code. What passes is a graph of pure operators on a list, with
 * everything in the file itself, finite weights, the inputs and outputs of its policy, and bounds on every value and on
 * the work of a row. It says nothing of what the policy does.
 *
 * Throws AgentGymError with a code `model_…` for each kind of fault; the message names the place.
 */
export function checkModelStructure(
  bytes: Uint8Array,
  expected: { policy: PolicySpec },
  limits: Partial<ModelLimits> = {},
): void {
  const bounds = { ...modelLimits, ...limits }
  if (bytes.length > bounds.bytes)
    throw modelFailure('model_too_large', `it has ${bytes.length} bytes; at most ${bounds.bytes} are taken`, {
      limit: bounds.bytes,
    })
  const { graph, opset } = readModel(bytes, new ModelWalk(bounds))
  const values: GraphValues = new Map()
  for (const tensor of graph.initializers) {
    if (tensor.name === '') throw modelFailure('model_name_invalid', 'an initializer has no name')
    define(values, tensor.name, { ...tensor, depth: 0 }, 'an initializer')
  }
  const inputElements = checkInputs(graph, expected.policy, values)
  inferShapes(graph, { opset, values, limits: bounds, inputElements })
  checkOutputs(graph, expected.policy, values)
  checkDeclared(graph.declared, values)
}

/** One input for each leaf of the observation, float32 [batch, size]. Gives the elements of a row of all of them. */
function checkInputs({ inputs }: ModelGraph, policy: PolicySpec, values: GraphValues): number {
  const expected = policyInputs(policy)
  let elements = 0
  for (const { name, type, dims } of inputs) {
    const rest = expected.get(name)
    if (rest === undefined)
      throw modelFailure('model_input_mismatch', `it has an input ${shown(name)}, which its policy does not have`, {
        name,
      })
    if (type !== 'float' || !isBatchOf(dims, rest))
      throw modelFailure(
        'model_input_mismatch',
        `its input ${shown(name)} is ${type} [${shownDims(dims)}], not float [batch, ${rest}]`,
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
        `it has an output ${shown(name)}, which its policy does not have, or has once`,
        { name },
      )
    missing.delete(name)
    const made = values.get(name)
    if (made === undefined || made.depth === 0)
      throw modelFailure('model_output_mismatch', `no node makes its output ${shown(name)}`, { name })
    const wanted = ['batch', ...rest].join(', ')
    const fits = (found: readonly number[]) =>
      found.length === rest.length + 1 && found[0] === BATCH && rest.every((dim, i) => dim === found[i + 1])
    if (made.type !== 'float' || !fits(made.dims))
      throw modelFailure(
        'model_output_mismatch',
        `its output ${shown(name)} is ${made.type} [${shownDims(made.dims)}], not float [${wanted}]`,
        { name },
      )
    if (type !== 'float' || !isBatchOf(dims, rest))
      throw modelFailure(
        'model_output_mismatch',
        `its output ${shown(name)} is declared as ${type} [${shownDims(dims)}], not float [${wanted}]`,
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
      throw modelFailure('model_name_undefined', `the shape of ${shown(name)} is declared, which is not there`, {
        name,
      })
    const fits =
      dims.length === made.dims.length &&
      dims.every((dim, i) => (made.dims[i] === BATCH ? typeof dim !== 'number' : dim === made.dims[i]))
    if (type !== made.type || !fits)
      throw modelFailure(
        'model_shape_mismatch',
        `${shown(name)} is declared as ${type} [${shownDims(dims)}], and is ${made.type} [${shownDims(made.dims)}]`,
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
