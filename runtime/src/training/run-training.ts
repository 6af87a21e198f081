import {
  type ChosenDefaults,
  type Evaluation,
  type PolicySpec,
  type ProgressEvent,
  type ScenarioLogs,
  type SuccessCriteria,
  scenarioLogsSchema,
  type TrainingPlan,
  type Trajectory,
} from '@agentgym/contract'
import { type EnvironmentSource, isExternal } from '../external/external-source.ts'
import { seesGpu } from '../learner/learner-device.ts'
import type { RankPlace } from '../learner/learner-types.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { superviseJob, threadEnvironment } from '../sandbox/supervisor.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Threads } from './processes-pay.ts'
import { type RunJob, runTogether, type Together } from './run-together.ts'
import { resolveAutomatic } from './settings.ts'
import type { RunPlace, TrainingResult } from './training-loop.ts'
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
  /** Handlers are called one at a time and waited for. What one throws ends the run with that error. */
  onProgress(event: ProgressEvent): void | Promise<void>
  /** What the run chose for settings that are null in the plan. */
  onDefaults?(defaults: ChosenDefaults): void | Promise<void>
  onNotice?(notice: TrainingNotice): void | Promise<void>
  /** Takes what the scenario logs, once an iteration; left out, logs are only counted. */
  onLogs?(logs: ScenarioLogs): void | Promise<void>
  onEvaluation?(evaluation: Evaluation, place: RunPlace): void | Promise<void>
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
    start: checkpoint === null ? (options.start ?? null) : null,
    plan: resolveAutomatic(options.plan, options.together?.processes),
    trajectories: options.trajectories ?? null,
    logs: options.onLogs !== undefined,
    pauseAt: options.pauseAt ?? null,
    gpu: seesGpu(),
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
      environment: threadEnvironment(),
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
      return options.onEvaluation?.(message.evaluation, message.place)
    case 'checkpoint':
      return options.onCheckpoint(message.bytes, message.place)
    case 'trajectory':
      return options.onTrajectory?.(message.trajectory)
  }
}

/** What the trainer process gets: nothing but the job. */
export type TrainingJob = {
  scenario: EnvironmentSource
  success: SuccessCriteria
  /** Rollout workers and learner threads chosen: none of them 0. */
  plan: TrainingPlan
  seed: number
  /** An encoded checkpoint to go on from. */
  checkpoint: Uint8Array | null
  /** What a new run starts from; null: random weights, or a checkpoint. */
  start: WarmStart | null
  /** The learner's own path; the fused one where it covers the policy. */
  learnerPath: 'auto' | 'autograd' | 'fused'
  /** Progress of every iteration; else a fast run leaves some out. */
  everyIteration: boolean
  /** Iterations between sampled trajectories, the first iteration's included; null samples none. */
  trajectories: { every: number } | null
  /** Sends what the scenario logs; else it is only noticed that it does. */
  logs: boolean
  /** See `RunTrainingOptions`; null: at no step. */
  pauseAt: number | null
  /** Whether it sees a GPU; it may not look itself. */
  gpu: boolean
  /** One process of several: where it stands, and the threads that a single one would have. Null: it trains alone. */
  ranks: { place: RankPlace; alone: Threads } | null
}

/** What the trainer process sends while it runs. Checkpoints travel as bytes: the trainer itself cannot write files. */
export type TrainingMessage =
  | { type: 'defaults'; defaults: ChosenDefaults }
  | { type: 'notice'; notice: TrainingNotice }
  | { type: 'logs'; logs: ScenarioLogs }
  | { type: 'progress'; event: ProgressEvent }
  | { type: 'evaluation'; evaluation: Evaluation; place: RunPlace }
  /** `salvaged`: another process was lost; every other one sends its own. */
  | { type: 'checkpoint'; bytes: Uint8Array; place: RunPlace & Pick<Checkpoint, 'dropped'>; salvaged?: true }
  | { type: 'trajectory'; trajectory: Trajectory }

/** Something that may keep the run from learning, and how to change it. */
type TrainingNotice = { message: string; hint: string }

/** A trained agent, and how it was trained. Null: stopped in order, after a checkpoint. */
export type TrainingOutcome =
  | ({
      /** As it ran. */
      plan: TrainingPlan
      seed: number
      description: ScenarioDescription
      policy: PolicySpec
      model: Uint8Array
      /** Encoded: where training ended. */
      checkpoint: Uint8Array
    } & Omit<TrainingResult, 'checkpoint'>)
  | null
