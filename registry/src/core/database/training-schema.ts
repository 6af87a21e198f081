import type {
  AgentManifest,
  ErrorReport,
  Evaluation,
  EvaluationResultRequest,
  RunState,
  SampleEpisode,
  WorkerDescription,
  WorkerUsage,
} from '@agentgym/contract'
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely'

type Fixed<Type> = ColumnType<Type, Type, never>
type CreatedAt = ColumnType<Date, Date | undefined, never>
type Id = ColumnType<string, string | undefined, never>
type Counter = ColumnType<number, number | undefined, number>
type Json<Type> = ColumnType<Type, string, string>
type NullableJson<Type> = ColumnType<Type | null, string | null | undefined, string | null>
type Nullable<Type> = ColumnType<Type | null, Type | null | undefined, Type | null>

/** An episode that a person played in the page and keeps. */
export type DemonstrationTable = {
  id: Id
  version_id: Fixed<string>
  account_id: Fixed<string>
  seed: Fixed<number>
  /** Number of the held-out episode. */
  episode: Fixed<number>
  steps: Fixed<number>
  /** JSON, until they have been replayed. */
  actions: ColumnType<string | null, string, null>
  state: ColumnType<'checking' | 'kept' | 'refused', undefined, 'kept' | 'refused'>
  /** Why it was refused. */
  message: Nullable<string>
  /** As the worker's replay gave it. */
  return_sum: Nullable<number>
  /** The line of a file of demonstrations, as JSON. */
  line: Nullable<string>
  tasks: NullableJson<{ train: number; eval: number }>
  /** When and why an operator removed it: it is kept for its person, and counts for nothing. */
  removed_at: Nullable<Date>
  removed_reason: Nullable<string>
  created_at: CreatedAt
}

/** A training run. Only `modules/runs/run-state.ts` changes its state. */
export type TrainingRunTable = {
  id: Id
  owner_id: Fixed<string>
  created_by: Fixed<string>
  scenario_version_id: Fixed<string>
  /** The agent version whose weights it starts from; null: random weights. */
  from_version_id: ColumnType<string | null, string | null | undefined, never>
  algorithm: Fixed<string>
  settings: JSONColumnType<Record<string, unknown>, string, never>
  seed: Fixed<number>
  note: Fixed<string | null>
  /** GPUs that it needs: how many, of how much memory each, and what computes on them. */
  gpus: ColumnType<number, number | undefined, never>
  gpu_memory: ColumnType<number, number | undefined, never>
  gpu_uses: ColumnType<string[], string[] | undefined, never>
  /** Workers that train it together. */
  workers: ColumnType<number, number | undefined, never>
  trajectories_every: Fixed<number>
  /** Name and version the agent gets once trained, reserved for the run from the start. */
  publish_name: Fixed<string | null>
  publish_version: Fixed<string | null>
  publish_visibility: Fixed<'public' | 'private' | null>
  /** Replaces the summary of the agent's package.json; null: that of the package's latest version. */
  publish_summary: ColumnType<string | null, string | null | undefined, never>
  idempotency_key: Fixed<string | null>
  /** SHA-256 (hex) of the request. */
  request_hash: Fixed<string>
  traceparent: Fixed<string | null>
  state: ColumnType<RunState, RunState | undefined, RunState>
  /** Leases granted so far, and those since the last checkpoint received. */
  attempt: Counter
  idle_attempts: Counter
  /** How often the run was topped up and resumed. */
  resumptions: Counter
  worker_id: Nullable<string>
  worker_name: Nullable<string>
  price_minor_per_hour: Nullable<number>
  /**
   * The value at the start of the current attempt, and what its worker has metered since; they sum to
   * `price_milliseconds`.
   */
  attempt_price_milliseconds: Counter
  attempt_metered_ms: Counter
  /**
   * Sum of hourly price × milliseconds: see `trainingCostMinor`. Reset to the checkpoint's value when a lease is lost.
   */
  price_milliseconds: Counter
  budget_minor: Nullable<number>
  budget_warned_at: Nullable<Date>
  /** The token that started it; null for a session. */
  token_id: Nullable<string>
  /** Reserved for the run until it ends: of its account's free quota, and on its account's balance. */
  free_minor: Counter
  held_minor: Counter
  /** The pending transfer of `held_minor`. */
  hold_transfer_id: Nullable<string>
  /** Currency of the reservation; null if nothing is reserved. */
  cover_currency: Nullable<string>
  cancel_requested_at: Nullable<Date>
  /** Environment steps at which it pauses; null: it does not. */
  pause_at: Nullable<number>
  pause_requested_at: Nullable<Date>
  /** Everyone may look at it since then; null: members and those with its link. */
  public_at: Nullable<Date>
  /** The latest progress event. */
  progress: NullableJson<Record<string, unknown>>
  /** Highest iteration in training_metrics. */
  iteration: Counter
  /** Highest seq over run_events and training_metrics. */
  last_seq: Counter
  error: NullableJson<ErrorReport>
  evaluation: NullableJson<Evaluation>
  agent_object_key: Nullable<string>
  agent_integrity: Nullable<string>
  agent_size: Nullable<number>
  published_version_id: Nullable<string>
  created_at: CreatedAt
  started_at: Nullable<Date>
  ended_at: Nullable<Date>
}

