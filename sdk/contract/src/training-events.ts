import { z } from 'zod'
import { evaluationSchema } from './agent-manifest.ts'
import { type ErrorCode, errorCatalog } from './error-catalog.ts'

const nullableNumber = z.number().nullable()

/** One line a training iteration. A mean over no episode is null, never NaN. */
export const progressEventSchema = z.strictObject({
  event: z.literal('progress'),
  /** Counted from 1. */
  iteration: z.int().positive(),
  /** Environment steps so far. */
  steps: z.int().nonnegative(),
  steps_total: z.int().positive(),
  steps_per_second: z.number().nonnegative(),
  /** Seconds since training started. */
  seconds: z.number().nonnegative(),
  /** Of this iteration: playing, and learning from what was played. */
  collect_seconds: z.number().nonnegative(),
  update_seconds: z.number().nonnegative(),
  /**
   * Texts that a sentence encoder reads, since the trainer's process began: how many the observations had, how many of them
   * had to be encoded, and the share of the rest. Absent: the scenario has none.
   */
  text_encoding: z
    .strictObject({
      texts: z.int().nonnegative(),
      encoded: z.int().nonnegative(),
      hit_rate: z.number().min(0).max(1),
    })
    .optional(),
  /** Episodes that ended in this iteration. */
  episodes: z.int().nonnegative(),
  episodes_total: z.int().nonnegative(),
  /** Mean over the last 100 ended episodes; null before the first. */
  return_mean: nullableNumber,
  length_mean: nullableNumber,
  /** Means over the last 100 ended episodes. */
  metrics: z.record(z.string(), z.number()),
  /** Means over the iteration's minibatches; null is what the algorithm has not. */
  learner: z.strictObject({
    policy_loss: nullableNumber,
    value_loss: nullableNumber,
    entropy: nullableNumber,
    approximate_kl: nullableNumber,
    clip_fraction: nullableNumber,
    explained_variance: nullableNumber,
    /** GRPO with a KL coefficient: the KL divergence from the policy that the run started with, k3 estimate, per step. */
    kl_to_reference: nullableNumber,
    /** GRPO: share of the iteration's groups whose episodes all had one return, 0 to 1. They teach nothing. */
    zero_variance_groups: nullableNumber,
    /** DQN, SAC: mean value of the actions in the minibatches (SAC: of those that the actor draws). Absent: another algorithm, or an older version. */
    value_mean: nullableNumber.optional(),
    /** DQN: probability of a random action. */
    exploration_rate: nullableNumber.optional(),
    /** SAC: weight of the entropy, which may be learned. */
    entropy_coefficient: nullableNumber.optional(),
    gradient_norm: nullableNumber,
    learning_rate: nullableNumber,
  }),
})
export type ProgressEvent = z.infer<typeof progressEventSchema>

export const resultEventSchema = z.strictObject({
  event: z.literal('result'),
  /** Training ended as it should. Whether the agent is good enough is `evaluation.success.ok`. */
  ok: z.boolean(),
  /** Folder of the agent package. */
  agent: z.string(),
  steps: z.int().nonnegative(),
  seconds: z.number().nonnegative(),
  evaluation: evaluationSchema,
  /** Whether the policy remembers earlier observations of an episode. Absent: not known. */
  memory: z.boolean().optional(),
  /** Steps after which the agent's weights were reached; 0: those of the agent that the run started from. Absent: not known. */
  steps_of_weights: z.int().nonnegative().optional(),
})
export type ResultEvent = z.infer<typeof resultEventSchema>

