import assert from 'node:assert'
import type { A2cSettings } from '@agentgym/contract'
import type { Learner, PpoUpdate } from '../learner/learner-types.ts'
import { type Algorithm, type Iteration, type RolloutObserver, scheduled, timed, updateSeed } from './algorithm.ts'
import { type Collector, planRollouts } from './ppo.ts'

export type A2cParts = {
  settings: A2cSettings
  seed: number
  collector: Collector
  learner: Learner
  observe: RolloutObserver
}

/**
 * Advantage Actor-Critic, the synchronous form of A3C (Mnih et al. 2016): short rollouts, each of them one gradient step
 *
 *   loss = - mean(A log π(a|s)) - c_e H(π) + c_v ½ mean((V(s) - R)²),  A = R - V(s)
 *
 * with R the n-step return, or GAE's where λ < 1. It is PPO's update with one epoch, the whole rollout as the minibatch and
 * no clip: the ratio of new to old probability is then 1, and its gradient is that of log π (Huang et al. 2022, "A2C is a
 * special case of PPO").
 */
export function a2c({ settings, seed, collector, learner, observe }: A2cParts): Algorithm {
  const { batch, iterations } = planRollouts(settings)
  return {
    stepsTotal: iterations * batch,
    async iterate({ iteration, steps }): Promise<Iteration> {
      const remaining = 1 - steps / (iterations * batch)
      const update = updateOf(settings, batch, remaining, updateSeed(seed, iteration))
      const collected = await timed(collector.collect(learner.weights(), steps))
      const { segments, episodes } = collected.result
      observe(segments, iteration + 1)
      const learned = await timed(learner.update(segments, update))
      return {
        steps: batch,
        episodes,
        // Old and new policy are one, so there is nothing to clip and no distance between them.
        metrics: { ...learned.result, approximateKl: null, clipFraction: null },
        learningRate: update.learningRate,
        collectSeconds: collected.seconds,
        updateSeconds: learned.seconds,
      }
    },
    snapshot: () => collector.snapshot(),
    restore: (episodes) => collector.restore(episodes),
  }
}

/** The settings of one update, schedules applied; `remaining` falls from 1 to (almost) 0 over the run. */
function updateOf(settings: A2cSettings, batch: number, remaining: number, seed: number): PpoUpdate {
  const { learning_rate, entropy_coefficient, gamma, gae_lambda } = settings
  assert(learning_rate !== null && entropy_coefficient !== null, 'chosen before training')
  assert(gamma !== null && gae_lambda !== null, 'chosen before training')
  return {
    algorithm: 'ppo',
    gamma,
    gaeLambda: gae_lambda,
    epochs: 1,
    minibatchSize: batch,
    optimizer: settings.optimizer,
    learningRate: scheduled(learning_rate, settings.learning_rate_schedule, remaining),
    clipRange: null,
    clipRangeValue: null,
    entropyCoefficient: scheduled(entropy_coefficient, settings.entropy_coefficient_schedule ?? 'constant', remaining),
    valueCoefficient: settings.value_coefficient,
    maxGradientNorm: settings.max_gradient_norm,
    targetKl: null,
    normalizeAdvantage: settings.normalize_advantage,
    normalizeObservation: settings.normalize_observation,
    normalizeReward: settings.normalize_reward,
    seed,
  }
}
