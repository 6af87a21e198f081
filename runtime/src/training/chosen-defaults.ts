import assert from 'node:assert'
import { type ChosenDefaults, chosenSettings, type SpaceDescription, type TrainingPlan } from '@agentgym/contract'
import { actionLeaves, observationLeaves, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { RolloutSegment } from '../learner/learner-types.ts'
import { isImage } from '../policy/convolution.ts'
import { BOARD_RANGE } from '../policy/fixed-statistics.ts'
import { environmentsOf } from './settings.ts'

/** Environment steps that a random policy plays before training, over all environments. */
export const MEASURED_STEPS = 4096

type Played = Pick<RolloutSegment, 'steps' | 'environments' | 'rewards' | 'flags'>
export type Measurement = NonNullable<ChosenDefaults['measured']>
type Choice = Pick<ChosenDefaults, 'settings' | 'reason'>

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

const rewardRules = {
  /** Rewards closer together than this are one a step, with some noise. */
  denseSpacing: 4,
  /** Shorter episodes end before a discount matters. */
  longEpisode: 50,
  gamma: { longHorizon: 0.995, shortHorizon: 0.98 },
  lambda: { dense: 0.9, sparse: 0.98 },
  initialLogStd: { longEpisodes: 0, shortEpisodes: -1 },
} as const

/**
 * Discount, λ and the deviation of box actions for these rewards. Where every step is rewarded, λ is smaller: the critic learns quickly, and long sums of
 * rewards are noise. Where besides nothing but the time limit ends an episode, the horizon is short, too: what comes
 * later will be seen later. Everywhere else an action may decide about a reward far away, such as a goal. Boxes start
 * nearly uniform where episodes are long, because what helps may take many steps; in short ones, precision counts, and a narrow
 * Gaussian is precise sooner.
 */
function chooseByRewards({ reward_spacing, episode_length, terminated }: Measurement): Choice {
  const { denseSpacing, longEpisode, gamma, lambda, initialLogStd } = rewardRules
  const dense = reward_spacing !== null && reward_spacing <= denseSpacing
  const short = dense && !terminated && episode_length >= longEpisode
  const spacing = reward_spacing === null ? '' : reward_spacing.toFixed(reward_spacing < 10 ? 1 : 0)
  const rewards =
    reward_spacing === null ? 'all rewards are equal at first' : `one reward that matters in ${spacing} steps`
  const ends = short ? ', episodes end by the time limit only' : dense && terminated ? ', episodes terminate' : ''
  const settings = {
    gamma: short ? gamma.shortHorizon : gamma.longHorizon,
    gae_lambda: dense ? lambda.dense : lambda.sparse,
    initial_log_std: episode_length >= longEpisode ? initialLogStd.longEpisodes : initialLogStd.shortEpisodes,
  }
  return { settings, reason: `${rewards}${ends}` }
}

const smallBatches = { rollout_steps: 128, minibatch_size: 256, epochs: 8 }

/** About 8,192 samples for an update. */
const largeBatches = (environments: number) => ({
  rollout_steps: Math.max(smallBatches.rollout_steps, Math.floor(8192 / environments)),
  minibatch_size: 1024,
  epochs: 4,
})

/** Agents are evaluated greedily: what explored so many choices must be gone at the end. */
const falling = { entropy_coefficient_schedule: 'linear' }

/**
 * What these observations ask for. A word is seen rarely, so its embedding has few gradients to learn from; and until words are
 * told apart, the policy must not settle for what suits most texts; the few steps of a desk's case are told apart by its critic
 * sooner than by its noisy sums of rewards. On a board, what an action leads to depends on much that differs between games: a
 * small batch says more about its games than about the policy, and what comes after tens of moves about neither.
 */
function chooseForSpaces(observation: SpaceDescription, environments: number): Choice {
  const leaves = observationLeaves(observation)
  if (leaves.some(({ kind }) => kind === 'text')) {
    const settings = { ...smallBatches, learning_rate: 0.003, entropy_coefficient: 0.03, ...falling, gae_lambda: 0.8 }
    return { settings, reason: 'text' }
  }
  if (leaves.some(isImage)) {
    const batches = largeBatches(environments)
    const settings = { ...batches, learning_rate: 0.002, entropy_coefficient: 0.01, ...falling, gamma: 0.98 }
    return { settings, reason: 'a board or image' }
  }
  return { settings: { ...smallBatches, learning_rate: 0.001, entropy_coefficient: 0.01 }, reason: 'no text' }
}

/** What runs of a plan with these observations choose by: where two answers are equal, so are the choices for equal rewards. */
export function choiceRules(observation: SpaceDescription, plan: TrainingPlan): unknown {
  const board = observationLeaves(observation).some(isImage)
  const { settings } = chooseForSpaces(observation, environmentsOf(plan))
  return { settings, rewardRules, ...(board ? { BOARD_RANGE } : {}) }
}

/** The plan's settings that the scenario decides. */
function unsetIn({ settings }: TrainingPlan): string[] {
  return chosenSettings.filter((name) => (settings as Record<string, unknown>)[name] === null)
}

/** Those that need the rewards. */
const measuredSettings = ['gamma', 'gae_lambda', 'initial_log_std']

type Spaces = { observation: SpaceDescription; action: SpaceDescription }

/** What a plan leaves to the scenario; null if nothing. `measure` plays it, and is called only if its result is needed. */
export async function chooseDefaults(
  plan: TrainingPlan,
  { observation, action }: Spaces,
  measure: () => Promise<Measurement>,
): Promise<ChosenDefaults | null> {
  const boxes = actionLeaves(action).some(({ kind }) => kind === 'box')
  const unset = unsetIn(plan).filter((name) => boxes || name !== 'initial_log_std')
  if (unset.length === 0) return null
  const measured = unset.some((name) => measuredSettings.includes(name)) ? await measure() : null
  const bySpaces = chooseForSpaces(observation, environmentsOf(plan))
  const byRewards = measured === null ? null : chooseByRewards(measured)
  // What observations ask for goes before what rewards do.
  const chosen = { ...bySpaces.settings, ...byRewards?.settings, ...bySpaces.settings }
  const settings = Object.entries(chosen).filter(([name]) => unset.includes(name))
  const reasons = [bySpaces, ...(byRewards === null ? [] : [byRewards])].map(({ reason }) => reason)
  return { settings: Object.fromEntries(settings), reason: reasons.join('; '), measured }
}

/** The plan with `chosen` for those of its settings that are null, as far as they were chosen; what is set stays. */
export function withChosen(plan: TrainingPlan, chosen: Record<string, unknown>): TrainingPlan {
  const values = unsetIn(plan).map((name) => [name, chosen[name] ?? null])
  return { ...plan, settings: { ...plan.settings, ...Object.fromEntries(values) } } as TrainingPlan
}
