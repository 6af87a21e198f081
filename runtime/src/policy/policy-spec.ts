import { type LeafOptions, policyLeaves, type Spaces } from '@agentgym/agent/engine'
import type { PolicySpec, TrainingPlan } from '@agentgym/contract'
import { isImage } from './convolution.ts'

export type NetworkSettings = LeafOptions &
  Pick<PolicySpec, 'hidden' | 'activation' | 'embedding' | 'normalizeObservation' | 'convolution'>

/** The policy for a scenario's spaces. */
export function buildPolicySpec(spaces: Spaces, network: NetworkSettings): PolicySpec {
  const { observation, action } = policyLeaves(spaces, network)
  const { convolution, head, memory } = network
  return {
    version: 1,
    observation,
    action,
    hidden: [...network.hidden],
    activation: network.activation,
    embedding: network.embedding,
    normalizeObservation: network.normalizeObservation,
    ...(convolution !== undefined && observation.some(isImage) ? { convolution } : {}),
    ...(head === undefined ? {} : { head }),
    ...(memory === undefined ? {} : { memory }),
  }
}

/** The network that a run's settings ask for, in a scenario that needs memory or not. */
export function networkOf(settings: TrainingPlan['settings'], needsMemory: boolean): NetworkSettings {
  const { convolution, filters, memory, memory_units } = settings
  const recurrent = memory === 'gru' || (memory === 'auto' && needsMemory)
  return {
    hidden: settings.hidden,
    activation: settings.activation,
    embedding: settings.embedding,
    normalizeObservation: settings.normalize_observation,
    boxActions: settings.box_actions,
    toolSelection: settings.tool_selection,
    parameterSelection: settings.parameter_selection,
    convolution: convolution === 'none' ? undefined : { kind: convolution === 'auto' ? 'small' : convolution, filters },
    memory: recurrent ? { kind: 'gru', units: memory_units } : undefined,
  }
}
