import type { DqnSettings } from '@agentgym/contract'
import type { DqnUpdate, Learner, RolloutSegment, UpdateMetrics } from '../learner/learner-types.ts'
import { type Algorithm, type Iteration, nothingLearned, type RolloutObserver, timed, updateSeed } from './algorithm.ts'
import type { EpisodeSnapshot } from './checkpoint.ts'
import { planRollouts } from './ppo.ts'
import type { EpisodeResult } from './run-statistics.ts'

/** What DQN needs of the rollout pool. */
export type ExploringCollector = {
  /** As PPO's; `epsilon` is the probability of a random action. */
  collect(
    weights: Float32Array,
    startStep: number,
    epsilon: number,
  ): Promise<{ segments: RolloutSegment[]; episodes: EpisodeResult[] }>
  snapshot(): Promise<EpisodeSnapshot[]>
  restore(episodes: EpisodeSnapshot[]): Promise<void>
}

export type DqnParts = {
  settings: DqnSettings
  seed: number
  collector: ExploringCollector
  learner: Learner
  observe: RolloutObserver
}

/**
 * Deep Q-learning (Mnih et al. 2015), with double Q-learning (van Hasselt et al. 2016), returns of n steps and dueling
 * networks (Wang et al. 2016). One network learns the values of all actions from steps of any age:
 *
 *   loss = Huber(Q(s, a) - y),  y = Σ_{k<n} γ^k r_{t+k} + γ^n Q'(s_{t+n}, argmax_a Q(s_{t+n}, a))
 *
 * An iteration plays a rollout and, at the same time, learns from the steps before it: as the data is old anyway, acting by
 * weights that are one update older costs nothing, and both cores work. What each does is the same whichever ends first.
 */
export function dqn({ settings, seed, collector, learner, observe }: DqnParts): Algorithm {
  const { batch, iterations } = planRollouts(settings)
  return {
    stepsTotal: iterations * batch,
    async iterate({ iteration, steps }): Promise<Iteration> {
      const epsilon = explorationRate(settings, steps)
      const update = updateOf(settings, steps, batch, 1 - steps / (iterations * batch), updateSeed(seed, iteration))
      const [collected, learned] = await Promise.all([
        timed(collector.collect(learner.weights(), steps, epsilon)),
        timed(learn(learner, update)),
      ])
      const { segments, episodes } = collected.result
      observe(segments, iteration + 1)
      learner.remember(segments, {
        capacity: settings.buffer_size,
        normalizeObservation: settings.normalize_observation,
      })
      return {
        steps: batch,
        episodes,
        metrics: learned.result,
        learningRate: update.learningRate,
        explorationRate: epsilon,
        collectSeconds: collected.seconds,
        updateSeconds: learned.seconds,
      }
    },
    snapshot: () => collector.snapshot(),
    restore: (episodes) => collector.restore(episodes),
  }
}

/** Falls linearly over the first steps of the run, then stays; by the steps that the run has made, so a resumed one goes on. */
export function explorationRate(settings: DqnSettings, steps: number): number {
  const { exploration_initial, exploration_final, exploration_steps } = settings
  return exploration_initial + (exploration_final - exploration_initial) * Math.min(1, steps / exploration_steps)
}

/** Gradient steps that are due once a run has made this many environment steps. */
function dueGradientSteps({ learning_starts, train_frequency, gradient_steps }: DqnSettings, steps: number): number {
  return Math.floor((Math.max(0, steps - learning_starts) * gradient_steps) / train_frequency)
}

/** `steps` are in the replay buffer, the last `batch` of them since the update before. */
function updateOf(settings: DqnSettings, steps: number, batch: number, remaining: number, seed: number): DqnUpdate {
  const { target_update_interval, gradient_steps, train_frequency } = settings
  return {
    algorithm: 'dqn',
    gamma: settings.gamma,
    nStep: settings.n_step,
    doubleQ: settings.double_q,
    gradientSteps: dueGradientSteps(settings, steps) - dueGradientSteps(settings, steps - batch),
    minibatchSize: settings.minibatch_size,
    targetInterval: Math.max(1, Math.round((target_update_interval * gradient_steps) / train_frequency)),
    tau: settings.tau,
    learningRate: settings.learning_rate * (settings.learning_rate_schedule === 'linear' ? remaining : 1),
    maxGradientNorm: settings.max_gradient_norm,
    seed,
  }
}

/** Nothing before learning starts, nor while the buffer is empty: a checkpoint may have left it out. */
async function learn(learner: Learner, update: DqnUpdate): Promise<UpdateMetrics> {
  if (update.gradientSteps === 0 || learner.remembered().steps === 0) return nothingLearned
  return learner.update([], update)
}
