import { z } from 'zod'
import { evaluationSchema, evaluationTasksSchema, runtimeSignatureSchema } from '../agent-manifest.ts'
import { peopleBaselineSchema } from './demonstrations.ts'

const count = z.int().nonnegative()
const hash = z.string().regex(/^[0-9a-f]{64}$/)

const statementFields = {
  server: z.string(),
  key_id: z.string(),
  agent: z.strictObject({ name: z.string(), version: z.string(), integrity: z.string(), model_hash: hash }),
  scenario: z.strictObject({ name: z.string(), version: z.string(), hash, integrity: z.string() }),
  /** The evaluation in agent.json, reproduced bit for bit with the same episodes and seed. */
  claim: evaluationSchema,
  /** SHA-256 (hex) over the model's outputs for the golden batch. */
  output_hash: hash,
  runtime: z.record(z.string(), z.string()),
  verified_at: z.iso.datetime(),
}

/** The statements of older servers: one worker, and a seed of its own for each held-out evaluation. */
const statementVersion1Schema = z.strictObject({
  type: z.literal('agentgym-verification-1'),
  ...statementFields,
  /** On episodes that were unknown when the agent was published. The leaderboard ranks by it. */
  held_out: evaluationSchema,
})

const statementVersion2Fields = {
  ...statementFields,
  /** On the season's held-out episodes. The seed stays secret (null) while the season runs. */
  held_out: evaluationSchema.extend({ seed: evaluationSchema.shape.seed.nullable() }),
  /** All agents verified in a season play the same held-out episodes. `commitment` is a hash over the secret seed. */
  season: z.strictObject({ id: z.string(), commitment: hash }).nullable(),
  /** Tasks that the held-out evaluation drew from; `fixed`: few enough to be memorized. Null: no numbered tasks. */
  task_set: evaluationTasksSchema.omit({ order: true }).extend({ fixed: z.boolean() }).nullable(),
  /** The workers whose results agreed. `owner`: the account that runs it; null for a worker of the installation. */
  workers: z.array(z.strictObject({ id: z.string(), owner: z.string().nullable(), runtime: runtimeSignatureSchema })),
}

/** Of agents whose evaluations have neither calibration nor baselines: older clients can read it. */
const statementVersion2Schema = z.strictObject({
  type: z.literal('agentgym-verification-2'),
  ...statementVersion2Fields,
})

/** The same with `calibration` or `baselines` in the claim or in the held-out evaluation. */
const statementVersion3Schema = z.strictObject({
  type: z.literal('agentgym-verification-3'),
  ...statementVersion2Fields,
})

/**
 * What the server signs about an agent's version. The signature is Ed25519 over the UTF-8 bytes of `statement` as served,
 * so a client can verify it without serializing anything itself.
 */
export const verificationStatementSchema = z.discriminatedUnion('type', [
  statementVersion1Schema,
  statementVersion2Schema,
  statementVersion3Schema,
])
export type VerificationStatement = z.infer<typeof verificationStatementSchema>

/**
 * `pending`: in progress. `verified`: signed. `mismatch`: re-running gave a different result than agent.json claims.
 * `failed`: the run failed. `unavailable`: this registry does not have the scenario. `inconclusive`: the machines did not
 * decide it (a timeout, a lost lease, workers that disagree, a scenario that is not deterministic); it is retried.
 */
const verificationStateSchema = z.enum(['pending', 'verified', 'mismatch', 'failed', 'unavailable', 'inconclusive'])

