import type { ErrorReport, PolicySpec } from '@agentgym/contract'
import type { RolloutSegment } from '../learner/learner-types.ts'
import type { ExecutionProvider } from '../policy/policy-session.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import type { PackedEpisodes } from './episode-columns.ts'
import type { EnvironmentSnapshot } from './episode-recorder.ts'

/** One worker's share of an opened pool. */
export type WorkerOpen = {
  scenario: ScenarioCode
  environments: number
  firstEnvironment: number
  /** Environments that play the same episodes; null: none do, and rollouts are cut by steps. */
  groupSize: number | null
  seed: number
  limits: Partial<JobLimits>
}

export type WorkerConfiguration = {
  spec: PolicySpec
  rolloutSteps: number
  executionProvider: ExecutionProvider
  /** The flat weight buffer, shared; read at the start of every rollout. */
  weights: Float32Array
}

/** What the main thread asks; a worker answers each with one reply, in order. */
export type WorkerRequest =
  | ({ type: 'open' } & WorkerOpen)
  | ({ type: 'configure' } & WorkerConfiguration)
  | { type: 'collect'; startStep: number }
  | { type: 'collectEpisodes'; episode: number }
  | { type: 'snapshot' }
  | { type: 'restore'; snapshots: EnvironmentSnapshot[] }
  | { type: 'close' }

/** `board` comes unasked, before any guest code runs; the rest are answers. */
export type WorkerReply =
  | { type: 'ready' }
  | { type: 'board'; board: Int32Array }
  | { type: 'opened'; description: ScenarioDescription }
  | { type: 'configured'; segment: RolloutSegment }
  | { type: 'collected'; episodes: PackedEpisodes }
  | { type: 'snapshots'; snapshots: EnvironmentSnapshot[] }
  | { type: 'restored' }
  | { type: 'closed' }
  | { type: 'fault'; error: ErrorReport }
  | { type: 'bug'; message: string }
