import { z } from 'zod'
import { errorReportSchema } from '../agent-gym-error.ts'
import { agentParentSchema, evaluationSchema } from '../agent-manifest.ts'
import { successCriteriaSchema } from '../scenario-manifest.ts'
import { progressEventSchema } from '../training-events.ts'
import { trainingAlgorithms } from '../training-settings.ts'
import { summaryLength } from '../written-summary.ts'
import { line, wallSchema } from './fields.ts'
import { expectedPriceSchema } from './prices.ts'
import { runEpisodeSchema } from './run-episodes.ts'
import { workerHoldSchema } from './verification.ts'

const count = z.int().nonnegative()
const moment = z.iso.datetime()

/**
 * queued → running → completed | failed | cancelled | budget_exceeded | paused. A run whose worker is gone, or gave it
 * back, is queued again; one that is paused or out of budget may be resumed, and is then queued too. The other ends are for
 * good.
 */
export const runStateSchema = z.enum([
  ...(['queued', 'running', 'completed', 'failed', 'cancelled', 'budget_exceeded', 'paused'] as const),
])
export type RunState = z.infer<typeof runStateSchema>

/** `name[@range]` of a package in this registry. */
const targetField = line(z.string().min(3).max(420))

/** A setting's value: not nested, so that its size is bounded. */
const settingScalarSchema = z.union([z.number(), z.boolean(), z.null(), z.string().max(200)])
const settingValueSchema = z.union([settingScalarSchema, z.array(settingScalarSchema).max(64)])

const pauseField = z.int().positive().max(1e12)

const summaryField = line(z.string().max(summaryLength))
  .optional()
  .describe(
    "One sentence for lists, such as `Lands the probe on uneven ground.` Default: that of the package's latest version.",
  )

export const startRunRequestSchema = z.strictObject({
  scenario: targetField.describe('`@acme/cart-pole`, or with a version, range or tag: `@acme/cart-pole@^1.0.0`.'),
  algorithm: z
    .string()
    .max(20)
    .optional()
    .describe(`One of: ${trainingAlgorithms.map((name) => `\`${name}\``).join(', ')}. Default: the scenario's own.`),
  from: targetField
    .optional()
    .describe(
      'Agent whose weights the run starts from: `@acme/cart-pole-ppo`, or with a version, range or tag. You need access to its files. Default: random weights.',
    ),
  steps: z.int().positive().max(1e12).optional().describe('Total environment steps.'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1),
  settings: z
    .record(z.string().max(64), settingValueSchema)
    .default({})
    .describe('By name, as in `agentgym train --set`.'),
  gpu: z
    .strictObject({
      count: z.int().min(1).max(64).default(1).describe('GPUs that the run has to itself.'),
      memory_gb: z
        .number()
        .positive()
        .max(10_000)
        .optional()
        .describe('Memory that each must have, in GB (10⁹ bytes).'),
    })
    .optional()
    .describe(
      'Only workers with such a GPU train the run. Learner and rollouts then compute where it pays, unless the settings say. Default: what the settings need.',
    ),
  workers: z
    .int()
    .min(1)
    .max(64)
    .optional()
    .describe(
      'Workers that train the run together, sharing its environments: all of them or none. For PPO, A2C and GRPO on CPUs. Default: 1.',
    ),
  budget_minor: z
    .int()
    .positive()
    .max(1e12)
    .optional()
    .describe("Maximum cost of the run, in minor units of the server's currency. Default: no limit."),
  expected_price: expectedPriceSchema
    .optional()
    .describe('For a scenario priced per run: the price that was shown. Held until the run starts training.'),
  /** Publishes the agent once the run has completed. */
  publish: z
    .strictObject({
      name: z.string().min(3).max(214),
      version: z.string().max(64).optional().describe('Default: the next patch version.'),
      visibility: z.enum(['public', 'private']).optional(),
      summary: summaryField,
    })
    .optional(),
  pause_at: pauseField
    .optional()
    .describe(
      'Environment steps at which the run is evaluated and pauses, with a checkpoint. Default: it does not pause.',
    ),
  trajectories_every: count
    .max(1_000_000)
    .default(0)
    .describe('Iterations between sampled trajectories; 0 disables sampling.'),
  account: line(z.string().max(100)).optional().describe('Organization to run for. Default: your own account.'),
  note: line(z.string().max(200)).optional(),
})
export type StartRunRequest = z.input<typeof startRunRequestSchema>

