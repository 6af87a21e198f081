import type {
  ChosenDefaults,
  Evaluation,
  PolicySpec,
  ProgressEvent,
  ScenarioLogs,
  ScenarioView,
  SuccessCriteria,
  TrainingPlan,
  Trajectory,
} from '@agentgym/contract'
import type { EnvironmentSource } from '../external/external-source.ts'
import type { RankPlace } from '../learner/learner-types.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { SampledEpisode } from './held-out-evaluations.ts'
import type { Threads } from './settings.ts'
import type { RunPlace, TrainingResult } from './training-loop.ts'
import type { WarmStart } from './warm-start.ts'

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
  /** How to draw the episodes that are kept of a training: of each evaluation, or at even distances; null keeps none. */
  sample: { view: ScenarioView | null } | null
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
  | { type: 'evaluation'; evaluation: Evaluation; place: RunPlace; sampled: SampledEpisode | null }
  /** Of a run that takes no evaluations: `place` may be of an iteration before the last that was sent. */
  | { type: 'sample'; sampled: SampledEpisode; place: RunPlace }
  /** `salvaged`: another process was lost; every other one sends its own. */
  | { type: 'checkpoint'; bytes: Uint8Array; place: RunPlace & Pick<Checkpoint, 'dropped'>; salvaged?: true }
  | { type: 'trajectory'; trajectory: Trajectory }

/** Something that may keep the run from learning, and how to change it. */
export type TrainingNotice = { message: string; hint: string }

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