const errorEventSchema = z.strictObject({
  event: z.literal('error'),
  error: z.strictObject({
    code: z.enum(Object.keys(errorCatalog) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    hint: z.string().optional(),
    data: z.record(z.string(), z.unknown()).optional(),
  }),
})

const checkpointEventSchema = z.strictObject({
  event: z.literal('checkpoint'),
  steps: z.int().nonnegative(),
  path: z.string(),
  /** What was too large for it; a resumed run fills it anew. Absent: nothing. */
  dropped: z.tuple([z.literal('replay_buffer')]).optional(),
})
const evaluationEventSchema = z.strictObject({
  event: z.literal('evaluation'),
  steps: z.int().nonnegative(),
  evaluation: evaluationSchema,
})

/** Before training: what the run chose for settings that nothing sets, by its scenario. */
const chosenDefaultsSchema = z.strictObject({
  /** By their names, such as `gamma`. */
  settings: z.record(z.string(), z.union([z.number(), z.string()])),
  /** Why, in a line. */
  reason: z.string(),
  /** What the untrained policy played, which is nearly random; null if nothing had to be measured. */
  measured: z
    .strictObject({
      steps: z.int().positive(),
      /** Steps for each reward that says something; null: all rewards are equal. */
      reward_spacing: nullableNumber,
      /** Steps of an episode; of those under way if none ended. */
      episode_length: z.number().positive(),
      /** Whether an episode ended before the time limit. */
      terminated: z.boolean(),
    })
    .nullable(),
})
export type ChosenDefaults = z.infer<typeof chosenDefaultsSchema>

const defaultsEventSchema = z.strictObject({ event: z.literal('defaults'), ...chosenDefaultsSchema.shape })

/** Before training: something that may keep the run from learning, and how to change it. */
const noticeEventSchema = z.strictObject({ event: z.literal('notice'), message: z.string(), hint: z.string() })

/** Calls of a scenario's console. Of very many the first and the last 50 are in `entries`, in their order. */
export const scenarioLogsSchema = z.strictObject({
  calls: z.int().nonnegative(),
  entries: z
    .array(
      z.strictObject({
        level: z.enum(['debug', 'error', 'info', 'log', 'trace', 'warn']),
        /** Without control characters; cut. */
        text: z.string().max(510),
        /** Where it was called; outside an episode, as while the scenario loads, the phase alone. */
        phase: z.string().max(20),
        environment: z.int().nonnegative().optional(),
        episode: z.int().nonnegative().optional(),
        step: z.int().nonnegative().optional(),
      }),
    )
    .max(100),
})
export type ScenarioLogs = z.infer<typeof scenarioLogsSchema>

/** What the scenario logged in an iteration; with `--verbose` only. */
const logsEventSchema = z.strictObject({ event: z.literal('logs'), ...scenarioLogsSchema.shape })

export const trainingEventSchema = z.discriminatedUnion('event', [
  defaultsEventSchema,
  noticeEventSchema,
  logsEventSchema,
  progressEventSchema,
  checkpointEventSchema,
  evaluationEventSchema,
  resultEventSchema,
  errorEventSchema,
])
export type TrainingEvent = z.infer<typeof trainingEventSchema>

/** `not run: …` in `message`: an earlier check failed. */
export const scenarioCheckSchema = z.strictObject({
  id: z.string(),
  ok: z.boolean(),
  message: z.string(),
  /** The author's lines around the fault; only where the scenario was built from its sources. */
  frame: z.string().optional(),
  /** It passed, and its message names what to fix. */
  warning: z.literal(true).optional(),
  /**
   * What it measured. `speed`: environment steps a second on one core; `oracle`: its mean return, absent without one;
   * `doctor`: findings that are no notes.
   */
  value: z.number().optional(),
  /** `levels`, of a scenario that has some: mean returns on each; null where they were not measured. */
  levels: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(40),
        description: z.string().max(200).optional(),
        random: z.number().nullable(),
        oracle: z.number().nullable(),
      }),
    )
    .max(16)
    .optional(),
})
export type ScenarioCheck = z.infer<typeof scenarioCheckSchema>

/** Failed checks are those that ran: what comes after a failed check is not run. */
export function countChecks(checks: readonly Pick<ScenarioCheck, 'ok' | 'message' | 'warning'>[]): {
  failed: number
  notRun: number
  warnings: number
} {
  const notRun = checks.filter(({ ok, message }) => !ok && message.startsWith('not run: ')).length
  const failed = checks.filter(({ ok }) => !ok).length - notRun
  return { failed, notRun, warnings: checks.filter(({ warning }) => warning === true).length }
}

/** `1 of 20 checks failed, 16 were not run`. */
export function checksFailedText(checks: readonly Pick<ScenarioCheck, 'ok' | 'message'>[]): string {
  const { failed, notRun } = countChecks(checks)
  const rest = notRun === 0 ? '' : `, ${notRun} ${notRun === 1 ? 'was' : 'were'} not run`
  return `${failed} of ${checks.length} checks failed${rest}`
}

/** What `agentgym scenario check` prints. */
export const checkReportSchema = z.strictObject({
  ok: z.boolean(),
  name: z.string(),
  version: z.string(),
  checks: z.array(scenarioCheckSchema),
})
export type CheckReport = z.infer<typeof checkReportSchema>

/**
 * One episode as it was played in training; rows are the flat rows of policy and engine, actions as sampled. PPO cuts
 * its rollouts without regard to episodes: what lies of one in a rollout is then all there is.
 */
export const trajectorySchema = z.strictObject({
  iteration: z.int().positive(),
  environment: z.int().nonnegative(),
  /** Sum of the rewards, and number, of all the steps that were there to sample. */
  return: z.number(),
  length: z.int().nonnegative(),
  /** Its beginning or its end is missing. */
  partial: z.boolean(),
  /** The first 1,000 at most. */
  steps: z
    .array(
      z.strictObject({
        observation: z.array(z.number()),
        action: z.array(z.number()),
        reward: z.number(),
        log_probability: z.number(),
        terminated: z.boolean(),
        truncated: z.boolean(),
      }),
    )
    .max(1_000),
})
export type Trajectory = z.infer<typeof trajectorySchema>
