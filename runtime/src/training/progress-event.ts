import type { ProgressEvent } from '@agentgym/contract'
import type { Iteration } from './algorithm.ts'
import type { EpisodeStatistics } from './episode-statistics.ts'
import type { RunClock } from './run-clock.ts'

/** The line that a training iteration reports. */
export function progressEvent(now: {
  iteration: number
  steps: number
  stepsTotal: number
  clock: RunClock
  statistics: EpisodeStatistics
  done: Iteration
}): ProgressEvent {
  const { statistics, steps, done } = now
  const { metrics } = done
  const seconds = now.clock.seconds()
  return {
    event: 'progress',
    iteration: now.iteration,
    steps,
    steps_total: now.stepsTotal,
    steps_per_second: seconds > 0 ? steps / seconds : 0,
    seconds,
    collect_seconds: done.collectSeconds,
    update_seconds: done.updateSeconds,
    episodes: done.episodes.length,
    episodes_total: statistics.total,
    return_mean: statistics.returnMean,
    length_mean: statistics.lengthMean,
    metrics: statistics.metricMeans,
    learner: {
      policy_loss: metrics.policyLoss,
      value_loss: metrics.valueLoss,
      entropy: metrics.entropy,
      approximate_kl: metrics.approximateKl,
      clip_fraction: metrics.clipFraction,
      explained_variance: metrics.explainedVariance,
      kl_to_reference: metrics.klToReference,
      zero_variance_groups: metrics.zeroVarianceGroups,
      gradient_norm: metrics.gradientNorm,
      learning_rate: done.learningRate,
    },
  }
}
