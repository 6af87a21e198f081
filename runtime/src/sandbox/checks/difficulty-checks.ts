import type { SuccessCriteria } from '@agentgym/contract'
import { RandomActions } from '@agentgym/playing'
import type { VectorEnvironment } from '../vector-environment.ts'
import { CheckFailure, type Finding } from './check-messages.ts'
import { IdleActions } from './idle-actions.ts'
import type { Use } from './repeat-checks.ts'
import { BUDGET_MS, ENVIRONMENTS, EPISODES, mean, type Played, playWhole, round } from './whole-episodes.ts'

/** What an untrained policy reached; null where its episodes took too long. */
type Reached = Played | null
type Baseline = { policy: string; train: Reached; eval: Reached }

/** Plays random actions, and always the first action, on both splits. */
export function playBaselines(use: Use): Baseline[] {
  const policies = [
    {
      policy: 'random actions',
      make: (environment: VectorEnvironment) => new RandomActions(environment.description, 1),
    },
    {
      policy: 'always the first action',
      make: (environment: VectorEnvironment) => new IdleActions(environment.description),
    },
  ]
  return policies.map(({ policy, make }) => {
    const play = (plan: { split: 'train' } | { split: 'eval'; episodes: number }) =>
      use({ environments: ENVIRONMENTS, plan }, (environment) => playWhole(environment, make(environment)))
    return {
      policy,
      train: play({ split: 'train' }),
      eval: play({ split: 'eval', episodes: EPISODES * ENVIRONMENTS }),
    }
  })
}

/** What the scenario's rules reach, as a sentence; null without rules. A fault of the rules is thrown, as of everything else. */
export function describeRules(use: Use, success: SuccessCriteria): string | null {
  const plan = { split: 'eval', episodes: EPISODES * ENVIRONMENTS } as const
  const reached = use({ environments: ENVIRONMENTS, plan }, (environment) => {
    if (environment.description.rules !== true) return null
    return playWhole(environment, { fill: () => environment.rules() })
  })
  if (reached === null) return null
  const values: Record<string, number> = { ...reached.metrics, return_mean: reached.mean }
  const shown = Object.keys(success).map((name) => `${name} ${round(values[name] ?? Number.NaN)}`)
  return `its rules return ${round(reached.mean)}${shown.length === 0 ? '' : ` and reach ${shown.join(', ')}`}`
}

/**
 * What comes without learning, on the episodes of evaluation. A return that it reaches is no success; where it meets
 * criteria on metrics, the author is warned.
 */
export function compareBaselines(baselines: readonly Baseline[], success: SuccessCriteria): Finding {
  const target = success.return_mean
  const reached = baselines.flatMap(({ policy, eval: held }) => {
    if (held === null) return []
    const values: Record<string, number> = { ...held.metrics, return_mean: mean(held.returns) }
    return [{ policy, values }]
  })
  const enough = reached.find(({ values }) => target !== undefined && values.return_mean >= target)
  if (enough !== undefined) {
    throw new CheckFailure(
      `Success asks for a return of ${target}, and ${enough.policy} already return ${round(enough.values.return_mean)}. Set success.return_mean to what only a trained agent reaches.`,
    )
  }
  if (reached.length < baselines.length) {
    return {
      message: `not shown: ${EPISODES * ENVIRONMENTS} episodes of an untrained policy take more than ${BUDGET_MS / 1000} s. Make steps faster or episodes shorter to see whether success needs learning.`,
      warning: true,
    }
  }
  const shown = reached.map(({ policy, values }) => `${policy} return ${round(values.return_mean)}`)
  const compared = `${shown.join(', ')}; success asks for ${target ?? 'no return'}`
  const criteria = Object.entries(success)
  const untrained = reached.find(
    ({ values }) => criteria.length > 0 && criteria.every(([metric, least]) => values[metric] >= least),
  )
  if (untrained === undefined) return { message: compared }
  const values = criteria.map(([metric, least]) => `${metric} ${round(untrained.values[metric])} (success: ${least})`)
  return {
    message: `${untrained.policy} already meet every success criterion: ${values.join(', ')}. Raise the criteria to what only a trained agent reaches.`,
    warning: true,
  }
}

/** A sentence about a baseline that does better on one split than on the other; undefined where none does. */
export function describeUnevenSplits(baselines: readonly Baseline[]): string | undefined {
  for (const { policy, train, eval: held } of baselines) {
    if (train === null || held === null || !differ(train.returns, held.returns)) continue
    const [a, b] = [round(mean(train.returns)), round(mean(held.returns))]
    return `training and evaluation differ in difficulty: ${policy} return ${a} in training and ${b} in evaluation. Generate both from the same distribution.`
  }
  return undefined
}

/** Means further apart than four standard errors, and than a quarter of the spread: chance hardly gives that. */
function differ(one: readonly number[], other: readonly number[]): boolean {
  const apart = Math.abs(mean(one) - mean(other))
  const [a, b] = [variance(one), variance(other)]
  const error = Math.sqrt(a / one.length + b / other.length)
  return apart > 1e-9 * Math.max(1, Math.abs(mean(one))) && apart > 4 * error && apart > 0.25 * Math.sqrt((a + b) / 2)
}

function variance(values: readonly number[]): number {
  const center = mean(values)
  return mean(values.map((value) => (value - center) ** 2))
}
