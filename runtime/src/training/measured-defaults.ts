import assert from 'node:assert'
import { type MeasuredDefaults, measuredSettings, type TrainingPlan } from '@agentgym/contract'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { RolloutSegment } from '../learner/learner-types.ts'

/** Environment steps that a random policy plays before training, over all environments. */
export const MEASURED_STEPS = 4096

type Played = Pick<RolloutSegment, 'steps' | 'environments' | 'rewards' | 'flags'>
type Measurement = MeasuredDefaults['measured']
type Choice = Pick<MeasuredDefaults, 'settings' | 'reason'>

/**
 * How often rewards say something, and how long episodes are.
 *
 * A reward says something by its distance d from the usual one, the median. `reward_spacing` is steps / n, where
 * n = (Σ|d|)² / Σd² is the number of equal rewards as concentrated as these: 1 where a single step has all of it, the
 * number of steps where all have the same. A large reward at an episode's end counts for more than many small ones.
 */
export function measureRewards(segments: readonly Played[]): Measurement {
  const rewards = segments.flatMap((segment) => Array.from(segment.rewards))
  assert(rewards.length > 0, 'a step was played')
  const usual = rewards.toSorted((a, b) => a - b)[rewards.length >> 1]
  const distances = rewards.map((reward) => Math.abs(reward - usual))
  const sum = distances.reduce((a, b) => a + b, 0)
  const squares = distances.reduce((a, b) => a + b * b, 0)
  return {
    steps: rewards.length,
    reward_spacing: squares > 0 ? (rewards.length * squares) / sum ** 2 : null,
    ...measureEpisodes(segments),
  }
}

function measureEpisodes(segments: readonly Played[]): Pick<Measurement, 'episode_length' | 'terminated'> {
  const lengths: number[] = []
  let terminated = false
  for (const { steps, environments, flags } of segments) {
    for (let environment = 0; environment < environments; environment++) {
      let start = 0
      for (let step = 0; step < steps; step++) {
        const flag = flags[step * environments + environment]
        if ((flag & (TERMINATED | TRUNCATED)) === 0) continue
        terminated ||= (flag & TERMINATED) !== 0
        lengths.push(step + 1 - start)
        start = step + 1
      }
    }
  }
  if (lengths.length === 0) return { episode_length: segments[0].steps, terminated }
  return { episode_length: lengths.reduce((a, b) => a + b) / lengths.length, terminated }
}

/** Rewards closer together than this are one a step, with some noise. */
const DENSE_SPACING = 4

/** Shorter episodes end before a discount matters. */
const LONG_EPISODE = 50

const longHorizon = { gamma: 0.995, gae_lambda: 0.98 }
const shortHorizon = { gamma: 0.98, gae_lambda: 0.95 }

/**
 * A discount for these rewards. Where every step's reward says how things stand and only the time limit ends an episode,
 * what happens later is seen later, and a short horizon learns with less noise. Everywhere else an action may decide
 * about a reward far away: the end of an episode, or a goal.
 */
export function chooseDiscount(measured: Measurement): Choice {
  const { reward_spacing, episode_length, terminated } = measured
  if (reward_spacing === null) {
    return { settings: longHorizon, reason: 'all rewards of a random policy are equal: what matters comes later' }
  }
  const one = `one reward that matters in ${reward_spacing.toFixed(reward_spacing < 10 ? 1 : 0)} steps`
  if (terminated) return { settings: longHorizon, reason: `${one}, and actions decide when an episode ends` }
  if (reward_spacing > DENSE_SPACING) return { settings: longHorizon, reason: one }
  const length = Math.round(episode_length)
  if (episode_length < LONG_EPISODE) return { settings: longHorizon, reason: `episodes of only ${length} steps` }
  return { settings: shortHorizon, reason: `${one}, and only the time limit ends an episode` }
}

/** Whether the plan leaves a setting to be chosen by the scenario's rewards. */
export function needsMeasurement({ settings }: TrainingPlan): boolean {
  return measuredSettings.some((name) => (settings as Record<string, unknown>)[name] === null)
}

/** The plan with `chosen` for those of its settings that are null; what is set stays. */
export function withChosen(plan: TrainingPlan, chosen: Record<string, unknown>): TrainingPlan {
  const settings: Record<string, unknown> = { ...plan.settings }
  for (const name of measuredSettings) {
    if (settings[name] === null) settings[name] = chosen[name]
  }
  return { ...plan, settings } as TrainingPlan
}
