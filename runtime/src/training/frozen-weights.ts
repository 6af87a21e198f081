import { readAgentWithModel } from '@agentgym/agent/engine'
import { AgentGymError, type AgentManifest, type PolicySpec } from '@agentgym/contract'
import type { FrozenWeights } from '@agentgym/scenario'
import { convolutionLayers } from '../policy/convolution.ts'
import { graphWeights } from '../policy/graph-weights.ts'
import { leafParts, networksOf } from '../policy/parameter-layout.ts'
import { readPolicyWeights } from '../policy/read-weights.ts'

/**
 * The acting network of an agent's folder, which may come from anyone, as `frozenPolicy` of `@agentgym/scenario` plays it.
 * Throws as `readAgentWithModel`, and `agent_invalid` for a policy that is no plain network over numbers with one choice.
 */
export async function readFrozenWeights(folder: string): Promise<FrozenWeights> {
  const { manifest, checkedModel } = await readAgentWithModel(folder)
  return frozenWeights(manifest, checkedModel)
}

export function frozenWeights(
  { policy, scenario, model_hash }: Pick<AgentManifest, 'policy' | 'scenario' | 'model_hash'>,
  model: Uint8Array,
): FrozenWeights {
  refuseOthers(policy)
  const parts = leafParts(policy)
  const tensors = new Map<string, string>()
  const flat = readPolicyWeights(policy, model)
  for (const weight of graphWeights(policy, parts, false)) {
    weight.fill(flat)
    tensors.set(weight.name, base64(weight.data))
  }
  const tensor = (name: string): string => {
    const found = tensors.get(name)
    if (found === undefined) throw new RangeError(`no tensor ${name}`)
    return found
  }
  const [{ name: network }] = networksOf(policy)
  const [action] = policy.action
  return {
    format: 'agentgym-weights',
    format_version: 1,
    agent: { scenario: `${scenario.name}@${scenario.version}`, model_sha256: model_hash },
    observation: scenario.observation,
    action: { n: action.counts[0], start: action.start },
    activation: policy.activation,
    inputs: parts.map(({ name, kind, size, counts }) => {
      const normalized = kind === 'box' && policy.normalizeObservation
      return {
        size,
        counts: kind === 'box' ? null : counts,
        mean: normalized ? tensor(`/normalizer.mean.${name}`) : null,
        scale: normalized ? tensor(`/normalizer.reciprocal_deviation.${name}`) : null,
      }
    }),
    layers: [...policy.hidden.keys(), 'out'].map((layer) => ({
      weight: tensor(`/${network}.${layer}.weight`),
      bias: tensor(`/${network}.${layer}.bias`),
    })),
  }
}

/** What `frozenPolicy` does not play. */
function refuseOthers(policy: PolicySpec): void {
  const [action, ...others] = policy.action
  const problem =
    policy.memory !== undefined
      ? 'it has memory'
      : policy.observation.some(({ kind }) => kind === 'text')
        ? 'it reads texts'
        : policy.observation.some(({ encoder }) => encoder !== undefined)
          ? 'it reads texts through a sentence encoder'
          : policy.observation.some((leaf) => convolutionLayers(policy, leaf).length > 0)
            ? 'it sees images through convolutions'
            : others.length > 0 || action.kind !== 'discrete'
              ? 'its action is not one discrete choice'
              : action.pointer !== undefined || action.fixed !== undefined
                ? 'its action is not an output of the network alone'
                : null
  if (problem === null) return
  throw new AgentGymError({
    code: 'agent_invalid',
    message: `the agent's weights cannot be exported: ${problem}`,
    hint: 'A scenario can play agents with dense layers over numbers and one discrete action. Any other agent runs from its model.onnx, outside the scenario.',
    data: { file: 'agent.json' },
  })
}

function base64(values: Float32Array): string {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, i) => {
    bytes.writeFloatLE(value, 4 * i)
  })
  return bytes.toString('base64')
}