export const verificationSchema = z
  .object({
    state: verificationStateSchema,
    /** What differed or failed; null while pending and when verified. */
    message: z.string().nullable(),
    /** The signed text, base64 signature and key; null unless verified. */
    signed: z.object({ statement: z.string(), signature: z.string(), key_id: z.string() }).nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Verification' })
export type Verification = z.infer<typeof verificationSchema>

/** A worker that gets no more evaluations, because others contradict its results. */
export const workerHoldSchema = z.object({
  id: z.uuid(),
  /** Its name; null if it did not say. */
  worker: z.string().nullable(),
  reason: z.string(),
  /** The evaluation in which it was contradicted. */
  evaluation: z.uuid(),
  created_at: z.iso.datetime(),
})
export type WorkerHold = z.infer<typeof workerHoldSchema>

/** Whether the scenario version had a mark. */
export const clearedSchema = z.object({ cleared: z.boolean() })

export const signingKeysSchema = z
  .object({
    keys: z.array(
      z.object({
        id: z.string(),
        algorithm: z.literal('Ed25519'),
        /** SubjectPublicKeyInfo in PEM. */
        public_key: z.string(),
        created_at: z.iso.datetime(),
        /** When the key stopped signing; statements signed before stay valid. */
        retired_at: z.iso.datetime().nullable(),
      }),
    ),
  })
  .meta({ id: 'SigningKeys' })
export type SigningKeys = z.infer<typeof signingKeysSchema>

/** The secret of the held-out episodes of a week or so; equal for all agents. */
export const seasonSchema = z
  .object({
    id: z.string(),
    /** SHA-256 (hex) of the secret's bytes, published when the season starts. */
    commitment: hash,
    started_at: z.iso.datetime(),
    /** When it ends, or ended. */
    ends_at: z.iso.datetime(),
    ended: z.boolean(),
    /** 32 bytes in hex; null while the season runs, and if the server lost it. */
    secret: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable(),
  })
  .meta({ id: 'Season' })
export type Season = z.infer<typeof seasonSchema>

/** Newest first. */
export const seasonListSchema = z
  .object({ seasons: z.array(seasonSchema), next: z.string().nullable() })
  .meta({ id: 'SeasonList' })
export type SeasonList = z.infer<typeof seasonListSchema>

/** The query of `GET /v1/seasons`. */
export const seasonsRequestSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(25).describe('Seasons per page.'),
  before: z
    .string()
    .regex(/^\d{1,9}$/)
    .optional()
    .describe('`next` of the previous page: seasons before that one.'),
})

/** Verified agents of one scenario version, best standing first; one entry per package, with its latest verified version. */
export const leaderboardSchema = z
  .object({
    scenario: z.object({
      name: z.string(),
      version: z.string(),
      /** It gives different results to the same actions, so agents are not judged by it. Absent in older servers. */
      nondeterministic: z.boolean().optional(),
    }),
    /** Not ranked. Null until a person has kept an episode. Absent in older servers. */
    people: peopleBaselineSchema.nullable().optional(),
    entries: z.array(
      z.object({
        rank: z.int().positive(),
        agent: z.object({ name: z.string(), version: z.string(), title: z.string().nullable(), algorithm: z.string() }),
        publisher: z.string(),
        /** The standing: changed only by results that differ beyond noise. */
        return_mean: z.number(),
        /** Of 95%. Null: the episodes' returns are unknown. Absent in older servers, as the two that follow. */
        confidence: z.object({ low: z.number(), high: z.number() }).nullable().optional(),
        /** Versions with which the publisher has tried this scenario version. */
        attempts: z.int().positive().optional(),
        /** The season of the standing; null: from before there were seasons. */
        season: z.string().nullable().optional(),
        return_std: z.number().nullable(),
        length_mean: z.number().nullable(),
        metrics: z.record(z.string(), z.number()),
        success: z.boolean().nullable(),
        /** Held-out results against the scenario's targets. Absent in older servers. */
        outcome: evaluationSchema.shape.success.optional(),
        episodes: count,
        /** Environment steps of training. */
        steps: count,
        verified_at: z.iso.datetime(),
      }),
    ),
    next: z.string().nullable(),
  })
  .meta({ id: 'Leaderboard' })
export type Leaderboard = z.infer<typeof leaderboardSchema>

const comparedAgentSchema = z.object({
  name: z.string(),
  version: z.string(),
  title: z.string().nullable(),
  algorithm: z.string(),
  return_mean: z.number(),
  /** Of each held-out episode, in order; null in older results. */
  returns: z.array(z.number()).nullable(),
})
export type ComparedAgent = z.infer<typeof comparedAgentSchema>

/** Verified agents of one scenario version on its held-out episodes. */
export const agentComparisonSchema = z
  .object({
    scenario: z.object({ name: z.string(), version: z.string() }),
    /** In the order of the request. */
    agents: z.array(comparedAgentSchema),
    /**
     * Of each agent but the first: its return minus that of the first, over the same episodes, with the 95% confidence
     * interval of the mean. Null unless both played the same episodes.
     */
    differences: z.array(
      z.object({ mean: z.number(), confidence: z.object({ low: z.number(), high: z.number() }).nullable() }).nullable(),
    ),
  })
  .meta({ id: 'AgentComparison' })
export type AgentComparison = z.infer<typeof agentComparisonSchema>

/** The query of `GET …/comparison`. */
export const agentComparisonRequestSchema = z.object({
  agents: z
    .string()
    .max(1_000)
    .regex(/^@[^,]+(,@[^,]+){1,3}$/)
    .describe('Two to four names of agents, separated by commas.'),
})

/** The query of `GET …/leaderboard`. */
export const leaderboardRequestSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(25).describe('Entries per page.'),
  cursor: z.string().max(200).optional().describe('`next` of the previous page.'),
})