const runProgressSchema = z.object({
  iteration: count,
  steps: count,
  steps_total: count,
  steps_per_second: z.number(),
  episodes_total: count,
  return_mean: z.number().nullable(),
  seconds: z.number(),
})

export const runSchema = z
  .object({
    id: z.uuid(),
    state: runStateSchema,
    /** Account that it runs for, and who started it. */
    owner: z.string(),
    created_by: z.string(),
    scenario: z.object({ name: z.string(), version: z.string(), hash: z.string() }),
    /** The agent that it started from, fixed at submission; null: random weights. Absent in older servers. */
    parent: agentParentSchema.nullable().optional(),
    algorithm: z.string(),
    settings: z.record(z.string(), z.unknown()),
    seed: count,
    note: z.string().nullable(),
    created_at: moment,
    started_at: moment.nullable(),
    ended_at: moment.nullable(),
    /** About how many runs come before it, counted up to 1,000; null unless it is queued. Users take turns. */
    ahead: count.nullable(),
    /** GPUs that it needs; null: none. Absent in older servers. */
    gpu: z.object({ count, memory_bytes: count }).nullable().optional(),
    /** Workers that train it together. Absent in older servers. */
    workers: count.optional(),
    /** Why no connected worker can train it, in a sentence; null unless it is queued and none can. Absent in older servers. */
    unserved: z.string().nullable().optional(),
    /** GPUs of its worker, 0 to 1; null unless a worker with GPUs trains it. Absent in older servers. */
    gpu_usage: z.object({ busy: z.number().nullable(), memory: z.number().nullable() }).nullable().optional(),
    /** Workers that have had it. */
    attempt: count,
    worker: z.string().nullable(),
    cancel_requested: z.boolean(),
    /** Environment steps at which it pauses; null: it does not. Absent in older servers. */
    pause_at: count.nullable().optional(),
    /** Null before its first iteration. */
    progress: runProgressSchema.nullable(),
    checkpoint: z.object({ iteration: count, steps: count, created_at: moment }).nullable(),
    cost: z.object({
      /** ISO 4217. */
      currency: z.string(),
      spent_minor: count,
      budget_minor: count.nullable(),
      /** Of the worker that has it, or had it last. */
      price_minor_per_hour: count.nullable(),
    }),
    error: errorReportSchema.nullable(),
    evaluation: evaluationSchema.nullable(),
    /** The trained agent; `package` once it is published. */
    agent: z
      .object({
        integrity: z.string(),
        size: count,
        tarball: z.string(),
        package: z.object({ name: z.string(), version: z.string() }).nullable(),
      })
      .nullable(),
    /** `seq` of its latest event. */
    last_event: count,
  })
  .meta({ id: 'Run' })
export type Run = z.infer<typeof runSchema>

export const runListRequestSchema = z.object({
  state: runStateSchema.optional(),
  scenario: z.string().max(214).optional().describe('Name of a scenario.'),
  account: line(z.string().max(100))
    .optional()
    .describe('Only runs of this account. Default: all accounts you belong to.'),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().max(200).optional(),
})

/** Newest first. */
export const runListSchema = z
  .object({ runs: z.array(runSchema), next_cursor: z.string().nullable() })
  .meta({ id: 'RunList' })

export const resumeRunRequestSchema = z.strictObject({
  budget_minor: z
    .int()
    .positive()
    .max(1e12)
    .optional()
    .describe(
      'The new budget for the whole run; must be more than it has spent. Required if it is out of budget; a paused run keeps its own by default.',
    ),
  pause_at: pauseField
    .optional()
    .describe('Environment steps at which it pauses again, more than it has done. Default: it trains to its end.'),
})

/** What the agent of a run that has completed is published as. */
export const publishRunRequestSchema = z.strictObject({
  name: z.string().min(3).max(214).describe('`@scope/name`.'),
  version: z.string().max(64).optional().describe('Default: the next patch version.'),
  visibility: z.enum(['public', 'private']).optional().describe('For a new package. Default: `public`.'),
  summary: summaryField,
})

