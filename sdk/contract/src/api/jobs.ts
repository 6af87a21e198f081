import { z } from 'zod'
import { errorReportSchema } from '../agent-gym-error.ts'
import { evaluationSchema, runtimeSignatureSchema, taskOrderSchema } from '../agent-manifest.ts'
import { sampleEpisodeSchema } from '../sample-episode.ts'
import { checkReportSchema, progressEventSchema, scenarioCheckSchema, trajectorySchema } from '../training-events.ts'
import { keptActionsSchema, replayedEpisodeSchema } from './demonstrations.ts'
import { wallSchema } from './fields.ts'
import { runEpisodeFields } from './run-episodes.ts'
import { runStateSchema } from './runs.ts'

/** Kinds of jobs, shortest first: replay an episode of a person, check an uploaded scenario, evaluate an agent, train one. */
export const jobKindSchema = z.enum(['replay', 'check', 'evaluate', 'train'])
export type JobKind = z.infer<typeof jobKindSchema>

/** What a worker's token can be bound to: a kind of job, or `call`, the calls of hosted agents. */
export const workKindSchema = z.enum([...jobKindSchema.options, 'call'])
export type WorkKind = z.infer<typeof workKindSchema>

/** Name of a worker, as it describes itself. */
export const workerNameSchema = z
  .string()
  .min(1)
  .max(80)
  .regex(/^[\w .:@()-]+$/)

/** `host:port`; an IPv6 address is in brackets. */
const gangAddressSchema = z
  .string()
  .max(260)
  .regex(/^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/)

const leaseField = z.string().min(1).max(200)
/**
 * Headers of every download and upload of a job or of hosted calls. A lease is a secret, so it is never a parameter of the
 * address: proxies log addresses.
 */
export const leaseHeadersSchema = z.object({ 'agentgym-lease': leaseField })

/**
 * Version of the protocol between workers and servers. Increase it when one side can no longer work with the other side of an
 * older release: the server then leases nothing to such a worker, and a worker takes nothing from such a server.
 */
export const workerProtocol = '5'
/** Of a request for a lease and of its response. */
export const workerProtocolHeader = 'agentgym-worker-protocol'
/** Headers of a request for a lease. */
export const workerHeadersSchema = z.object({ [workerProtocolHeader]: z.literal(workerProtocol) })
const count = z.int().nonnegative()

/** Utilization of a worker's machine, 0 to 1; null if unknown. */
export const workerUsageSchema = z.strictObject({
  cpu: z.number().min(0).max(1).nullable(),
  memory: z.number().min(0).max(1).nullable(),
  gpu: z.number().min(0).max(1).nullable(),
  /** Of the memory of its GPUs. Absent: a worker of an older version. */
  gpu_memory: z.number().min(0).max(1).nullable().optional(),
})
export type WorkerUsage = z.infer<typeof workerUsageSchema>

/** One process of `agentgym worker`. */
export const workerDescriptionSchema = z.strictObject({
  /** Chosen by the process at its start. */
  id: z.uuid(),
  name: workerNameSchema,
  cores: z.int().positive().max(4_096),
  memory_bytes: count,
  gpus: z.array(z.strictObject({ name: z.string().max(80), memory_bytes: count })).max(64),
  /**
   * Versions of what computes on its GPUs; null where the learner's libtorch or ONNX Runtime cannot. Absent: no GPU, or an
   * older version, which gets no run that needs one.
   */
  cuda: z
    .strictObject({
      driver: z.string().max(40).nullable(),
      libtorch: z.string().max(40).nullable(),
      onnxruntime: z.string().max(40).nullable(),
    })
    .optional(),
  /** Jobs it runs concurrently. */
  slots: z.int().positive().max(256),
  /** Price of an hour of training, in minor units of the server's currency. */
  price_minor_per_hour: count.max(1_000_000_000),
  usage: workerUsageSchema,
  /** Absent: a worker of an older version. */
  runtime: runtimeSignatureSchema.optional(),
  /** Walls that its machine cannot put around jobs; absent: it does not say. */
  missing_walls: z.array(wallSchema).max(16).optional(),
  /**
   * Where other workers reach it, as `host:port`, if it may train a run together with them. Absent: it trains alone, as every
   * worker of an older version.
   */
  gang: z.strictObject({ address: gangAddressSchema }).optional(),
  /** Tells machines apart, and no more: a hash of the machine's own ID. Absent: unknown. */
  machine: z
    .string()
    .regex(/^[0-9a-f]{16,64}$/)
    .optional(),
})
export type WorkerDescription = z.infer<typeof workerDescriptionSchema>

