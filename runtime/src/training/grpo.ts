import type { GrpoSettings } from '@agentgym/contract'
import type { GrpoUpdate, Learner, RolloutSegment } from '../learner/learner-types.ts'
import { type Algorithm, type Iteration, type RolloutObserver, scheduled, timed, updateSeed } from './algorithm.ts'
import type { EpisodeResult } from './run-statistics.ts'

/** What GRPO needs of the rollout pool. */
type GroupCollector = {
  /** Plays episode `episode` of every group, once in each environment. */
  collectEpisodes(
    weights: Float32Array,
    episode: number,
  ): Promise<{ segments: RolloutSegment[]; episodes: (EpisodeResult & { environment: number })[] }>
}

export type GrpoParts = {
  settings: GrpoSettings
  seed: number
  collector: GroupCollector
  learner: Learner
  observe: RolloutObserver
}

/**
 * Group Relative Policy Optimisation (Shao et al. 2024: DeepSeekMath). An iteration plays `groups` × `group_size` whole
 * episodes and learns from them; the run ends with the iteration that reaches `steps`. No episode is under way between
 * two iterations.
 */
export function grpo({ settings, seed, collector, learner, observe }: GrpoParts): Algorithm {
  return {
    stepsTotal: settings.steps,
    async iterate({ iteration, steps }): Promise<Iteration> {
      const update = updateOf(settings, 1 - steps / settings.steps, updateSeed(seed, iteration))
      const collected = await timed(collector.collectEpisodes(learner.weights(), iteration))
      const { segments, episodes } = collected.result
      observe(segments, iteration + 1)
      const learned = await timed(learner.update(segments, update))
      return {
        steps: segments.reduce((sum, { lengths }) => sum + (lengths?.reduce((a, b) => a + b, 0) ?? 0), 0),
        // Workers report episodes in the order in which they ended; the run's statistics must not depend on the workers.
        episodes: episodes.sort((a, b) => a.environment - b.environment),
        metrics: learned.result,
        learningRate: update.learningRate,
        collectSeconds: collected.seconds,
        updateSeconds: learned.seconds,
      }
    },
    snapshot: async () => [],
    restore: async () => {},
  }
}

/** The settings of one update, schedules applied; `remaining` falls from 1 to (almost) 0 over the run. */
function updateOf(settings: GrpoSettings, remaining: number, seed: number): GrpoUpdate {
  return {
    algorithm: 'grpo',
    groupSize: settings.group_size,
    epochs: settings.epochs,
    minibatchSize: settings.minibatch_size,
    optimizer: 'adam',
    learningRate: scheduled(settings.learning_rate, settings.learning_rate_schedule, remaining),
    clipRange: settings.clip_range,
    entropyCoefficient: scheduled(settings.entropy_coefficient, settings.entropy_coefficient_schedule, remaining),
    klCoefficient: settings.kl_coefficient,
    maxGradientNorm: settings.max_gradient_norm,
    targetKl: settings.target_kl,
    normalizeObservation: settings.normalize_observation,
    seed,
  }
}