const eventData = {
  queued: z.object({
    reason: z.enum(['submitted', 'lease_expired', 'released', 'resumed']),
    message: z.string().nullable(),
  }),
  running: z.object({ attempt: count, worker: z.string(), price_minor_per_hour: count, from_iteration: count }),
  progress: progressEventSchema,
  evaluation: z.object({ iteration: count, steps: count, evaluation: evaluationSchema }),
  checkpoint: z.object({ iteration: count, steps: count }),
  budget_warning: z.object({ spent_minor: count, budget_minor: count }),
  cancel_requested: z.object({}),
  completed: z.object({ steps: count, seconds: z.number(), evaluation: evaluationSchema }),
  failed: z.object({ error: errorReportSchema }),
  cancelled: z.object({}),
  budget_exceeded: z.object({ spent_minor: count, budget_minor: count }),
  paused: z.object({ steps: count }),
  published: z.object({ name: z.string(), version: z.string() }),
  publish_failed: z.object({ error: errorReportSchema }),
} as const
export type RunEventType = keyof typeof eventData
export type RunEventData = { [Type in RunEventType]: z.infer<(typeof eventData)[Type]> }

const event = <Type extends RunEventType>(type: Type) =>
  z.object({
    /** Counted from 1 within the run, without a gap: the SSE id. */
    seq: z.int().positive(),
    at: moment,
    type: z.literal(type),
    data: eventData[type],
  })

/** One event of a run: SSE `event` is its type, `id` its seq, `data` the whole object as JSON. */
export const runEventSchema = z
  .discriminatedUnion('type', [
    event('queued'),
    event('running'),
    event('progress'),
    event('evaluation'),
    event('checkpoint'),
    event('budget_warning'),
    event('cancel_requested'),
    event('completed'),
    event('failed'),
    event('cancelled'),
    event('budget_exceeded'),
    event('paused'),
    event('published'),
    event('publish_failed'),
  ])
  .meta({ id: 'RunEvent' })
export type RunEvent = z.infer<typeof runEventSchema>

export const runEventsRequestSchema = z.object({
  after: z.coerce.number().int().nonnegative().optional().describe('`seq` of the last event seen.'),
})
export const runEventsHeadersSchema = z.object({
  'last-event-id': z
    .string()
    .regex(/^\d{1,15}$/, 'the id of an event')
    .optional()
    .describe('Sent by `EventSource` when it reconnects. Takes precedence over `after`.'),
})

export const runMetricsRequestSchema = z.object({
  after_iteration: z.coerce.number().int().nonnegative().default(0),
  limit: z.coerce.number().int().min(1).max(5_000).default(1_000),
})
export const runMetricsSchema = z
  .object({
    points: z.array(progressEventSchema),
    /** To ask on with as `after_iteration`; null where that was all. */
    next: count.nullable(),
  })
  .meta({ id: 'RunMetrics' })

export const runSharingRequestSchema = z.strictObject({
  public: z.boolean().describe('Whether everyone may look at the run.'),
})

/** Who else may look at a run. */
export const runSharingSchema = z
  .object({
    public: z.boolean(),
    /** The link that is valid now; its address is in the response that created it, and nowhere else. */
    link: z.object({ created_by: z.string(), created_at: moment }).nullable(),
    /** Address of a public run; null otherwise. */
    url: z.string().nullable(),
  })
  .meta({ id: 'RunSharing' })
export type RunSharing = z.infer<typeof runSharingSchema>

export const runLinkSchema = z
  .object({
    /** Everyone who has this address may look at the run. Shown once. */
    url: z.string(),
    created_at: moment,
  })
  .meta({ id: 'RunLink' })
export type RunLink = z.infer<typeof runLinkSchema>

export const sharedRunHeadersSchema = z.object({
  'agentgym-link': z
    .string()
    .max(64)
    .optional()
    .describe('The secret of the run’s link: the last part of its address. Not needed for a public run.'),
})

