import type { Evaluation, PolicySpec, PpoSettings, ProgressEvent, SuccessCriteria } from '@agentgym/contract'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import type { CurvePoint } from './curve.ts'

/** What the trainer process gets: nothing but the job. */
export type TrainingJob = {
  scenario: ScenarioCode
  success: SuccessCriteria
  settings: PpoSettings
  seed: number
  /** An encoded checkpoint to go on from. */
  checkpoint: Uint8Array | null
  /** The learner's own path; the fused one where it covers the policy. */
  learnerPath: 'auto' | 'autograd' | 'fused'
}

/** What the trainer process sends while it runs. Checkpoints travel as bytes: the trainer itself cannot write files. */
export type TrainingMessage =
  | { type: 'progress'; event: ProgressEvent }
  | { type: 'evaluation'; steps: number; evaluation: Evaluation }
  | { type: 'checkpoint'; steps: number; bytes: Uint8Array }

export type TrainingOutcome = {
  description: ScenarioDescription
  policy: PolicySpec
  model: Uint8Array
  weights: Float32Array
  evaluation: Evaluation
  stepsOfWeights: number
  steps: number
  seconds: number
  curve: CurvePoint[]
} | null
