import type { EncoderSet } from '@agentgym/agent/engine'
import type {
  ConfidenceMap,
  Evaluation,
  PolicySpec,
  SampleEpisode,
  ScenarioView,
  SuccessCriteria,
} from '@agentgym/contract'
import type { PlayedEpisodes } from '@agentgym/scenario/engine'
import { fitConfidence, measureCalibration } from '../evaluation/calibration.ts'
import type { EvaluatedEpisodes, EvaluationTask, Evaluator } from '../evaluation/evaluator.ts'
import { type EnvironmentSource, isExternal } from '../external/external-source.ts'
import { exportModel } from '../policy/policy-graph.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'

/** What an evaluation is for: each purpose has held-out episodes of its own. */
export type EvaluationPurpose = 'selection' | 'confirmation' | 'final'

/**
 * Three sets of held-out episodes: `selection` chooses the best weights, `confirmation` ends training early, and `final`
 * is published. A value that decided anything would be biased, so the final episodes are played once, at the end.
 */
const evaluationSeeds: Record<EvaluationPurpose, number> = { selection: 0x5e1ec7, confirmation: 0xc0ff1e, final: 0 }

/** Of a fourth set, apart from all of these, to which the confidence is fit. */
export const CALIBRATION_SEED = 0xca11b

/** At least so many of each seed's first episodes are not calibrated on: users evaluate more than training does. */
const LEAST_APART = 1_000

/** With fewer held-out tasks, an evaluation of another seed would hardly miss those that were calibrated on. */
const LEAST_TASKS = 1_000_000

export type HeldOutEpisodes = {
  evaluator: Evaluator
  scenario: EnvironmentSource
  success: SuccessCriteria
  policy: PolicySpec
  encoders: EncoderSet
  limits: JobLimits
  description: Pick<ScenarioDescription, 'tasks'>
  settings: { evaluation_episodes: number; calibration_episodes: number }
  /** How to draw the episode that each selection writes down, or that is played by itself; null: none is. */
  sample: { view: ScenarioView | null } | null
}

/** An episode that an evaluation wrote down, with its whole return and length: the sample may be cut. */
export type SampledEpisode = { episode: SampleEpisode; return: number; length: number }

export type HeldOutEvaluation = {
  evaluation: Evaluation
  clear: boolean | null
  /** Of the final evaluation; null where it cannot be fit. */
  confidence: ConfidenceMap | null
  sampled: SampledEpisode | null
}

/** Evaluates these weights on the episodes of a purpose. The final evaluation is preceded by the fit of the confidence. */
export async function evaluateHeldOut(
  parts: HeldOutEpisodes,
  weights: Float32Array,
  purpose: EvaluationPurpose,
): Promise<HeldOutEvaluation> {
  const final = purpose === 'final'
  const episodes = parts.settings.evaluation_episodes
  const model = exportModel(parts.policy, weights)
  const played = await play(parts, model, {
    episodes,
    seed: evaluationSeeds[purpose],
    choices: final,
    baselines: final,
    ...(purpose === 'selection' && parts.sample !== null ? { sample: parts.sample } : {}),
  })
  const { evaluation, clear, choosing, sampled } = played
  if (!final || choosing === null) return { evaluation, clear, confidence: null, sampled }
  const confidence = await calibrate(parts, model)
  const calibration = measureCalibration(choosing, confidence)
  return { evaluation: { ...evaluation, calibration }, clear, confidence, sampled }
}

/** The first episode of selections, alone, with these weights; null where an environment cannot be drawn. */
export async function sampleHeldOut(parts: HeldOutEpisodes, weights: Float32Array): Promise<SampledEpisode | null> {
  if (parts.sample === null || isExternal(parts.scenario)) return null
  const alone = { episodes: 1, environments: 1, seed: evaluationSeeds.selection, sample: parts.sample }
  return (await play(parts, exportModel(parts.policy, weights), alone)).sampled
}

/** Null where calibration is left out, or no episodes can be kept apart. */
async function calibrate(parts: HeldOutEpisodes, model: Uint8Array): Promise<ConfidenceMap | null> {
  const { description, settings } = parts
  const episodes = settings.calibration_episodes
  if (episodes === 0 || !hasEpisodesApart(description)) return null
  const apartFrom = episodesOfEvaluations(settings.evaluation_episodes)
  const { choosing } = await play(parts, model, { episodes, seed: CALIBRATION_SEED, choices: true, apartFrom })
  return choosing === null ? null : fitConfidence(choosing, CALIBRATION_SEED)
}

/** Whether some held-out episodes can be left to no other use: all are drawn at random, or from very many tasks. */
function hasEpisodesApart({ tasks }: HeldOutEpisodes['description']): boolean {
  return tasks.eval >= LEAST_TASKS || (tasks.eval === 0 && tasks.train === 0)
}

/** What training evaluates, or users by default. */
export function episodesOfEvaluations(evaluationEpisodes: number): PlayedEpisodes[] {
  const episodes = Math.max(LEAST_APART, evaluationEpisodes)
  return Object.values(evaluationSeeds).map((seed) => ({ seed, episodes }))
}

async function play(
  { evaluator, scenario, success, policy, encoders, limits }: HeldOutEpisodes,
  model: Uint8Array,
  episodes: Pick<
    EvaluationTask,
    'episodes' | 'environments' | 'seed' | 'choices' | 'baselines' | 'apartFrom' | 'sample'
  >,
): Promise<EvaluatedEpisodes & { sampled: SampledEpisode | null }> {
  const task = { scenario, success, policy, encoders, limits, model, ownModel: true, taskOrder: 'drawn' as const }
  let sample: SampleEpisode | null = null
  const onSample = (episode: SampleEpisode) => {
    sample = episode
  }
  const played = await evaluator.evaluate({ ...task, ...episodes, onSample })
  const { returns, lengths } = played
  return { ...played, sampled: sample && { episode: sample, return: returns[0], length: lengths[0] } }
}