export const leaseRequestSchema = z.strictObject({
  /** Kinds of jobs this worker accepts. */
  kinds: z.array(jobKindSchema).min(1).max(8),
  worker: workerDescriptionSchema.optional(),
  /**
   * Leases this run's training and nothing else, for a worker that was started for it, or that has a seat in it. Absent: any job.
   */
  run: z.uuid().optional(),
  /** Numbers of its GPUs that no run has, in the order of the description. Absent: all. */
  free_gpus: z.array(z.int().min(0).max(63)).max(64).optional(),
  /** Leases trainings that need a GPU and nothing else. Absent: others, too. */
  gpu_only: z.literal(true).optional(),
})

/** A seat in a run of several workers, kept by asking for that run's training until all have come. */
const gangSeatSchema = z.object({ seat: z.object({ run: z.uuid(), taken: count, workers: count }) })
export type GangSeat = z.infer<typeof gangSeatSchema>['seat']

const tarballFields = {
  /** `sha512-…` (base64) of the tarball; the download must match it. */
  integrity: z.string(),
  tarball_url: z.string(),
}

const leasedFields = {
  id: z.string(),
  /** Fencing token, sent with every write about this job. The next lease of the job has a different one. */
  lease: z.string(),
  expires_at: z.iso.datetime(),
  /** W3C trace context of the request that created the job; null if it was not traced. */
  traceparent: z.string().nullable(),
}

export const leasedCheckSchema = z
  .object({
    ...leasedFields,
    kind: z.literal('check'),
    package: z.object({ name: z.string(), version: z.string(), ...tarballFields }),
    /**
     * The published version that a patch release follows, which it must play like; null if there is none, absent from
     * servers of an older release.
     */
    previous: z
      .object({ name: z.string(), version: z.string(), ...tarballFields })
      .nullable()
      .optional(),
  })
  .meta({ id: 'LeasedCheck' })
export type LeasedCheck = z.infer<typeof leasedCheckSchema>

/** The scenario version of a job. `hash` is the SHA-256 (hex) of its bundle. */
const scenarioOfJobSchema = z.object({ name: z.string(), version: z.string(), hash: z.string(), ...tarballFields })

export const leasedTrainingSchema = z
  .object({
    ...leasedFields,
    kind: z.literal('train'),
    run: z.object({
      scenario: scenarioOfJobSchema,
      /** The agent to start from, unless there is a checkpoint; `model_hash` is the SHA-256 (hex) of its model.onnx. */
      from: z.object({ name: z.string(), version: z.string(), model_hash: z.string(), ...tarballFields }).nullable(),
      algorithm: z.string(),
      /** As submitted, with defaults. The worker chooses settings that are 0 for "automatic". */
      settings: z.record(z.string(), z.unknown()),
      seed: count,
      /** Counted from 1. */
      attempt: z.int().positive(),
      /** Checkpoint to resume from; null for a new run. */
      checkpoint: z.object({ iteration: count, steps: count, sha256: z.string(), url: z.string() }).nullable(),
      /** Environment steps at which it is evaluated and pauses; null: at no step. */
      pause_at: count.nullable(),
      /** Iterations between sampled trajectories; 0 samples none. */
      trajectories_every: count,
      /** GPUs that the run has to itself; null: none. Absent in older servers. */
      gpu: z.object({ count: z.int().positive(), memory_bytes: count }).nullable().optional(),
      /**
       * The workers that train it together; null: this one alone. All have one lease. Rank 0 listens at `address` and reports; the
       * others only fail, release and finish. Absent in older servers.
       */
      gang: z
        .object({
          rank: count,
          workers: z.int().min(2),
          address: gangAddressSchema,
          secret: z.string(),
        })
        .nullable()
        .optional(),
      /** Name and version of the agent's package; null keeps the trainer's own. */
      publish: z.object({ name: z.string(), version: z.string() }).nullable(),
      budget: z.object({
        /** Null: no limit. */
        budget_minor: count.nullable(),
        /** Σ price_minor_per_hour × milliseconds, up to the checkpoint: see `trainingCostMinor`. */
        price_milliseconds: count,
        price_minor_per_hour: count,
      }),
    }),
  })
  .meta({ id: 'LeasedTraining' })
export type LeasedTraining = z.infer<typeof leasedTrainingSchema>

/** `claim` repeats the evaluation in agent.json; `held_out` uses a seed that was unknown when the agent was published. */
const evaluationTaskSchema = z.object({
  id: z.enum(['claim', 'held_out', 'requested']),
  episodes: z.int().positive().max(100_000),
  seed: count,
  /** A claim is re-run in the order of agent.json; held-out tasks are always drawn. */
  task_order: taskOrderSchema.default('numbered'),
})
export type EvaluationTaskOfJob = z.infer<typeof evaluationTaskSchema>

