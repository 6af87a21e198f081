import type {
  Evaluation,
  PolicySpec,
  ProgressEvent,
  SuccessCriteria,
  TrainingPlan,
  Trajectory,
} from '@agentgym/contract'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import type { RunPlace, TrainingResult } from './training-loop.ts'

/** What the trainer process gets: nothing but the job. */
export type TrainingJob = {
  scenario: ScenarioCode
  success: SuccessCriteria
  /** Rollout workers and learner threads chosen: none of them 0. */
  plan: TrainingPlan
  seed: number
  /** An encoded checkpoint to go on from. */
  checkpoint: Uint8Array | null
  /** The learner's own path; the fused one where it covers the policy. */
  learnerPath: 'auto' | 'autograd' | 'fused'
  /** Progress of every iteration; else a fast run leaves some out. */
  everyIteration: boolean
  /** Iterations between sampled trajectories, the first iteration's included; null samples none. */
  trajectories: { every: number } | null
}

/** What the trainer process sends while it runs. Checkpoints travel as bytes: the trainer itself cannot write files. */
export type TrainingMessage =
  | { type: 'progress'; event: ProgressEvent }
  | { type: 'evaluation'; evaluation: Evaluation; place: RunPlace }
  | { type: 'checkpoint'; bytes: Uint8Array; place: RunPlace }
  | { type: 'trajectory'; trajectory: Trajectory }

/** A trained agent, and how it was trained. Null: stopped in order, after a checkpoint. */
export type TrainingOutcome =
  | ({
      /** As it ran. */
      plan: TrainingPlan
      seed: number
      description: ScenarioDescription
      policy: PolicySpec
      model: Uint8Array
    } & TrainingResult)
  | null
