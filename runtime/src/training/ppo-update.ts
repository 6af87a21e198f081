import type { PpoSettings } from '@agentgym/contract'
import type { PpoUpdate } from '../learner/learner-types.ts'

/** The settings of one update, schedules applied; `remaining` falls from 1 to (almost) 0 over the run. */
export function updateOf(settings: PpoSettings, remaining: number, seed: number): PpoUpdate {
  return {
    gamma: settings.gamma,
    gaeLambda: settings.gae_lambda,
    epochs: settings.epochs,
    minibatchSize: settings.minibatch_size,
    learningRate: settings.learning_rate * (settings.learning_rate_schedule === 'linear' ? remaining : 1),
    clipRange: settings.clip_range * (settings.clip_range_schedule === 'linear' ? remaining : 1),
    clipRangeValue: settings.clip_range_value,
    entropyCoefficient: settings.entropy_coefficient,
    valueCoefficient: settings.value_coefficient,
    maxGradientNorm: settings.max_gradient_norm,
    targetKl: settings.target_kl,
    normalizeAdvantage: settings.normalize_advantage,
    normalizeObservation: settings.normalize_observation,
    normalizeReward: settings.normalize_reward,
    seed,
  }
}

/** A seed of its own for every update, from the run's seed and the update's number alone (murmur3's finaliser). */
export function updateSeed(seed: number, iteration: number): number {
  let h = (seed ^ Math.imul(iteration + 1, 0x9e3779b9)) >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
