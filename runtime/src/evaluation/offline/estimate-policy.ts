import { AgentGymError } from '@agentgym/contract'
import { bootstrap, type Interval } from './bootstrap.ts'
import { crossFittedValues } from './fitted-values.ts'
import {
  type Counts,
  effectiveSampleSize,
  extremeEpisodes,
  loggedReturn,
  type WeightedEpisode,
  weightedDoublyRobust,
  weightedImportanceSampling,
} from './importance-sampling.ts'

/** A decision of the logged policy, and what the estimated one would do there. */
export type LoggedDecision = {
  /** Numbers that describe the observation, for a model of the returns; all decisions have as many. */
  features: Float64Array
  /** The action that was chosen, from 0. */
  action: number
  /** Probability with which the logged policy chose it; null where the log does not say. */
  probability: number | null
  /** Probabilities of all actions in the logged policy, where the log says. */
  probabilities?: readonly number[]
  /** Probabilities of all actions in the estimated policy. */
  policy: Float64Array
  reward: number
}

export type LoggedTrajectory = {
  decisions: readonly LoggedDecision[]
  /** Whether the log says what came of the episode. */
  rewarded: boolean
}

export type PolicyEstimate = {
  episodes: number
  decisions: number
  /** Share of the decisions in which the likeliest action of the policy is the logged one. */
  agreement: number
  effective_sample_size: number
  confidence: number
  /** Mean return of an episode with its interval: of the logged policy, and of the estimated one by two estimators. */
  logged: Interval
  weighted_importance_sampling: Interval
  doubly_robust: Interval
  /** The doubly robust estimate less the logged return, paired. */
  improvement: Interval
}

export type RefusalReason =
  | 'too_few_episodes'
  | 'no_outcomes'
  | 'no_probabilities'
  | 'probabilities_invalid'
  | 'support'
  | 'effective_sample_size'

/** Fewer leave no interval that holds what it promises. */
const LEAST_EPISODES = 50
const LEAST_EFFECTIVE = 30
/** Share of the policy's choices that the log may never have made. */
const MOST_UNSUPPORTED = 0.01
const CONFIDENCE = 0.95
const REPLICATES = { most: 1_000, least: 200, work: 2e8 }

/**
 * Estimates the mean return of a policy from the episodes of a logged one. `labels` names the actions. Throws `estimate_refused` with
 * `data.reason` if the log cannot carry an estimate. `replicates`: samples of the bootstrap, fewer for a very long log.
 */
export function estimatePolicy(
  trajectories: readonly LoggedTrajectory[],
  labels: readonly string[],
  { seed = 0, replicates = REPLICATES.most }: { seed?: number; replicates?: number } = {},
): PolicyEstimate {
  const played = trajectories.filter(({ decisions }) => decisions.length > 0)
  requireLog(played)
  requireSupport(played, labels)
  const values = crossFittedValues(played.map(({ decisions }) => decisions))
  const episodes = played.map((trajectory, i): WeightedEpisode => ({ ...weigh(trajectory), ...values[i] }))
  const effective = effectiveSampleSize(episodes)
  if (effective < LEAST_EFFECTIVE) throw tooFewAgree(effective, episodes.length)
  const pseudo = extremeEpisodes(episodes)
  const sampled = [...episodes, ...pseudo]
  const doublyRobust = (counts: Counts) => weightedDoublyRobust(sampled, counts)
  const before = (counts: Counts) => loggedReturn(sampled, counts)
  const longest = episodes.reduce((most, { rewards }) => Math.max(most, rewards.length), 0)
  const affordable = Math.floor(REPLICATES.work / (episodes.length * longest))
  const [logged, weighted, robust, improvement] = bootstrap(
    { episodes: sampled.length, pseudo: pseudo.length },
    [
      before,
      (counts) => weightedImportanceSampling(sampled, counts),
      doublyRobust,
      (counts) => doublyRobust(counts) - before(counts),
    ],
    { replicates: Math.max(REPLICATES.least, Math.min(replicates, affordable)), seed },
  )
  const decisions = played.flatMap(({ decisions }) => decisions)
  const agreeing = decisions.filter(({ action, policy }) => policy[action] === Math.max(...policy)).length
  return {
    episodes: episodes.length,
    decisions: decisions.length,
    agreement: agreeing / decisions.length,
    effective_sample_size: effective,
    confidence: CONFIDENCE,
    logged,
    weighted_importance_sampling: weighted,
    doubly_robust: robust,
    improvement,
  }
}

