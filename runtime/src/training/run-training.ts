import { requireCudaProvider } from '@agentgym/agent/engine'
import {
  type ChosenDefaults,
  type Evaluation,
  type ProgressEvent,
  type ScenarioLogs,
  type SuccessCriteria,
  scenarioLogsSchema,
  type TrainingPlan,
  type Trajectory,
} from '@agentgym/contract'
import { type EnvironmentSource, isExternal } from '../external/external-source.ts'
import { requireProcessor } from '../learner/processor.ts'
import { gpuEnvironment, seesGpu } from '../sandbox/job-gpus.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { superviseJob, threadEnvironment } from '../sandbox/supervisor.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { SampledEpisode } from './held-out-evaluations.ts'
import { type RunJob, runTogether, type Together } from './run-together.ts'
import { resolveAutomatic } from './settings.ts'
import type { TrainingJob, TrainingMessage, TrainingNotice, TrainingOutcome } from './training-job.ts'
import type { RunPlace } from './training-loop.ts'
import type { WarmStart } from './warm-start.ts'

export type RunTrainingOptions = {
  scenario: EnvironmentSource
  success: SuccessCriteria
  /** What is 0 for "automatic" is chosen for this machine. */
  plan: TrainingPlan
  /** Unsigned 32-bit; decides weights, episodes and sampling. */
  seed: number
  /** To continue from: of the same scenario, settings and seed; `steps` and the numbers of threads may differ. */
  checkpoint: Uint8Array | null
  /** The agent to start from where there is no checkpoint; by default random weights. Its plan is of `warmStartPlan`. */
  start?: WarmStart | null
  learnerPath?: TrainingJob['learnerPath']
  /** Progress of every iteration; else at most twenty lines a second. */
  everyIteration?: boolean
  /** Iterations between sampled trajectories; null, and by default, none. */
  trajectories?: TrainingJob['trajectories']
  /**
   * How to draw the episodes that evaluations during training give `onEvaluation`, or, without evaluations, `onSample` gets;
   * null, and by default, there are none.
   */
  sample?: TrainingJob['sample']
  /** Handlers are called one at a time and waited for. What one throws ends the run with that error. */
  onProgress(event: ProgressEvent): void | Promise<void>
  /** What the run chose for settings that are null in the plan. */
  onDefaults?(defaults: ChosenDefaults): void | Promise<void>
  onNotice?(notice: TrainingNotice): void | Promise<void>
  /** Takes what the scenario logs, once an iteration; left out, logs are only counted. */
  onLogs?(logs: ScenarioLogs): void | Promise<void>
  onEvaluation?(evaluation: Evaluation, place: RunPlace, sampled: SampledEpisode | null): void | Promise<void>
  /** Of an iteration that may have passed. */
  onSample?(sampled: SampledEpisode, place: RunPlace): void | Promise<void>
  onCheckpoint(bytes: Uint8Array, place: RunPlace & Pick<Checkpoint, 'dropped'>): void | Promise<void>
  onTrajectory?(trajectory: Trajectory): void | Promise<void>
  /** Environment steps at which the run is evaluated and ends with a checkpoint; the outcome is then null. */
  pauseAt?: number
  /** Ends the run after the iteration under way, with a checkpoint; the outcome is then null. */
  stop?: AbortSignal
  /** Kills the run at once: it rejects with `training_cancelled`. */
  signal?: AbortSignal
  limits?: Partial<JobLimits>
  /** Several processes; left out: one. */
  together?: Together
  /** UUIDs of the GPUs that it may use. Default: those that this process sees. */
  gpus?: readonly string[]
}

/**
 * Trains an agent in a supervised process, and writes no file. Null where it was stopped in order. Rejects with an
 * AgentGymError as `superviseJob` does, and with `checkpoint_invalid` or `scenario_mismatch` where the checkpoint is not
 * of this run.
 */
export async function runTraining(options: RunTrainingOptions): Promise<TrainingOutcome> {
  const { scenario, success, seed, checkpoint, learnerPath = 'auto', everyIteration = false } = options
  requireProcessor()
  if (options.plan.settings.rollout_provider === 'cuda') requireCudaProvider()
  const job: TrainingJob = {
    ...{ scenario, success, seed, checkpoint, learnerPath, everyIteration },
    start: checkpoint === null ? (options.start ?? null) : null,
    plan: resolveAutomatic(options.plan, options.together?.processes),
    trajectories: options.trajectories ?? null,
    sample: options.sample ?? null,
    logs: options.onLogs !== undefined,
    pauseAt: options.pauseAt ?? null,
    gpu: seesGpu(options.gpus),
    ranks: null,
  }
  const onMessage = (message: TrainingMessage) => handle(message, options)
  const run: RunJob = (job, parts) =>
    superviseJob({
      entry: new URL('./training.process.ts', import.meta.url),
      job,
      identity: scenario.identity,
      network: isExternal(scenario),
      limits: options.limits,
      stop: options.stop,
      environment: { ...threadEnvironment(), ...gpuEnvironment(options.gpus) },
      ...parts,
      onMessage: (message) => parts.onMessage(message as TrainingMessage),
    })
  const { together, signal } = options
  const several = together !== undefined && (together.processes > 1 || together.rendezvous !== undefined)
  const outcome = several
    ? await runTogether(job, together, { run, onMessage, signal })
    : await run(job, { signal, onMessage })
  return outcome as TrainingOutcome
}

function handle(message: TrainingMessage, options: RunTrainingOptions): void | Promise<void> {
  switch (message.type) {
    case 'progress':
      return options.onProgress(message.event)
    case 'defaults':
      return options.onDefaults?.(message.defaults)
    case 'notice':
      return options.onNotice?.(message.notice)
    case 'logs':
      return options.onLogs?.(scenarioLogsSchema.parse(message.logs))
    case 'evaluation':
      return options.onEvaluation?.(message.evaluation, message.place, message.sampled)
    case 'sample':
      return options.onSample?.(message.sampled, message.place)
    case 'checkpoint':
      return options.onCheckpoint(message.bytes, message.place)
    case 'trajectory':
      return options.onTrajectory?.(message.trajectory)
  }
}