export const leasedEvaluationSchema = z
  .object({
    ...leasedFields,
    kind: z.literal('evaluate'),
    evaluation: z.object({
      purpose: z.enum(['verification', 'requested']),
      agent: z.object({ name: z.string(), version: z.string(), ...tarballFields }),
      /** Null if this registry does not have the scenario; only the model is checked then. */
      scenario: scenarioOfJobSchema.nullable(),
      tasks: z.array(evaluationTaskSchema).max(8),
    }),
  })
  .meta({ id: 'LeasedEvaluation' })
export type LeasedEvaluation = z.infer<typeof leasedEvaluationSchema>

/** An episode that a person played in a page: the worker plays the actions again, which gives the score. */
export const leasedReplaySchema = z
  .object({
    ...leasedFields,
    kind: z.literal('replay'),
    replay: z.object({ scenario: scenarioOfJobSchema, seed: count, episode: count, actions: keptActionsSchema }),
  })
  .meta({ id: 'LeasedReplay' })
export type LeasedReplay = z.infer<typeof leasedReplaySchema>

/** A job, leased until `expires_at`. */
export const leasedJobSchema = z
  .discriminatedUnion('kind', [leasedReplaySchema, leasedCheckSchema, leasedEvaluationSchema, leasedTrainingSchema])
  .meta({ id: 'LeasedJob' })
export type LeasedJob = z.infer<typeof leasedJobSchema>

/** A job, or for a worker that shares runs with others a seat in one. */
export const leaseResponseSchema = z.union([leasedJobSchema, gangSeatSchema])

export const heartbeatRequestSchema = z.strictObject({ lease: leaseField, usage: workerUsageSchema.optional() })

/** Why a run should stop: the worker saves a checkpoint and reports that outcome. */
const stopReasonSchema = z.enum(['cancel', 'budget', 'pause'])

export const heartbeatSchema = z.object({
  /** The lease expires then. */
  expires_at: z.iso.datetime(),
  /** Training jobs: set if the run should stop. */
  stop: stopReasonSchema.nullable(),
})
export type Heartbeat = z.infer<typeof heartbeatSchema>

/** Messages from untrusted code, so capped here whatever the worker sends. */
const checksField = z
  .array(
    scenarioCheckSchema.extend({
      id: z.string().max(64),
      message: z.string().max(4_000),
      frame: z.string().max(4_000).optional(),
    }),
  )
  .min(1)
  .max(64)

export const jobResultRequestSchema = z.strictObject({
  lease: leaseField,
  report: checkReportSchema.extend({ checks: checksField }),
  /** An episode of random actions, for the package page. */
  sample_episode: sampleEpisodeSchema.nullable().optional(),
})

/** What a replay gave: an episode, or why the actions are none. */
export const replayResultRequestSchema = z
  .strictObject({
    lease: leaseField,
    episode: replayedEpisodeSchema.nullable(),
    error: errorReportSchema.nullable(),
  })
  .refine(({ episode, error }) => (episode === null) !== (error === null), 'needs an episode or an error')
export type ReplayResultRequest = z.infer<typeof replayResultRequestSchema>

export const jobResultSchema = z.object({
  /** The new state of the version. */
  state: z.enum(['published', 'rejected']),
})

/** Releases a job before its lease expires, so that another worker can take it immediately. */
export const releaseRequestSchema = z.strictObject({
  lease: leaseField,
  /** Training time of this attempt, in milliseconds, as in `progress`. */
  metered_ms: count.optional(),
  reason: z.string().max(400),
  /** The attempt came to nothing, and counts: the run continues from its last checkpoint. Runs of several workers. */
  failed: z.literal(true).optional(),
  /** Only this worker's part is done: the others keep the lease. Runs of several workers. */
  finished: z.literal(true).optional(),
})

/** Sent about every second; renews the lease as a heartbeat does. */
export const progressRequestSchema = z.strictObject({
  lease: leaseField,
  /** One per iteration, in order. Points the run already has are ignored: resuming repeats iterations. */
  points: z.array(progressEventSchema).max(2_000),
  evaluations: z
    .array(z.strictObject({ iteration: count, steps: count, evaluation: evaluationSchema }))
    .max(100)
    .default([]),
  /** Training time of this attempt so far, in milliseconds by the worker's clock. */
  metered_ms: count,
  usage: workerUsageSchema.optional(),
})
export type ProgressRequest = z.input<typeof progressRequestSchema>

const sha256Field = z.string().regex(/^[0-9a-f]{64}$/)