function weigh({ decisions }: LoggedTrajectory): Pick<WeightedEpisode, 'ratios' | 'rewards'> {
  let ratio = 1
  const ratios = Float64Array.from(decisions, ({ policy, action, probability }) => {
    ratio *= policy[action] / (probability ?? 1)
    return ratio
  })
  return { ratios, rewards: Float64Array.from(decisions, ({ reward }) => reward) }
}

function requireLog(played: readonly LoggedTrajectory[]): void {
  if (played.length < LEAST_EPISODES) {
    throw refusal(
      'too_few_episodes',
      `the log has ${played.length} episodes with decisions, and ${LEAST_EPISODES} are the least`,
      'Log more episodes.',
    )
  }
  const unrewarded = played.filter(({ rewarded }) => !rewarded).length
  if (unrewarded > 0) {
    const what = `${unrewarded} of ${played.length} episodes have no outcome`
    throw refusal(
      'no_outcomes',
      what,
      'Log what came of each episode: a score, feedback or a field, which --outcome names.',
    )
  }
  const decisions = played.flatMap(({ decisions }) => decisions)
  const missing = decisions.filter(({ probability }) => probability === null).length
  if (missing > 0) {
    const what = `${missing} of ${decisions.length} decisions have no probability of the logged choice`
    const how =
      'Log with each decision how likely the policy was to make it. A log of fixed choices cannot say what others would have brought.'
    throw refusal('no_probabilities', what, how)
  }
  const invalid = decisions.find(({ probability }) => !(Number(probability) > 0 && Number(probability) <= 1 + 1e-6))
  if (invalid !== undefined) {
    const what = `a logged choice has the probability ${invalid.probability}`
    throw refusal('probabilities_invalid', what, 'A choice that was made has a probability above 0 and up to 1.')
  }
}

/**
 * Every action that the policy takes must have been possible in the log: an action that was never chosen has no outcome to learn
 * from, and where one choice had the probability 1, the others had none.
 */
function requireSupport(played: readonly LoggedTrajectory[], labels: readonly string[]): void {
  const tried = new Set(played.flatMap(({ decisions }) => decisions.map(({ action }) => action)))
  const wanted = new Float64Array(labels.length)
  let decisions = 0
  let impossible = 0
  for (const trajectory of played)
    for (const { policy, action, probability, probabilities } of trajectory.decisions) {
      decisions += 1
      for (let a = 0; a < policy.length; a += 1) {
        if (!tried.has(a)) wanted[a] += policy[a]
        else if (probabilities !== undefined ? !(probabilities[a] > 0) : a !== action && Number(probability) > 1 - 1e-6)
          impossible += policy[a]
      }
    }
  const untried = labels
    .map((label, a) => ({ label, share: wanted[a] / decisions }))
    .filter(({ share }) => share > MOST_UNSUPPORTED)
  if (untried.length > 0) {
    const names = untried.map(({ label, share }) => `${label} (${percent(share)} of its choices)`).join(', ')
    throw refusal(
      'support',
      `the agent chooses what the log never tried: ${names}`,
      'Let the logged policy try these tools now and then, or evaluate the agent in its scenario.',
    )
  }
  if (impossible / decisions > MOST_UNSUPPORTED) {
    const what = `${percent(impossible / decisions)} of the agent's choices had the probability 0 in the log`
    throw refusal(
      'support',
      what,
      'The logged policy must now and then make every choice that the agent makes, in the same situations.',
    )
  }
}

function tooFewAgree(effective: number, episodes: number): AgentGymError {
  const what = `the agent acts too unlike the log: its ${episodes} episodes say as much as ${effective.toFixed(1)} of the agent's own, and ${LEAST_EFFECTIVE} are the least`
  return refusal(
    'effective_sample_size',
    what,
    'Log more episodes, log a policy that explores more, or evaluate the agent in its scenario.',
  )
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`
}

function refusal(reason: RefusalReason, what: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'estimate_refused', message: `No estimate: ${what}`, hint, data: { reason } })
}
