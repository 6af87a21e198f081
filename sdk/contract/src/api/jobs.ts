import { z } from 'zod'
import { errorReportSchema } from '../agent-gym-error.ts'
import { evaluationSchema } from '../agent-manifest.ts'
import { sampleEpisodeSchema } from '../sample-episode.ts'
import { checkReportSchema, progressEventSchema, trajectorySchema } from '../training-events.ts'
import { runStateSchema } from './runs.ts'

/** What a worker can do: check an uploaded scenario, evaluate an agent, train one. */
export const jobKindSchema = z.enum(['check', 'evaluate', 'train'])
export type JobKind = z.infer<typeof jobKindSchema>

const leaseField = z.string().min(1).max(200)
/** Of every download and upload of a job. */
export const leaseQuerySchema = z.object({ lease: leaseField })
const count = z.int().nonnegative()

/** Shares of what a worker's machine has, 0 to 1; null where it cannot tell. */
export const workerUsageSchema = z.strictObject({
  cpu: z.number().min(0).max(1).nullable(),
  memory: z.number().min(0).max(1).nullable(),
  gpu: z.number().min(0).max(1).nullable(),
})
export type WorkerUsage = z.infer<typeof workerUsageSchema>

/** Who leases: one process of `agentgym worker`. */
export const workerDescriptionSchema = z.strictObject({
  /** Chosen by the process at its start. */
  id: z.uuid(),
  name: z
    .string()
    .min(1)
    .max(80)
    .regex(/^[\w .:@()-]+$/),
  cores: z.int().positive().max(4_096),
  memory_bytes: count,
  gpus: z.array(z.strictObject({ name: z.string().max(80), memory_bytes: count })).max(64),
  /** Jobs that it does side by side. */
  slots: z.int().positive().max(256),
  /** What an hour of training on it costs, in minor units of the server's currency. */
  price_minor_per_hour: count.max(1_000_000_000),
  usage: workerUsageSchema,
})
export type WorkerDescription = z.infer<typeof workerDescriptionSchema>

export const leaseRequestSchema = z.strictObject({
  /** Kinds of jobs that this worker takes. */
  kinds: z.array(jobKindSchema).min(1).max(8),
  worker: workerDescriptionSchema.optional(),
})

const tarballFields = {
  /** `sha512-…` (base64) of the tarball; what was downloaded must have it. */
  integrity: z.string(),
  tarball_url: z.string(),
}

const leasedFields = {
  id: z.string(),
  /** Fencing token: stands in every write about this job. Whoever leases the job after us gets another one. */
  lease: z.string(),
  expires_at: z.iso.datetime(),
  /** W3C trace context of whoever asked for the job; null where nothing is traced. */
  traceparent: z.string().nullable(),
}

export const leasedCheckSchema = z
  .object({
    ...leasedFields,
    kind: z.literal('check'),
    package: z.object({ name: z.string(), version: z.string(), ...tarballFields }),
  })
  .meta({ id: 'LeasedCheck' })
export type LeasedCheck = z.infer<typeof leasedCheckSchema>

/** The scenario version that a job plays. `hash` is the SHA-256 (hex) of its bundle. */
const scenarioOfJobSchema = z.object({ name: z.string(), version: z.string(), hash: z.string(), ...tarballFields })

