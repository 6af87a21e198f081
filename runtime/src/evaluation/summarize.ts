import type {
  Baseline,
  Calibration,
  Evaluation,
  EvaluationTasks,
  LevelEvaluation,
  SuccessCriteria,
} from '@agentgym/contract'
import type { ScenarioIdentity } from '../sandbox/vector-environment.ts'
import type { BaselineOutcomes } from './play-baselines.ts'
import { type EpisodeOutcome, trajectoryHash } from './play-episodes.ts'

/** Makes an evaluation of episodes: means, population deviation of the return, criteria and the trajectory hash. */
export function summarize(
  outcomes: EpisodeOutcome[],
  run: {
    scenario: ScenarioIdentity
    seed: number
    tasks: EvaluationTasks | null
    /** Names of the levels; null where the scenario has none. */
    levels: string[] | null
    success: SuccessCriteria
    calibration?: Calibration | null
    baselines?: readonly BaselineOutcomes[]
  },
): Evaluation {
  const returns = outcomes.map((outcome) => outcome.return)
  const returnMean = mean(returns)
  const variance = returnMean === null ? null : mean(returns.map((value) => (value - returnMean) ** 2))
  const metrics = metricMeans(outcomes.map((outcome) => outcome.metrics))
  return {
    scenario: `${run.scenario.name}@${run.scenario.version}`,
    episodes: outcomes.length,
    seed: run.seed,
    ...(run.tasks === null ? {} : { tasks: run.tasks }),
    return_mean: returnMean,
    return_std: variance === null ? null : Math.sqrt(variance),
    length_mean: mean(outcomes.map((outcome) => outcome.length)),
    metrics,
    ...(run.levels === null ? {} : { levels: levelsOf(outcomes, run.levels) }),
    success: judgeSuccess(run.success, returnMean, metrics),
    ...(run.calibration == null ? {} : { calibration: run.calibration }),
    ...(run.baselines === undefined || run.baselines.length === 0
      ? {}
      : { baselines: run.baselines.map((each) => baselineOf(each, run.success)) }),
    trajectory_hash: trajectoryHash(outcomes.map((outcome) => outcome.digest)),
  }
}

function baselineOf({ player, outcomes }: BaselineOutcomes, success: SuccessCriteria): Baseline {
  const returnMean = mean(outcomes.map((outcome) => outcome.return)) ?? 0
  const metrics = metricMeans(outcomes.map((outcome) => outcome.metrics))
  return {
    player,
    return_mean: returnMean,
    length_mean: mean(outcomes.map((outcome) => outcome.length)) ?? 0,
    metrics,
    success: judgeSuccess(success, returnMean, metrics).ok,
  }
}

/** Episode e plays level e modulo their number, as the engine does. */
function levelsOf(outcomes: EpisodeOutcome[], names: string[]): LevelEvaluation[] {
  return names.map((name, level) => {
    const played = outcomes.filter((_, episode) => episode % names.length === level)
    return {
      name,
      episodes: played.length,
      return_mean: mean(played.map((outcome) => outcome.return)),
      metrics: metricMeans(played.map((outcome) => outcome.metrics)),
    }
  })
}

/** Holds measured means against the scenario's criteria; a metric that was never reported counts as missed. */
export function judgeSuccess(
  criteria: SuccessCriteria,
  returnMean: number | null,
  metrics: Record<string, number>,
): Evaluation['success'] {
  const judged = Object.entries(criteria).map(([metric, target]) => {
    const value = metric === 'return_mean' ? returnMean : Object.hasOwn(metrics, metric) ? metrics[metric] : null
    return { metric, target, value, ok: value !== null && value >= target }
  })
  return { ok: judged.length === 0 ? null : judged.every((criterion) => criterion.ok), criteria: judged }
}

/**
 * Whether every criterion is met with two standard errors to spare, so that other episodes will hardly miss it. Null without
 * criteria. Where all episodes are alike, nothing must be to spare.
 */
export function isClearSuccess(outcomes: EpisodeOutcome[], criteria: SuccessCriteria): boolean | null {
  const names = Object.keys(criteria)
  if (names.length === 0) return null
  return names.every((name) => {
    const values = outcomes.flatMap(({ return: sum, metrics }) =>
      name === 'return_mean' ? [sum] : Object.hasOwn(metrics, name) ? [metrics[name]] : [],
    )
    const center = mean(values)
    if (center === null) return false
    const variance = mean(values.map((value) => (value - center) ** 2)) ?? 0
    return center - 2 * Math.sqrt(variance / values.length) >= criteria[name]
  })
}

/** Orders evaluations: criteria met first, then how near the worst criterion is to its target, then the return. */
export function isBetter(candidate: Evaluation, incumbent: Evaluation): boolean {
  const a = rank(candidate)
  const b = rank(incumbent)
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) return a[i] > b[i]
  }
  return false
}

function rank(evaluation: Evaluation): number[] {
  const { ok, criteria } = evaluation.success
  const shortfalls = criteria.map(({ target, value }) =>
    value === null ? Number.NEGATIVE_INFINITY : Math.min(0, (value - target) / Math.max(Math.abs(target), 1e-9)),
  )
  return [ok === true ? 1 : 0, Math.min(0, ...shortfalls), evaluation.return_mean ?? Number.NEGATIVE_INFINITY]
}

/** Null, never NaN, for no values. */
export function mean(values: number[]): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length
}

/** Mean of each metric over the episodes that reported it, names in order of first appearance. */
export function metricMeans(episodes: Record<string, number>[]): Record<string, number> {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const metrics of episodes) {
    for (const [name, value] of Object.entries(metrics)) {
      const entry = sums.get(name) ?? { sum: 0, count: 0 }
      entry.sum += value
      entry.count += 1
      sums.set(name, entry)
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, count }]) => [name, sum / count]))
}