/** What others see of a shared run: how it was trained and what came of it, nothing of its account, cost or worker. */
export const sharedRunSchema = z
  .object({
    ...runSchema.pick({
      ...({ id: true, state: true, scenario: true, algorithm: true, settings: true, seed: true, note: true } as const),
      ...({ created_at: true, started_at: true, ended_at: true, progress: true, evaluation: true } as const),
    }).shape,
    /** The scenario's targets by metric. */
    targets: successCriteriaSchema,
    /** At most about 1,000 iterations, evenly spaced, the last among them. */
    points: z.array(progressEventSchema),
    /** Held-out evaluations during training; the last 1,000. */
    evaluations: z.array(z.object({ steps: count, evaluation: evaluationSchema })),
    /** Episodes sampled during training; none of a scenario that is not public. Absent in older servers. */
    episodes: z.array(runEpisodeSchema).optional(),
  })
  .meta({ id: 'SharedRun' })
export type SharedRun = z.infer<typeof sharedRunSchema>

export const checkpointListSchema = z.object({
  checkpoints: z.array(
    z.object({ iteration: count, steps: count, size: count, sha256: z.string(), created_at: moment, url: z.string() }),
  ),
})

export const evaluateRunRequestSchema = z.strictObject({
  episodes: z.int().positive().max(100_000).default(100),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(0),
})

export const evaluationJobSchema = z
  .object({
    id: z.uuid(),
    run: z.uuid().nullable(),
    state: z.enum(['queued', 'running', 'completed', 'failed']),
    episodes: count,
    /** Null: secret, as the held-out episodes of a verification are the season's. */
    seed: count.nullable(),
    evaluation: evaluationSchema.extend({ seed: count.nullable() }).nullable(),
    error: errorReportSchema.nullable(),
    created_at: moment,
    ended_at: moment.nullable(),
  })
  .meta({ id: 'EvaluationJob' })
export type EvaluationJob = z.infer<typeof evaluationJobSchema>

export const healthSchema = z.object({ ok: z.boolean() }).meta({ id: 'Health' })
export const readinessSchema = z
  .object({
    ok: z.boolean(),
    database: z.boolean(),
    objects: z.boolean(),
    /** The dependencies that cannot be used, by name. */
    down: z.array(z.enum(['database', 'storage'])),
    draining: z.boolean(),
  })
  .meta({ id: 'Readiness' })
export type Readiness = z.infer<typeof readinessSchema>

const queueSchema = z.object({ queued: count, running: count })

export const serverStatusSchema = z
  .object({
    queue: z.object({
      /** Absent in older servers. */
      replay: queueSchema.default({ queued: 0, running: 0 }),
      check: queueSchema,
      evaluate: queueSchema,
      train: queueSchema,
    }),
    workers: z.array(
      z.object({
        name: z.string(),
        /** `silent`: not heard of for longer than a lease. */
        state: z.enum(['idle', 'busy', 'silent']),
        running: count,
        slots: count,
        cores: count,
        memory_bytes: count,
        gpus: z.array(z.object({ name: z.string(), memory_bytes: count })),
        /** Walls that its machine cannot put around jobs; null if it does not say. */
        missing_walls: z.array(wallSchema).nullable(),
        usage: z.object({
          cpu: z.number().nullable(),
          memory: z.number().nullable(),
          gpu: z.number().nullable(),
          /** Absent in older servers. */
          gpu_memory: z.number().nullable().optional(),
        }),
        /** Versions of what computes on its GPUs; null if nothing does. Absent in older servers. */
        cuda: z
          .object({
            driver: z.string().nullable(),
            libtorch: z.string().nullable(),
            onnxruntime: z.string().nullable(),
          })
          .nullable()
          .optional(),
        price_minor_per_hour: count,
        seen_at: moment,
      }),
    ),
    /** Workers that get no evaluations until an operator releases them; absent in older servers. */
    held_back: z.array(workerHoldSchema).optional(),
    /** The caller's runs. */
    runs: z.object({
      queued: count,
      running: count,
      /** Queued ones that no connected worker can train, or too few; absent in older servers. */
      unserved: count.optional(),
    }),
    currency: z.string(),
  })
  .meta({ id: 'ServerStatus' })
export type ServerStatus = z.infer<typeof serverStatusSchema>
