import type { PolicySpec } from '@agentgym/contract'
import { buildPolicySpec } from '../../policy/policy-spec.ts'
import { referenceForward } from '../../policy/testing/reference-forward.ts'
import type { DqnUpdate, Minibatch, RolloutSegment } from '../learner-types.ts'

/** One gradient step on a small minibatch, unless a test says otherwise. */
export function dqnUpdate(changes: Partial<DqnUpdate> = {}): DqnUpdate {
  return {
    algorithm: 'dqn',
    gamma: 0.9,
    nStep: 1,
    doubleQ: true,
    gradientSteps: 1,
    minibatchSize: 16,
    targetInterval: 1000,
    tau: 1,
    learningRate: 1e-3,
    maxGradientNorm: 10,
    seed: 7,
    ...changes,
  }
}

/** A Q-network of one linear layer, with two actions and one number to observe: Q(x, a) = w_a x + b_a. */
export function linearQ(): PolicySpec {
  return buildPolicySpec(
    {
      observation: { type: 'box', shape: [1], low: [null], high: [null] },
      action: { type: 'discrete', n: 2, start: 0 },
    },
    { hidden: [], activation: 'relu', embedding: 1, normalizeObservation: false, head: 'q' },
  )
}

type Step = { x: number; action?: number; reward: number; flags?: number; final?: number; mask?: [number, number] }

/** One environment's steps, and the observation that comes next. */
export function rolloutOf(steps: Step[], next: number): RolloutSegment {
  return {
    steps: steps.length,
    environments: 1,
    observations: Float32Array.from([...steps.map(({ x }) => x), next]),
    finalObservations: Float32Array.from(steps, ({ final }) => final ?? Number.NaN),
    actions: Float32Array.from(steps, ({ action }) => action ?? 0),
    logProbabilities: new Float32Array(steps.length),
    rewards: Float32Array.from(steps, ({ reward }) => reward),
    flags: Uint8Array.from(steps, ({ flags }) => flags ?? 0),
    masks: steps[0].mask === undefined ? null : Uint8Array.from(steps.flatMap(({ mask }) => mask ?? [1, 1])),
    lengths: null,
    states: null,
  }
}

/** The Huber loss of one minibatch against its `returns`, in plain float64. */
export function referenceHuber(spec: PolicySpec, weights: Float32Array, minibatch: Minibatch): number {
  const { size, observations, actions, returns } = minibatch
  const { distribution } = referenceForward(spec, weights, observations, size)
  const columns = distribution.length / size
  let loss = 0
  for (let i = 0; i < size; i++) {
    const error = Math.abs(distribution[i * columns + actions[i]] - returns[i])
    loss += error < 1 ? 0.5 * error * error : error - 0.5
  }
  return loss / size
}