/** One row per iteration, even if repeated; `seq` places it among the run's events. `data` is its progress event. */
export type TrainingMetricTable = {
  run_id: Fixed<string>
  iteration: Fixed<number>
  seq: Fixed<number>
  at: CreatedAt
  data: JSONColumnType<Record<string, unknown>, string, never>
}

/** Curve of a run that ended more than a day ago, instead of its rows in training_metrics; partitioned by `month`. */
export type PackedCurveTable = {
  run_id: Fixed<string>
  /** First day of the month in which the run ended. */
  month: Fixed<string>
  last_iteration: Fixed<number>
  last_seq: Fixed<number>
  /** As `packCurve` packs it. */
  points: Fixed<Uint8Array>
}

/** All other events of a run: `RunEvent` of the contract. */
export type RunEventTable = {
  run_id: Fixed<string>
  seq: Fixed<number>
  at: CreatedAt
  type: Fixed<string>
  data: JSONColumnType<Record<string, unknown>, string, never>
}

/** An episode sampled during training; at most `mostRunEpisodes` of a run. `episode_return` and `length` are the whole episode's. */
export type RunEpisodeTable = {
  run_id: Fixed<string>
  iteration: Fixed<number>
  steps: Fixed<number>
  episode_return: Fixed<number>
  length: Fixed<number>
  episode: JSONColumnType<SampleEpisode, string, never>
}

/** The link of a run, at most one. */
export type RunLinkTable = {
  run_id: Fixed<string>
  /** SHA-256 (hex) of the link's secret. */
  secret_hash: string
  created_by: string
  created_at: ColumnType<Date, Date | undefined, Date>
}

export type CheckpointTable = {
  run_id: Fixed<string>
  iteration: Fixed<number>
  steps: Fixed<number>
  seconds: Fixed<number>
  price_milliseconds: Fixed<number>
  object_key: Fixed<string>
  sha256: Fixed<string>
  size: Fixed<number>
  created_at: CreatedAt
}

/** A sampled episode: line `line` of the newline-delimited JSON at `object_key`. */
export type TrajectoryTable = {
  id: Id
  run_id: Fixed<string>
  iteration: Fixed<number>
  environment: Fixed<number>
  episode_return: Fixed<number>
  length: Fixed<number>
  partial: Fixed<boolean>
  object_key: Fixed<string>
  line: Fixed<number>
  created_at: CreatedAt
}

