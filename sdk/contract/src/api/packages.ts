import { z } from 'zod'
import { agentManifestSchema } from '../agent-manifest.ts'
import { spaceLeafSchema } from '../space-description.ts'
import { scenarioCheckSchema } from '../training-events.ts'
import { jsonValue } from './fields.ts'
import { verificationSchema } from './verification.ts'

/** State of a version: what was uploaded is checked, and then published or rejected for good. */
export const versionStateSchema = z.enum(['checking', 'published', 'rejected'])

/** The query of `PUT …/versions/1.0.0`. */
export const publishRequestSchema = z.object({
  tag: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe(
      'Tag for the version once it is published. Default: `latest` for a stable version above the current one, otherwise a tag by the kind of version.',
    ),
  visibility: z.enum(['public', 'private']).optional().describe('For a new package. Default: `public`.'),
})

export const publishedVersionSchema = z
  .object({
    name: z.string(),
    version: z.string(),
    state: versionStateSchema,
    /** The package's page. */
    url: z.string(),
    /** `sha512-…` (base64) of the tarball, as it arrived. */
    integrity: z.string(),
    /** `sha512-…` (base64) of the tarball that is served: the registry writes what it has read again, in its own form. */
    served_integrity: z.string(),
  })
  .meta({ id: 'PublishedVersion' })

const versionFields = {
  version: z.string(),
  state: versionStateSchema,
  /** When it was uploaded. */
  created_at: z.iso.datetime(),
  published_at: z.iso.datetime().nullable(),
  integrity: z.string(),
  /** Bytes of the tarball, and of the files in it. */
  size: z.int().nonnegative(),
  unpacked_size: z.int().nonnegative(),
  file_count: z.int().nonnegative(),
  /** What to tell those who install it; null where it is not deprecated. */
  deprecated: z.string().nullable(),
  /** Hidden from ranges and tags. */
  yanked: z.boolean(),
  downloads: z.int().nonnegative(),
}

export const versionListSchema = z
  .object({
    name: z.string(),
    tags: z.record(z.string(), z.string()),
    /** Newest upload first. Members of the owning account see those that are not published too. */
    versions: z.array(
      z.object({
        ...versionFields,
        /** Of its checks; both are 0 before they have run. */
        checks_passed: z.int().nonnegative(),
        checks_count: z.int().nonnegative(),
      }),
    ),
  })
  .meta({ id: 'VersionList' })
export type VersionList = z.infer<typeof versionListSchema>

/** What a version's own CHANGELOG.md says of it, as written and as HTML that is safe to show. */
const changesSchema = z
  .object({ markdown: z.string(), html: z.string().describe('Without scripts, styles, forms, images and raw HTML.') })
  .meta({ id: 'VersionChanges' })

/** The query of `GET …/changes`. */
export const changesRequestSchema = z.object({
  before: z.string().max(64).optional().describe('Only versions uploaded before this one.'),
  limit: z.coerce.number().int().min(1).max(50).default(20),
})

export const changeListSchema = z
  .object({
    name: z.string(),
    /** Newest upload first; of versions whose changelog says something of them. */
    changes: z.array(z.object({ version: z.string(), ...changesSchema.shape })),
  })
  .meta({ id: 'ChangeList' })
export type ChangeList = z.infer<typeof changeListSchema>

/** How a run learned: at most 200 of its points, evenly spaced, the last among them. */
export const learningCurveSchema = z
  .array(
    z.object({
      /** Environment steps trained. */
      steps: z.int().nonnegative(),
      /** Mean of the returns of the last 100 episodes that had ended by then. */
      return_mean: z.number(),
    }),
  )
  .max(200)
export type LearningCurve = z.infer<typeof learningCurveSchema>

const { scenario, policy, algorithm, steps, evaluation, model_hash, parent, comparison } = agentManifestSchema.shape

/** What agent.json says of a trained agent, but the settings. `evaluation` is its publisher's claim. */
export const agentCardSchema = z
  .object({
    /** What it was trained on; its spaces are those of `policy`. */
    scenario: z.object({
      ...{ name: z.string(), version: z.string() },
      /** Present: no scenario, but a process of its publisher's, which no registry has. */
      environment: scenario.shape.environment,
    }),
    /** The same spaces as the scenario has them, leaf by leaf: what a call of the agent takes and gives. */
    spaces: z.object({ observation: z.array(spaceLeafSchema), action: z.array(spaceLeafSchema) }),
    /** Of an agent whose calls must say what is legal: the mask in which everything is. Absent: they need not. */
    whole_mask: jsonValue.optional(),
    ...{ policy, algorithm, steps, evaluation, model_hash },
    /** The agent whose weights it started from, as its publisher says; absent: none. */
    parent,
    /** Beside a language model, as its publisher measured it; absent: it was not. */
    comparison,
  })
  .meta({ id: 'AgentCard' })
export type AgentCard = z.infer<typeof agentCardSchema>

export const versionDetailsSchema = z
  .object({
    name: z.string(),
    ...versionFields,
    /** SHA-256 (hex) of dist/scenario.js; null for agents. */
    bundle_hash: z.string().nullable(),
    /** Address of the tarball. */
    tarball: z.string(),
    tags: z.array(z.string()),
    /** Results of the checks, with how to fix failures. */
    checks: z.array(z.object(scenarioCheckSchema.shape)),
    /** package.json as it is in the tarball. */
    manifest: z.record(z.string(), z.unknown()),
    readme: z.string(),
    /** Null where its changelog does not say. */
    changes: z.union([changesSchema, z.null()]),
    /** What came of running an agent again; null for scenarios. */
    verification: z.union([verificationSchema, z.null()]),
    /** Of an agent that a run of this server trained; null otherwise. */
    learning_curve: learningCurveSchema.nullable(),
    /** Null for scenarios. */
    agent: agentCardSchema.nullable(),
  })
  .meta({ id: 'VersionDetails' })
export type VersionDetails = z.infer<typeof versionDetailsSchema>

/** The query of `GET …/resolve`. */
export const resolveRequestSchema = z.object({
  range: z
    .string()
    .max(200)
    .default('latest')
    .describe('A tag, range or exact version, as in npm: `latest`, `^1.2.0`, `1.2.3`.'),
})

export const resolvedVersionSchema = z
  .object({
    name: z.string(),
    version: z.string(),
    integrity: z.string(),
    tarball: z.string(),
    deprecated: z.string().nullable(),
    yanked: z.boolean(),
  })
  .meta({ id: 'ResolvedVersion' })
export type ResolvedVersion = z.infer<typeof resolvedVersionSchema>

export const tagRequestSchema = z.strictObject({ version: z.string().min(1).max(64) })

export const tagListSchema = z
  .object({ name: z.string(), tags: z.record(z.string(), z.string()) })
  .meta({ id: 'TagList' })
export type TagList = z.infer<typeof tagListSchema>

export const deprecationRequestSchema = z.strictObject({
  message: z.string().max(1_000).describe('Shown to users who install the version. Empty removes the deprecation.'),
})
