import type { ProgressEvent } from '@agentgym/contract'
import type { PpoUpdate, UpdateMetrics } from '../learner/learner-types.ts'
import type { EpisodeStatistics } from './episode-statistics.ts'
import type { RunClock } from './run-clock.ts'

/** The line that a training iteration reports. */
export function progressEvent(now: {
  steps: number
  stepsTotal: number
  clock: RunClock
  statistics: EpisodeStatistics
  ended: number
  losses: UpdateMetrics
  update: PpoUpdate
}): ProgressEvent {
  const { statistics, losses, steps } = now
  const seconds = now.clock.seconds()
  return {
    event: 'progress',
    steps,
    steps_total: now.stepsTotal,
    steps_per_second: seconds > 0 ? steps / seconds : 0,
    seconds,
    episodes: now.ended,
    episodes_total: statistics.total,
    return_mean: statistics.returnMean,
    length_mean: statistics.lengthMean,
    metrics: statistics.metricMeans,
    learner: {
      policy_loss: losses.policyLoss,
      value_loss: losses.valueLoss,
      entropy: losses.entropy,
      approximate_kl: losses.approximateKl,
      clip_fraction: losses.clipFraction,
      explained_variance: losses.explainedVariance,
      gradient_norm: losses.gradientNorm,
      learning_rate: now.update.learningRate,
    },
  }
}
