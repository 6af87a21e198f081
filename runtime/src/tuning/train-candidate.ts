import type { Evaluation, TrainingPlan } from '@agentgym/contract'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { scenarioCode } from '../sandbox/scenario-code.ts'
import { runTraining } from '../training/run-training.ts'

export type CandidateOptions = {
  scenario: BuiltScenario
  /** Its `steps` are those of the last rung, so that schedules are the same however far a candidate comes. */
  plan: TrainingPlan
  seed: number
  /** Of the rung before; null to begin. */
  checkpoint: Uint8Array | null
  /** Environment steps at which to pause. */
  pauseAt: number
  signal?: AbortSignal
  limits?: Partial<JobLimits>
  onProgress?(steps: number): void
}

export type CandidateResult = {
  evaluation: Evaluation
  checkpoint: Uint8Array
  /** Mean return of training episodes over the iterations of this part: how early it learned. Null without an episode. */
  meanReturn: number | null
}

/**
 * Trains a candidate up to a rung and evaluates it there, on the episodes that select weights: those that are published
 * decide nothing. Throws as `runTraining`.
 */
export async function trainCandidate(options: CandidateOptions): Promise<CandidateResult> {
  const { scenario, plan, seed, checkpoint, pauseAt, signal, limits, onProgress } = options
  let evaluation: Evaluation | undefined
  let paused: Uint8Array | undefined
  let returns = 0
  let count = 0
  await runTraining({
    scenario: await scenarioCode(scenario),
    success: scenario.package.agentgym.success,
    ...{ plan, seed, checkpoint, pauseAt, signal, limits },
    everyIteration: true,
    onProgress: (event) => {
      if (event.return_mean !== null) {
        returns += event.return_mean
        count += 1
      }
      onProgress?.(event.steps)
    },
    onEvaluation: (result) => {
      evaluation = result
    },
    onCheckpoint: (bytes) => {
      paused = bytes
    },
  })
  if (evaluation === undefined || paused === undefined)
    throw new Error('a paused run has no evaluation or no checkpoint')
  return { evaluation, checkpoint: paused, meanReturn: count === 0 ? null : returns / count }
}

/** Trains to the end like every run; its evaluation is that of the published episodes. Throws as `runTraining`. */
export async function trainWhole(
  options: Omit<CandidateOptions, 'checkpoint' | 'pauseAt'>,
): Promise<Pick<CandidateResult, 'evaluation' | 'meanReturn'>> {
  const { scenario, plan, seed, signal, limits, onProgress } = options
  const returns: number[] = []
  const outcome = await runTraining({
    scenario: await scenarioCode(scenario),
    success: scenario.package.agentgym.success,
    ...{ plan, seed, signal, limits, checkpoint: null },
    everyIteration: true,
    onProgress: (event) => {
      if (event.return_mean !== null) returns.push(event.return_mean)
      onProgress?.(event.steps)
    },
    onCheckpoint: () => {},
  })
  if (outcome === null) throw new Error('a run that nothing stops has no outcome')
  const sum = returns.reduce((total, value) => total + value, 0)
  return { evaluation: outcome.evaluation, meanReturn: returns.length === 0 ? null : sum / returns.length }
}