/** The first steps of a sampled episode, for pages that show one. */
export type TrajectoryStepTable = {
  trajectory_id: Fixed<string>
  step: Fixed<number>
  observation: JSONColumnType<number[], string, never>
  action: JSONColumnType<number[], string, never>
  reward: Fixed<number>
  log_probability: Fixed<number>
  terminated: Fixed<boolean>
  truncated: Fixed<boolean>
}

/** The cost of a run, written when it ends; one more row each time it was resumed and ended again. */
export type TrainingChargeTable = {
  run_id: Fixed<string>
  resumption: Fixed<number>
  amount_minor: Fixed<number>
  currency: Fixed<string>
  /** Parts of the amount: covered by the free quota, and paid to `paid_to`. The rest was never paid. */
  free_minor: Fixed<number>
  paid_minor: Fixed<number>
  /** Null if nothing was paid, or if there was no operator and the marketplace kept it. */
  paid_to: Fixed<string | null>
  /** The token that started or resumed the run; null for a session. */
  token_id: Fixed<string | null>
  price_milliseconds: Fixed<number>
  created_at: CreatedAt
}

/** An agent's evaluation by a worker: of a published version, or of a run's agent. */
export type EvaluationTable = {
  id: Id
  purpose: Fixed<'verification' | 'requested'>
  version_id: Fixed<string | null>
  run_id: Fixed<string | null>
  requested_by: Fixed<string | null>
  episodes: Fixed<number>
  seed: Fixed<number>
  /** The season whose secret determines the seed; null for a public seed, or a secret one from before seasons. */
  season_id: Fixed<number | null>
  state: ColumnType<
    'queued' | 'running' | 'completed' | 'failed',
    'queued' | 'running' | 'completed' | 'failed' | undefined,
    'queued' | 'running' | 'completed' | 'failed'
  >
  evaluation: NullableJson<Evaluation>
  error: NullableJson<ErrorReport>
  traceparent: Fixed<string | null>
  created_at: CreatedAt
  ended_at: Nullable<Date>
}

/** agent.json of a published agent version. */
export type AgentVersionTable = {
  version_id: Fixed<string>
  manifest: JSONColumnType<AgentManifest, string, never>
}

export type SigningKeyTable = {
  id: Fixed<string>
  /** PEM. */
  public_key: Fixed<string>
  /** Sealed with the installation's secret; null if the operator stores it elsewhere. */
  sealed_private_key: Fixed<string | null>
  created_at: CreatedAt
  retired_at: Nullable<Date>
}

/**
 * Append-only history; the view `verdicts` selects the decisive ones. `statement` is the signed text, byte for byte.
 */
export type VerificationTable = {
  evaluation_id: Fixed<string>
  version_id: Fixed<string>
  scenario_version_id: Fixed<string | null>
  state: Fixed<'verified' | 'mismatch' | 'failed' | 'unavailable' | 'inconclusive'>
  message: Fixed<string | null>
  return_mean: Fixed<number | null>
  statement: Fixed<string | null>
  signature: Fixed<string | null>
  key_id: Fixed<string | null>
  season_id: Fixed<number | null>
  /** Of the held-out episodes, in order; null unless verified, and in older rows. */
  episode_returns: Fixed<number[] | null>
  created_at: CreatedAt
}

/** One worker's run of an evaluation. `decide-evaluation.ts` combines the runs. */
export type EvaluationRunTable = {
  id: Id
  evaluation_id: Fixed<string>
  /** Null: the worker did not identify itself. */
  worker_id: Fixed<string | null>
  worker_name: Fixed<string | null>
  /** ID of the account of the worker's token, or `installationOwner`. */
  owner: Fixed<string>
  machine: Fixed<string | null>
  runtime: JSONColumnType<Record<string, string>, string, never>
  outcome: Fixed<'reproduced' | 'differs' | 'nondeterministic' | 'refused' | 'broken'>
  result: Fixed<string | null>
  message: Fixed<string | null>
  /** What the worker sent, without the sample episode. */
  report: JSONColumnType<Pick<EvaluationResultRequest, 'checks' | 'output_hash' | 'results'>, string, never>
  created_at: CreatedAt
}

