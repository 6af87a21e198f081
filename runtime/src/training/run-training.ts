import type { Evaluation, ProgressEvent, SuccessCriteria, TrainingPlan, Trajectory } from '@agentgym/contract'
import { threadEnvironment } from '../evaluation/thread-environment.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import { superviseJob } from '../sandbox/supervisor.ts'
import { resolveAutomatic } from './settings.ts'
import type { TrainingJob, TrainingMessage, TrainingOutcome } from './training-job.ts'
import type { RunPlace } from './training-loop.ts'

export type RunTrainingOptions = {
  scenario: ScenarioCode
  success: SuccessCriteria
  /** What is 0 for "automatic" is chosen for this machine. */
  plan: TrainingPlan
  /** Unsigned 32-bit; decides weights, episodes and sampling. */
  seed: number
  /** To go on from: of the same scenario, settings and seed; how many threads do the work may differ. */
  checkpoint: Uint8Array | null
  learnerPath?: TrainingJob['learnerPath']
  /** Progress of every iteration; else at most twenty lines a second. */
  everyIteration?: boolean
  /** Iterations between sampled trajectories; null, and by default, none. */
  trajectories?: TrainingJob['trajectories']
  /** Handlers are called one at a time and waited for. What one throws ends the run with that error. */
  onProgress(event: ProgressEvent): void | Promise<void>
  onEvaluation?(evaluation: Evaluation, place: RunPlace): void | Promise<void>
  onCheckpoint(bytes: Uint8Array, place: RunPlace): void | Promise<void>
  onTrajectory?(trajectory: Trajectory): void | Promise<void>
  /** Ends the run after the iteration under way, with a checkpoint; the outcome is then null. */
  stop?: AbortSignal
  /** Kills the run at once: it rejects with `training_cancelled`. */
  signal?: AbortSignal
  limits?: Partial<JobLimits>
}

/**
 * Trains an agent in a supervised process, and writes no file. Null where it was stopped in order. Rejects with an
 * AgentGymError as `superviseJob` does, and with `checkpoint_invalid` or `scenario_mismatch` where the checkpoint is not
 * of this run.
 */
export async function runTraining(options: RunTrainingOptions): Promise<TrainingOutcome> {
  const { scenario, success, seed, checkpoint, learnerPath = 'auto', everyIteration = false } = options
  const job: TrainingJob = {
    ...{ scenario, success, seed, checkpoint, learnerPath, everyIteration },
    plan: resolveAutomatic(options.plan),
    trajectories: options.trajectories ?? null,
  }
  const outcome = await superviseJob({
    entry: new URL('./training.process.ts', import.meta.url),
    job,
    identity: scenario.identity,
    limits: options.limits,
    stop: options.stop,
    signal: options.signal,
    environment: threadEnvironment(),
    onMessage: (message) => handle(message as TrainingMessage, options),
  })
  return outcome as TrainingOutcome
}

function handle(message: TrainingMessage, options: RunTrainingOptions): void | Promise<void> {
  switch (message.type) {
    case 'progress':
      return options.onProgress(message.event)
    case 'evaluation':
      return options.onEvaluation?.(message.evaluation, message.place)
    case 'checkpoint':
      return options.onCheckpoint(message.bytes, message.place)
    case 'trajectory':
      return options.onTrajectory?.(message.trajectory)
  }
}
