import { modelFailure, shown } from './model-failure.ts'
import type { ModelLimits } from './model-limits.ts'
import { OperatorCall, rowElements, type Value } from './operators/operator-call.ts'
import { operators } from './operators/operators.ts'
import type { ModelGraph } from './read-model.ts'
import type { ModelNode } from './read-node.ts'

/** Whatever a name of the graph stands for, and the longest chain of nodes that leads to it. */
export type GraphValues = Map<string, Value & { depth: number }>

/** What the walk over the nodes begins with. */
export type Inference = {
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
export function inferShapes({ nodes }: ModelGraph, { opset, values, limits, inputElements }: Inference): void {
  let elementsTotal = inputElements
  let work = 0
  if (inputElements > limits.elements)
    throw modelFailure(
      'model_intermediate_too_large',
      `its inputs have ${inputElements} elements a row; at most ${limits.elements} are taken`,
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
          `${node.where} reads ${shown(name)}, which nothing before it gives`,
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
        `${node.where} makes a tensor of more than ${limits.rank} dimensions`,
        {
          limit: limits.rank,
        },
      )
    const elements = rowElements(value.dims)
    elementsTotal += elements
    work += elements + call.work
    if (elements > limits.elements || elementsTotal > limits.elementsTotal)
      throw tooLarge(node, elements, elementsTotal, limits)
    if (work > limits.work)
      throw modelFailure(
        'model_work_too_large',
        `up to ${node.where} a row takes ${work} operations; at most ${limits.work} are taken`,
        { limit: limits.work },
      )
    define(values, node.outputs[0], { ...value, depth }, node.where)
  }
}

/** Gives a name its value, once. */
export function define(values: GraphValues, name: string, value: Value & { depth: number }, where: string): void {
  if (values.has(name))
    throw modelFailure('model_name_duplicate', `${where} gives ${shown(name)}, which is there already`, { name })
  values.set(name, value)
}

function infer(node: ModelNode, call: OperatorCall): Value {
  const operator = operators.get(node.operator)
  if (operator === undefined)
    throw modelFailure('model_operator_forbidden', `${node.where}: its operator is not on the list`, {
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
      `${node.where} has ${node.outputs.length} outputs; one is taken, with a name`,
    )
  for (const [name, { kind }] of node.attributes) {
    const expected = Object.hasOwn(operator.attributes ?? {}, name) ? operator.attributes?.[name] : undefined
    if (expected !== kind)
      throw call.attribute(name, expected === undefined ? 'is not known' : `is ${kind}, not ${expected}`)
  }
  return operator.infer(call)
}

function tooLarge(node: ModelNode, elements: number, total: number, limits: ModelLimits): Error {
  const what =
    elements > limits.elements
      ? `${node.where} makes ${elements} elements a row; at most ${limits.elements} are taken`
      : `up to ${node.where} a row takes ${total} elements; at most ${limits.elementsTotal} are taken`
  return modelFailure('model_intermediate_too_large', what, {
    limit: elements > limits.elements ? limits.elements : limits.elementsTotal,
  })
}
