import { z } from 'zod'
import { policySpecSchema } from './policy-spec.ts'
import { successCriteriaSchema } from './scenario-manifest.ts'
import { spaceDescriptionSchema } from './space-description.ts'
import { trainingAlgorithms } from './training-settings.ts'

/** What `agentgym eval` prints. Means are over the episodes; absent means no episode ended. */
export const evaluationSchema = z.strictObject({
  /** `name@version` */
  scenario: z.string(),
  episodes: z.int().nonnegative(),
  seed: z.int().nonnegative(),
  return_mean: z.number().nullable(),
  return_std: z.number().nullable(),
  length_mean: z.number().nullable(),
  /** Means of the metrics that the scenario reports at an episode's end. */
  metrics: z.record(z.string(), z.number()),
  /** Each success criterion with what was reached. `ok` is their conjunction; null when there are none. */
  success: z.strictObject({
    ok: z.boolean().nullable(),
    criteria: z.array(
      z.strictObject({ metric: z.string(), target: z.number(), value: z.number().nullable(), ok: z.boolean() }),
    ),
  }),
  /** SHA-256 (hex) over every episode's actions, rewards and ends, in order of the episodes. */
  trajectory_hash: z.string().regex(/^[0-9a-f]{64}$/),
})
export type Evaluation = z.infer<typeof evaluationSchema>

/** agent.json of a trained agent's package. */
export const agentManifestSchema = z.strictObject({
  format: z.literal(1),
  scenario: z.strictObject({
    name: z.string(),
    version: z.string(),
    /** SHA-256 (hex) of the bundle that was trained on. */
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    observation: spaceDescriptionSchema,
    action: spaceDescriptionSchema,
    success: successCriteriaSchema,
  }),
  policy: policySpecSchema,
  algorithm: z.enum(trainingAlgorithms),
  settings: z.record(z.string(), z.unknown()),
  seed: z.int().nonnegative(),
  /** Environment steps trained. */
  steps: z.int().nonnegative(),
  evaluation: evaluationSchema,
  /** SHA-256 (hex) of model.onnx. */
  model_hash: z.string().regex(/^[0-9a-f]{64}$/),
  runtime: z.record(z.string(), z.string()),
})
export type AgentManifest = z.infer<typeof agentManifestSchema>
