import type { PolicySpec } from '@agentgym/contract'
import { createLearner } from './learner.ts'
import type { PpoUpdate, RolloutSegment } from './learner-types.ts'

export type LearnerBenchmark = {
  /** Samples of one rollout, and so of one epoch. */
  samples: number
  minibatchSize: number
  epochs: number
  threads: number
  hidden?: number[]
  path?: 'auto' | 'autograd' | 'fused'
  /** Default: the CPU. */
  device?: string
  /** Updates timed, after one that is not; the median counts. */
  repeats?: number
}

/**
 * Samples a second through forward pass, backward pass and Adam, for cart-pole's policy: 4 observations, 2 actions, actor
 * and critic of 64-64 tanh, or of `hidden`. A sample counts once an epoch; advantages and shuffling are part of the time.
 */
export async function learnerBenchmark(settings: LearnerBenchmark): Promise<number> {
  const { samples, minibatchSize, epochs, threads, path = 'fused', device = 'cpu', repeats = 5 } = settings
  const { hidden = [64, 64] } = settings
  const learner = createLearner(cartPolePolicy(hidden), { seed: 1, device, threads, path })
  const rollout = [syntheticRollout(samples)]
  const update = cartPoleUpdate(minibatchSize, epochs)
  const rates: number[] = []
  for (let i = 0; i <= repeats; i++) {
    const start = performance.now()
    await learner.update(rollout, { ...update, seed: i })
    if (i > 0) rates.push((samples * epochs) / ((performance.now() - start) / 1000))
  }
  learner.dispose()
  return rates.sort((a, b) => a - b)[Math.floor(rates.length / 2)]
}

export function cartPolePolicy(hidden: number[]): PolicySpec {
  const none = { low: [], high: [], center: [], scale: [] }
  const place = { offset: 0, distributionOffset: 0, maskOffset: 0, logStdOffset: 0 }
  return {
    version: 1,
    observation: [{ name: 'obs', kind: 'box', offset: 0, size: 4, counts: [], shape: [4] }],
    action: [{ name: 'action', kind: 'discrete', size: 1, counts: [2], start: 0, ...place, ...none }],
    hidden,
    activation: 'tanh',
    embedding: 32,
    normalizeObservation: false,
  }
}

/** Numbers without meaning, spread like an untrained policy's: time does not depend on them. */
export function syntheticRollout(samples: number): RolloutSegment {
  const environments = samples % 8 === 0 ? 8 : 1
  const wave = (count: number, frequency: number) =>
    Float32Array.from({ length: count }, (_, i) => Math.sin(i * frequency))
  return {
    steps: samples / environments,
    environments,
    observations: wave((samples + environments) * 4, 0.7),
    finalObservations: new Float32Array(samples * 4),
    actions: Float32Array.from({ length: samples }, (_, i) => i % 2),
    logProbabilities: new Float32Array(samples).fill(-Math.LN2),
    rewards: wave(samples, 0.3),
    flags: new Uint8Array(samples),
    masks: null,
    lengths: null,
    states: null,
  }
}

export function cartPoleUpdate(minibatchSize: number, epochs: number): PpoUpdate {
  return {
    algorithm: 'ppo',
    gamma: 0.98,
    gaeLambda: 0.8,
    epochs,
    minibatchSize,
    optimizer: 'adam',
    learningRate: 1e-3,
    clipRange: 0.2,
    clipRangeValue: null,
    entropyCoefficient: 0,
    valueCoefficient: 0.5,
    maxGradientNorm: 0.5,
    targetKl: null,
    normalizeAdvantage: true,
    normalizeObservation: false,
    normalizeReward: false,
    seed: 0,
  }
}
