import { AgentGymError, type PolicySpec } from '@agentgym/contract'
import { floatThatGives, graphWeights } from './graph-weights.ts'
import { isSameModel, readFloats } from './onnx-model.ts'
import { leafParts, parameterLayout } from './parameter-layout.ts'
import { exportModel, logStdTensor } from './policy-graph.ts'

/** Rounding of a dueling network's last layer, which an exported model has as one. */
const TOLERANCE = 1e-5

/**
 * The flat weight buffer of a policy from its exported model: `exportModel` of it gives the model again, bit for bit but for
 * rounding of a dueling network's last layer. Values come in the reward's own units: the value's scale is 1. The embedding of
 * padding, which nothing reads, is zero.
 *
 * `model` must have passed `checkModelStructure`. Throws `agent_invalid` where it is not a model that training wrote for this
 * policy: a file may hold tensors of the right names, and compute something else.
 */
export function readPolicyWeights(policy: PolicySpec, model: Uint8Array): Float32Array {
  const tensors = readFloats(model)
  const layout = parameterLayout(policy)
  // Four bytes a weight, and the file has more besides: nothing of the sizes that agent.json claims is allocated before.
  if (!(layout.totalSize <= model.length)) throw foreign(`it is too small for ${layout.totalSize} weights`)
  const flat = new Float32Array(layout.totalSize)
  const scale = layout.parameters.find(({ name }) => name === 'value.scale')
  if (scale !== undefined) flat[scale.offset] = 1
  for (const weight of graphWeights(policy, leafParts(policy), true)) {
    const tensor = tensors.get(weight.name)
    if (tensor?.length !== weight.data.length) throw foreign(`it has no tensor ${weight.name} of ${weight.data.length}`)
    weight.data.set(tensor)
    weight.read(flat)
  }
  readDeviations(policy, tensors, flat)
  // An addition that overflows, or a deviation of 0, is no number to learn from.
  if (!flat.every(Number.isFinite)) throw foreign('its numbers are out of range')
  const tolerance = policy.head === 'dueling_q' ? TOLERANCE : 0
  if (!isSameModel(exportModel(policy, flat), model, tolerance)) throw foreign('its graph is another one')
  return flat
}

function readDeviations(policy: PolicySpec, tensors: Map<string, Float32Array>, flat: Float32Array): void {
  const parameter = parameterLayout(policy).parameters.find(({ name }) => name === 'log_std')
  if (parameter === undefined) return
  for (const leaf of policy.action) {
    if (leaf.kind !== 'box') continue
    const vector = tensors.get(logStdTensor(leaf))
    if (vector?.length !== leaf.size) throw foreign(`it has no deviations of ${leaf.name}`)
    vector.forEach((value, i) => {
      const scale = leaf.squash === undefined ? Math.log(leaf.scale[i]) : 0
      flat[parameter.offset + leaf.logStdOffset + i] = floatThatGives(value, value - scale, (x) => x + scale)
    })
  }
}

function foreign(why: string): AgentGymError {
  return new AgentGymError({
    code: 'agent_invalid',
    message: `model.onnx is not a model that AgentGym wrote for the policy in agent.json: ${why}`,
    hint: 'Only agents that AgentGym trained can be trained further.',
    data: { file: 'model.onnx' },
  })
}
