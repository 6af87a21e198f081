import assert from 'node:assert'
import type { PpoSettings } from '@agentgym/contract'
import type { Learner, PpoUpdate, RolloutSegment } from '../learner/learner-types.ts'
import { type Algorithm, type Iteration, type RolloutObserver, scheduled, timed, updateSeed } from './algorithm.ts'
import type { EpisodeSnapshot } from './checkpoint.ts'
import type { EpisodeResult } from './run-statistics.ts'

/** What PPO needs of the rollout pool. */
export type Collector = {
  /** Plays `rollout_steps` steps in every environment; `startStep` is the run's step number of the first of them. */
  collect(weights: Float32Array, startStep: number): Promise<{ segments: RolloutSegment[]; episodes: EpisodeResult[] }>
  snapshot(): Promise<EpisodeSnapshot[]>
  restore(episodes: EpisodeSnapshot[]): Promise<void>
}

export type PpoParts = {
  settings: PpoSettings
  seed: number
  collector: Collector
  learner: Learner
  observe: RolloutObserver
}

/** Whole rollouts only, as CleanRL does; a run shorter than one rollout shortens the rollout instead. */
export function planRollouts(settings: Pick<PpoSettings, 'steps' | 'environments' | 'rollout_steps'>): {
  rolloutSteps: number
  batch: number
  iterations: number
} {
  assert(settings.rollout_steps !== null, 'chosen before training')
  const rolloutSteps = Math.min(settings.rollout_steps, Math.max(1, Math.floor(settings.steps / settings.environments)))
  const batch = rolloutSteps * settings.environments
  return { rolloutSteps, batch, iterations: Math.max(1, Math.floor(settings.steps / batch)) }
}

/** Proximal Policy Optimisation (Schulman et al. 2017), in the shape of CleanRL's ppo.py. */
export function ppo({ settings, seed, collector, learner, observe }: PpoParts): Algorithm {
  const { batch, iterations } = planRollouts(settings)
  return {
    stepsTotal: iterations * batch,
    async iterate({ iteration, steps }): Promise<Iteration> {
      // By steps, not iterations: an extended run may have played its first iterations with a shorter rollout.
      const remaining = 1 - steps / (iterations * batch)
      const update = updateOf(settings, remaining, updateSeed(seed, iteration))
      const collected = await timed(collector.collect(learner.weights(), steps))
      const { segments, episodes } = collected.result
      observe(segments, iteration + 1)
      const learned = await timed(learner.update(segments, update))
      return {
        steps: batch,
        episodes,
        metrics: learned.result,
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
function updateOf(settings: PpoSettings, remaining: number, seed: number): PpoUpdate {
  const { minibatch_size, epochs, learning_rate, entropy_coefficient, gamma, gae_lambda } = settings
  assert(minibatch_size !== null && epochs !== null, 'chosen before training')
  assert(learning_rate !== null && entropy_coefficient !== null, 'chosen before training')
  assert(gamma !== null && gae_lambda !== null, 'chosen before training')
  return {
    algorithm: 'ppo',
    gamma,
    gaeLambda: gae_lambda,
    epochs,
    minibatchSize: minibatch_size,
    optimizer: 'adam',
    learningRate: scheduled(learning_rate, settings.learning_rate_schedule, remaining),
    clipRange: scheduled(settings.clip_range, settings.clip_range_schedule, remaining),
    clipRangeValue: settings.clip_range_value,
    entropyCoefficient: scheduled(entropy_coefficient, settings.entropy_coefficient_schedule ?? 'constant', remaining),
    valueCoefficient: settings.value_coefficient,
    maxGradientNorm: settings.max_gradient_norm,
    targetKl: settings.target_kl,
    normalizeAdvantage: settings.normalize_advantage,
    normalizeObservation: settings.normalize_observation,
    normalizeReward: settings.normalize_reward,
    seed,
  }
}