export const checkpointQuerySchema = z.object({
  iteration: z.coerce.number().int().nonnegative(),
  steps: z.coerce.number().int().nonnegative(),
  /** Training time of the run, earlier attempts included. */
  seconds: z.coerce.number().nonnegative(),
  metered_ms: z.coerce.number().int().nonnegative(),
  sha256: sha256Field,
})

/** Largest part of an upload that is sent in parts. */
export const partBytes = 8 * 2 ** 20
/** SHA-256 (hex) of a part, which names it when the upload is put together. */
export const uploadPartSchema = z.object({ sha256: sha256Field })
/** Names of the parts, in order. */
const partsField = z.array(sha256Field).min(1).max(10_000)

/** A checkpoint whose parts were uploaded before. */
export const checkpointPartsRequestSchema = z.strictObject({
  lease: leaseField,
  parts: partsField,
  iteration: count,
  steps: count,
  seconds: z.number().nonnegative(),
  metered_ms: count,
  sha256: sha256Field,
})
/** An agent whose parts were uploaded before. */
export const agentPartsRequestSchema = z.strictObject({ lease: leaseField, parts: partsField })

export const checkpointDownloadQuerySchema = z.object({
  iteration: z.coerce.number().int().nonnegative(),
})

export const trajectoriesRequestSchema = z.strictObject({
  lease: leaseField,
  trajectories: z.array(trajectorySchema).min(1).max(100),
})

/** One episode of a held-out evaluation during training. */
export const runEpisodeRequestSchema = z.strictObject({
  lease: leaseField,
  ...runEpisodeFields,
  episode: sampleEpisodeSchema,
})

export const agentUploadSchema = z.object({ integrity: z.string() })

/** How a run ends. `agent` refers to the upload of `PUT …/agent`. */
export const outcomeSchema = z.discriminatedUnion('state', [
  z.strictObject({
    state: z.literal('completed'),
    steps: count,
    seconds: z.number().nonnegative(),
    evaluation: evaluationSchema,
    agent: z.strictObject({ integrity: z.string() }),
  }),
  z.strictObject({ state: z.literal('failed'), error: errorReportSchema }),
  z.strictObject({ state: z.literal('cancelled') }),
  z.strictObject({ state: z.literal('budget_exceeded') }),
  z.strictObject({ state: z.literal('paused') }),
])
export type Outcome = z.infer<typeof outcomeSchema>

export const outcomeRequestSchema = z.strictObject({ lease: leaseField, metered_ms: count, outcome: outcomeSchema })
export const outcomeResultSchema = z.object({ state: runStateSchema })

/** Results of an evaluation job's tasks, in order: each has an evaluation or an error. */
export const evaluationResultRequestSchema = z.strictObject({
  lease: leaseField,
  /** Structure and golden batch. */
  checks: checksField,
  /** SHA-256 (hex) over the golden batch's outputs; null if the model failed on it. */
  output_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  results: z
    .array(
      z.strictObject({
        id: evaluationTaskSchema.shape.id,
        evaluation: evaluationSchema.nullable(),
        error: errorReportSchema.nullable(),
        /** Return of each episode, in order. Absent: a worker of an older version. */
        episode_returns: z.array(z.number()).max(100_000).nullable().optional(),
        /**
         * Set if the worker played episodes of the task again, in a second process with other stack and heap sizes.
         * `same: false`: the scenario or the machine is not deterministic; that is never the agent's fault.
         */
        repeat: z
          .strictObject({ same: z.boolean(), message: z.string().max(4_000).nullable() })
          .nullable()
          .optional(),
      }),
    )
    .max(8),
  runtime: runtimeSignatureSchema,
  /** The agent's first episode, for the package page. */
  sample_episode: sampleEpisodeSchema.nullable().optional(),
})
export type EvaluationResultRequest = z.infer<typeof evaluationResultRequestSchema>

export const queueHistoryRequestSchema = z.object({ window: z.enum(['day', 'week']).default('day') })
const queueCount = z.int().nonnegative()
const kindSampleSchema = z.object({
  waiting: queueCount,
  leased: queueCount,
  /** How long the oldest waiting job had waited. */
  oldest_seconds: queueCount,
  /** Workers with a job of the kind. */
  workers: queueCount,
})
export const queueHistorySchema = z
  .object({
    since: z.iso.datetime(),
    points: z.array(
      z.object({
        at: z.iso.datetime(),
        /** Workers of any kind. */
        workers_connected: queueCount,
        kinds: z.object({
          ...{ replay: kindSampleSchema, check: kindSampleSchema },
          ...{ evaluate: kindSampleSchema, train: kindSampleSchema },
        }),
      }),
    ),
  })
  .meta({ id: 'QueueHistory' })
export type QueueHistory = z.infer<typeof queueHistorySchema>
