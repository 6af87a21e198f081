import type { PolicySpec } from './agent-manifest.ts'
import {
  algorithmSettings,
  hasNoEffect,
  resolveTrainingPlan,
  type TrainingAlgorithm,
  type TrainingPlan,
  type TrainingPlanRequest,
} from './training-settings.ts'

/**
 * How a run trains that starts from an agent: as `resolveTrainingPlan`, with the agent's algorithm and network where the
 * request names no other. Throws the same.
 */
export function continuedAgentPlan(
  training: Record<string, unknown>,
  { algorithm: requested, steps, settings }: TrainingPlanRequest,
  agent: { algorithm: TrainingAlgorithm; policy: PolicySpec },
): TrainingPlan {
  const { algorithm } = resolveTrainingPlan({}, { algorithm: requested ?? agent.algorithm })
  const network = continuedNetwork(algorithm, agent.policy)
  return resolveTrainingPlan(training, { algorithm, steps, settings: { ...network, ...settings } })
}

/**
 * The settings with which a run has the network of `policy`, so that it can start from that policy's weights. Only those that
 * decide anything: a policy without images says nothing of `convolution`.
 */
export function continuedNetwork(algorithm: TrainingAlgorithm, policy: PolicySpec): Record<string, unknown> {
  const { convolution, memory, head } = policy
  const boards = policy.observation.some(({ kind, shape }) => kind === 'box' && shape.length === 3)
  const boxes = policy.action.filter(({ kind }) => kind === 'box')
  const settings: Record<string, unknown> = {
    hidden: policy.hidden,
    activation: policy.activation,
    embedding: policy.embedding,
    normalize_observation: policy.normalizeObservation,
    ...(boards ? { convolution: convolution?.kind ?? 'none' } : {}),
    ...(convolution === undefined ? {} : { filters: convolution.filters }),
    ...(boxes.length > 0 ? { box_actions: boxes.some(({ squash }) => squash) ? 'squashed' : 'clipped' } : {}),
    // Algorithms with another head have no memory, and no setting for it.
    ...(head === undefined ? { memory: memory?.kind ?? 'none' } : {}),
    ...(memory === undefined ? {} : { memory_units: memory.units }),
    dueling: head === 'dueling_q',
  }
  const known = Object.keys(algorithmSettings[algorithm].schema.shape)
  return Object.fromEntries(
    Object.entries(settings).filter(([name]) => known.includes(name) && !hasNoEffect(algorithm, name)),
  )
}