export const leasedTrainingSchema = z
  .object({
    ...leasedFields,
    kind: z.literal('train'),
    run: z.object({
      scenario: scenarioOfJobSchema,
      algorithm: z.string(),
      /** As submitted, defaults filled in; what is 0 for "automatic" is the worker's to choose. */
      settings: z.record(z.string(), z.unknown()),
      seed: count,
      /** Counted from 1. */
      attempt: z.int().positive(),
      /** To go on from; null at the start. */
      checkpoint: z.object({ iteration: count, steps: count, sha256: z.string(), url: z.string() }).nullable(),
      /** Iterations between sampled trajectories; 0 samples none. */
      trajectories_every: count,
      /** Name and version that the agent's package gets; null leaves the trainer's own. */
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

/** `claim` repeats what agent.json says; `held_out` has a seed that nobody knew when the agent was published. */
const evaluationTaskSchema = z.object({
  id: z.enum(['claim', 'held_out', 'requested']),
  episodes: z.int().positive().max(100_000),
  seed: count,
})
export type EvaluationTaskOfJob = z.infer<typeof evaluationTaskSchema>

export const leasedEvaluationSchema = z
  .object({
    ...leasedFields,
    kind: z.literal('evaluate'),
    evaluation: z.object({
      purpose: z.enum(['verification', 'requested']),
      agent: z.object({ name: z.string(), version: z.string(), ...tarballFields }),
      /** Null where this registry has not the scenario: then only the model is checked. */
      scenario: scenarioOfJobSchema.nullable(),
      tasks: z.array(evaluationTaskSchema).max(8),
    }),
  })
  .meta({ id: 'LeasedEvaluation' })
export type LeasedEvaluation = z.infer<typeof leasedEvaluationSchema>

/** A job, and the right to do it until `expires_at`. */
export const leasedJobSchema = z
  .discriminatedUnion('kind', [leasedCheckSchema, leasedEvaluationSchema, leasedTrainingSchema])
  .meta({ id: 'LeasedJob' })
export type LeasedJob = z.infer<typeof leasedJobSchema>

export const heartbeatRequestSchema = z.strictObject({ lease: leaseField, usage: workerUsageSchema.optional() })

/** Why a run under way is to end: with a checkpoint, and then that outcome. */
const stopReasonSchema = z.enum(['cancel', 'budget'])

export const heartbeatSchema = z.object({
  /** The lease holds until then. */
  expires_at: z.iso.datetime(),
  /** Of a training job: that it is to end, and why. */
  stop: stopReasonSchema.nullable(),
})
export type Heartbeat = z.infer<typeof heartbeatSchema>

/** Messages of a stranger's code: capped here, whatever the worker sends. */
const checksField = z
  .array(z.strictObject({ id: z.string().max(64), ok: z.boolean(), message: z.string().max(4_000) }))
  .min(1)
  .max(64)

export const jobResultRequestSchema = z.strictObject({
  lease: leaseField,
  report: checkReportSchema.extend({ checks: checksField }),
  /** An episode of random actions, for pictures. */
  sample_episode: sampleEpisodeSchema.nullable().optional(),
})

export const jobResultSchema = z.object({
  /** What the version is now. */
  state: z.enum(['published', 'rejected']),
})

/** Gives a job back before its lease is over: the next worker has it at once. */
export const releaseRequestSchema = z.strictObject({
  lease: leaseField,
  /** Training time of this attempt, in milliseconds, as in `progress`. */
  metered_ms: count.optional(),
  reason: z.string().max(400),
})

/** Sent every second or so; keeps the lease as a heartbeat does. */
export const progressRequestSchema = z.strictObject({
  lease: leaseField,
  /** One an iteration, in order. What the run has already counts once: resuming repeats iterations. */
  points: z.array(progressEventSchema).max(2_000),
  evaluations: z
    .array(z.strictObject({ iteration: count, steps: count, evaluation: evaluationSchema }))
    .max(100)
    .default([]),
  /** Training time of this attempt so far, in milliseconds of the worker's own clock. */
  metered_ms: count,
  usage: workerUsageSchema.optional(),
})
export type ProgressRequest = z.input<typeof progressRequestSchema>

export const checkpointQuerySchema = z.object({
  lease: leaseField,
  iteration: z.coerce.number().int().nonnegative(),
  steps: z.coerce.number().int().nonnegative(),
  /** Training time of the run, earlier attempts included. */
  seconds: z.coerce.number().nonnegative(),
  metered_ms: z.coerce.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

export const checkpointDownloadQuerySchema = leaseQuerySchema.extend({
  iteration: z.coerce.number().int().nonnegative(),
})

export const trajectoriesRequestSchema = z.strictObject({
  lease: leaseField,
  trajectories: z.array(trajectorySchema).min(1).max(100),
})

export const agentUploadSchema = z.object({ integrity: z.string() })

/** How a run ends. `agent` names what `PUT …/agent` has taken. */
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
])
export type Outcome = z.infer<typeof outcomeSchema>

export const outcomeRequestSchema = z.strictObject({ lease: leaseField, metered_ms: count, outcome: outcomeSchema })
export const outcomeResultSchema = z.object({ state: runStateSchema })

/** What became of a worker's evaluation tasks, in their order; each either has its figures or the fault that ended it. */
export const evaluationResultRequestSchema = z.strictObject({
  lease: leaseField,
  /** Structure and golden batch. */
  checks: checksField,
  /** SHA-256 (hex) over the golden batch's outputs; null where the model failed it. */
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
      }),
    )
    .max(8),
  /** Versions that the last bits depend on, as in agent.json. */
  runtime: z.record(z.string().max(40), z.string().max(80)),
  /** The agent's first episode, for pictures. */
  sample_episode: sampleEpisodeSchema.nullable().optional(),
})
export type EvaluationResultRequest = z.infer<typeof evaluationResultRequestSchema>