/** Seasons. Only the current one has no end. */
export type SeasonTable = {
  id: GeneratedAlways<number>
  /** Sealed with the installation's secret. */
  sealed_secret: Fixed<string>
  /** Hex; null until the season has ended, and if it was lost. */
  secret: Nullable<string>
  /** SHA-256 (hex) of the secret's bytes. */
  commitment: Fixed<string>
  started_at: CreatedAt
  ended_at: Nullable<Date>
}

/** Leaderboard entry of a package after each verified version. */
export type StandingTable = {
  version_id: Fixed<string>
  scenario_version_id: Fixed<string>
  package_id: Fixed<string>
  season_id: Fixed<number | null>
  score: Fixed<number>
  low: Fixed<number | null>
  high: Fixed<number | null>
  /** Versions that the account has submitted for the scenario version. */
  attempts: Fixed<number>
}

/** Workers that get no more evaluations, until an operator releases them. */
export type WorkerHoldTable = {
  id: Id
  worker_id: Fixed<string | null>
  worker_name: Fixed<string | null>
  owner: Fixed<string>
  machine: Fixed<string | null>
  evaluation_id: Fixed<string>
  reason: Fixed<string>
  created_at: CreatedAt
  released_at: Nullable<Date>
  released_by: Nullable<string>
}

/** Scenario versions that gave different results for the same actions. Agents are not judged by them. */
export type NondeterministicScenarioTable = {
  version_id: Fixed<string>
  evaluation_id: Fixed<string>
  message: Fixed<string>
  created_at: CreatedAt
}

/** View: of each version the latest verification that is `verified` or `mismatch`. */
export type VerdictView = Omit<VerificationTable, 'state'> & { state: Fixed<'verified' | 'mismatch'> }

/** `agentgym worker` processes, as they last described themselves. */
export type WorkerTable = {
  id: Fixed<string>
  name: string
  description: Json<WorkerDescription>
  usage: Json<WorkerUsage>
  seen_at: Generated<Date>
  /** ID of its token's account, or `installationOwner`; null before its first lease. */
  owner: string | null
  /** Whether it accepts evaluations. */
  evaluates: Generated<boolean>
  /** Whether it accepts trainings. */
  trains: Generated<boolean>
}

/** Machines rented for the queue; amounts in US cents. See the module rentals. */
export type RentalTable = {
  id: Id
  token_id: Fixed<string>
  provider: Fixed<string>
  gpu: Fixed<string>
  memory_bytes: Fixed<number | null>
  cents_per_hour: Fixed<number>
  created_at: CreatedAt
  ends_at: Fixed<Date>
  busy_at: Generated<Date>
  closed_at: Nullable<Date>
  reason: Nullable<string>
  ended_at: Nullable<Date>
}

export type TrainingSchema = {
  demonstrations: DemonstrationTable
  training_runs: TrainingRunTable
  training_metrics: TrainingMetricTable
  packed_curves: PackedCurveTable
  run_events: RunEventTable
  run_links: RunLinkTable
  run_episodes: RunEpisodeTable
  checkpoints: CheckpointTable
  trajectories: TrajectoryTable
  trajectory_steps: TrajectoryStepTable
  training_charges: TrainingChargeTable
  evaluations: EvaluationTable
  agent_versions: AgentVersionTable
  signing_keys: SigningKeyTable
  verifications: VerificationTable
  verdicts: VerdictView
  evaluation_runs: EvaluationRunTable
  worker_holds: WorkerHoldTable
  seasons: SeasonTable
  standings: StandingTable
  nondeterministic_scenarios: NondeterministicScenarioTable
  workers: WorkerTable
  rentals: RentalTable
}
