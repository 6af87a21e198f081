import type { RunEpisodeUpload } from '@agentgym/client'
import {
  AgentGymError,
  type CheckReport,
  type Evaluation,
  type EvaluationResultRequest,
  type LeasedCheck,
  type LeasedEvaluation,
  type LeasedTraining,
  type Outcome,
  type ProgressEvent,
  type SampleEpisode,
  type Trajectory,
} from '@agentgym/contract'

type Body<Job> = Omit<Job, 'id' | 'lease' | 'expires_at' | 'traceparent'>

/** A job as a test queues it. */
export type TestJob = Body<LeasedCheck> | Body<LeasedEvaluation> | Body<LeasedTraining>

/** A job and all that workers have written about it. */
export type StoredJob = {
  id: string
  job: TestJob
  state: 'queued' | 'leased' | 'over'
  attempt: number
  stop: 'cancel' | 'budget' | 'pause' | null
  /** The most that each attempt has metered. */
  metered: number[]
  points: Map<number, ProgressEvent>
  evaluations: Map<number, Evaluation>
  trajectories: Map<string, Trajectory>
  /** By iteration. */
  episodes: Map<number, RunEpisodeUpload>
  checkpoints: { iteration: number; steps: number; sha256: string; bytes: Uint8Array }[]
  agent: Uint8Array | null
  outcome: Outcome | null
  report: CheckReport | null
  sample: SampleEpisode | null
  evaluation: EvaluationResultRequest | null
  releases: string[]
}

export function leaseLost(): AgentGymError {
  return new AgentGymError({ code: 'lease_lost', message: 'The lease is over.' })
}
