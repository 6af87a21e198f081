import type { Evaluation, SuccessCriteria } from '@agentgym/contract'
import type { ScenarioIdentity } from '../sandbox/vector-environment.ts'
import { mean, metricMeans } from './means.ts'
import type { EpisodeOutcome } from './play-episodes.ts'
import { judgeSuccess } from './success.ts'
import { trajectoryHash } from './trajectory-hash.ts'

/** Makes an evaluation of episodes: means, population deviation of the return, criteria and the trajectory hash. */
export function summarise(
  outcomes: EpisodeOutcome[],
  run: { scenario: ScenarioIdentity; seed: number; success: SuccessCriteria },
): Evaluation {
  const returns = outcomes.map((outcome) => outcome.return)
  const returnMean = mean(returns)
  const variance = returnMean === null ? null : mean(returns.map((value) => (value - returnMean) ** 2))
  const metrics = metricMeans(outcomes.map((outcome) => outcome.metrics))
  return {
    scenario: `${run.scenario.name}@${run.scenario.version}`,
    episodes: outcomes.length,
    seed: run.seed,
    return_mean: returnMean,
    return_std: variance === null ? null : Math.sqrt(variance),
    length_mean: mean(outcomes.map((outcome) => outcome.length)),
    metrics,
    success: judgeSuccess(run.success, returnMean, metrics),
    trajectory_hash: trajectoryHash(outcomes.map((outcome) => outcome.digest)),
  }
}
