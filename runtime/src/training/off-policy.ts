import type { DqnSettings, SacSettings } from '@agentgym/contract'
import type { Learner, Update, UpdateMetrics } from '../learner/learner-types.ts'
import type { Exploration } from '../rollout/worker-channel.ts'
import {
  type Algorithm,
  type Iteration,
  nothingLearned,
  type RolloutObserver,
  scheduled,
  timed,
  updateSeed,
} from './algorithm.ts'
import { type Collector, planRollouts } from './ppo.ts'

/** What an algorithm needs of the rollout pool that plays by more than its policy. */
type ExploringCollector = Omit<Collector, 'collect'> & {
  /** As PPO's; `exploration` is as in `RolloutPool.collect`. */
  collect(weights: Float32Array, startStep: number, exploration: Exploration): ReturnType<Collector['collect']>
}

export type OffPolicyParts = {
  seed: number
  collector: ExploringCollector
  learner: Learner
  observe: RolloutObserver
}

/** What the gradient steps of every off-policy update have. */
export type ReplayUpdate = { gradientSteps: number; learningRate: number; seed: number }

type OffPolicyRun = OffPolicyParts & {
  settings: DqnSettings | SacSettings
  /** How the rollout after `steps` environment steps is played. */
  exploration(steps: number): Exploration
  updateOf(common: ReplayUpdate): Update
}

/**
 * Learns from steps of any age. An iteration plays a rollout and, at the same time, learns from the steps before it: as the
 * data is old anyway, acting by weights that are one update older costs nothing, and both cores work. What each does is the
 * same whichever ends first.
 */
export function playWhileLearning(run: OffPolicyRun): Algorithm {
  const { settings, seed, collector, learner, observe, exploration, updateOf } = run
  const { batch, iterations } = planRollouts(settings)
  return {
    stepsTotal: iterations * batch,
    async iterate({ iteration, steps }): Promise<Iteration> {
      const explored = exploration(steps)
      const remaining = 1 - steps / (iterations * batch)
      const update = {
        gradientSteps: dueGradientSteps(settings, steps) - dueGradientSteps(settings, steps - batch),
        learningRate: scheduled(settings.learning_rate, settings.learning_rate_schedule, remaining),
        seed: updateSeed(seed, iteration),
      }
      const [collected, learned] = await Promise.all([
        timed(collector.collect(learner.weights(), steps, explored)),
        timed(learn(learner, update.gradientSteps, updateOf(update))),
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
        ...(typeof explored === 'number' ? { explorationRate: explored } : {}),
        collectSeconds: collected.seconds,
        updateSeconds: learned.seconds,
      }
    },
    snapshot: () => collector.snapshot(),
    restore: (episodes) => collector.restore(episodes),
  }
}

/** Gradient steps that are due once a run has made this many environment steps. */
function dueGradientSteps(
  { learning_starts, train_frequency, gradient_steps }: DqnSettings | SacSettings,
  steps: number,
) {
  return Math.floor((Math.max(0, steps - learning_starts) * gradient_steps) / train_frequency)
}

/** Nothing before learning starts, nor while the buffer is empty: a checkpoint may have left it out. */
async function learn(learner: Learner, gradientSteps: number, update: Update): Promise<UpdateMetrics> {
  if (gradientSteps === 0 || learner.remembered().steps === 0) return nothingLearned
  return learner.update([], update)
}
