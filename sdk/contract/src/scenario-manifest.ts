import { z } from 'zod'
import { pictureColorSchema } from './scene.ts'

/** A column of a sample episode's `observation`: the numbers of all spaces but texts, one after the other. */
const column = z.int().min(0).max(8_191)
const finite = z.number().gte(-1e6).lte(1e6)
const label = z.string().min(1).max(40)

/** In the unit of the position. */
const trackSchema = z
  .strictObject({
    low: finite,
    high: finite,
    /** Position of the goal. */
    goal: finite.optional(),
    /** Height of the ground at evenly spaced positions from `low` to `high`, in the unit of the position. Default: level. */
    heights: z.array(finite).min(2).max(64).optional(),
  })
  .refine(({ low, high }) => low < high, 'low must be below high')

/** What a channel of a grid shows, by role; values from 0 (nothing) to 1 (opaque). */
const channelRoleSchema = z.enum(['wall', 'trail', 'goal', 'agent', 'item'])
export type ChannelRole = z.infer<typeof channelRoleSchema>

/** Or as the author wants it: later channels are drawn over earlier ones. Channels without color and glyph are not drawn. */
const channelSchema = z.union([
  channelRoleSchema,
  z.strictObject({
    /** Shown in legends. */
    name: label,
    color: pictureColorSchema.optional(),
    /** Default: `square`, which fills its cell. */
    mark: z.enum(['square', 'block', 'dot', 'circle', 'ring', 'diamond']).optional(),
    /** One character: over the mark in pictures, instead of it in terminals. */
    glyph: z
      .string()
      .refine((text) => /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(text), 'must be one visible character')
      .optional(),
  }),
])
export type GridChannel = z.infer<typeof channelSchema>

/**
 * How a scenario's observations are drawn: the field `agentgym.view` of its package.json. By default every number of the
 * observation is a line. It affects pictures only.
 */
export const scenarioViewSchema = z.discriminatedUnion('kind', [
  /** A cart on a track, with a pole where `angle` is named: in radians, 0 upright, clockwise. */
  z.strictObject({
    kind: z.literal('cart'),
    position: column,
    angle: column.optional(),
    track: trackSchema,
  }),
  /** Linked rods hanging from a hinge; each angle is counterclockwise, relative to the previous rod. */
  z.strictObject({
    kind: z.literal('links'),
    links: z
      .array(z.strictObject({ cos: column, sin: column }))
      .min(1)
      .max(4),
    /** Direction of the first rod at angle 0. */
    zero: z.enum(['up', 'down']),
    /** Target height of the free end above the hinge, in rod lengths. */
    goal: finite.optional(),
  }),
  /**
   * A grid: `shape` is [channels, rows, columns], starting at column `at`. Without a channel `agent` the agent is in the
   * center, and `moves` ([columns right, rows down] per action) assemble its views into a map.
   */
  z.strictObject({
    kind: z.literal('grid'),
    at: column,
    shape: z.array(z.int().min(1).max(128)).length(3),
    channels: z.array(channelSchema).min(1).max(32),
    moves: z
      .array(z.array(z.int().min(-1).max(1)).length(2))
      .max(64)
      .optional(),
  }),
  /**
   * A text and the actions taken. `facts` names numbers of the observation, in order; changes are shown. `lists` names the
   * features of the items in lists of the observation, in order; of an item, those that are not 0 are shown.
   */
  z.strictObject({
    kind: z.literal('transcript'),
    facts: z.array(label).max(64).optional(),
    lists: z
      .array(z.strictObject({ name: z.string().min(1).max(80), features: z.array(label).min(1).max(64) }))
      .max(8)
      .optional(),
  }),
  /**
   * Numbers over time. `labels` names numbers of the observation, in order; or `series` names those that are drawn, with
   * their columns and units.
   */
  z.strictObject({
    kind: z.literal('lines'),
    labels: z.array(label).max(64).optional(),
    series: z
      .array(
        z.strictObject({
          at: column,
          label,
          unit: z.string().min(1).max(12).optional(),
          /** Range of the axis. Default: that of the episode. */
          low: finite.optional(),
          high: finite.optional(),
        }),
      )
      .min(1)
      .max(6)
      .optional(),
  }),
])
export type ScenarioView = z.infer<typeof scenarioViewSchema>

/** The minimum for each metric: `return_mean` or a metric that the scenario reports at the end of an episode. */
export const successCriteriaSchema = z.record(z.string(), z.number())
export type SuccessCriteria = z.infer<typeof successCriteriaSchema>

/** The field `agentgym` of a scenario's package.json. */
export const scenarioManifestSchema = z.strictObject({
  kind: z.literal('scenario'),
  entry: z.string().min(1),
  title: z.string().min(1).max(80),
  summary: z.string().min(1).max(280),
  category: z.string().regex(/^[a-z][a-z0-9-]*$/, 'lower-case words joined by hyphens'),
  difficulty: z.enum(['beginner', 'intermediate', 'advanced', 'expert']),
  success: successCriteriaSchema.default({}),
  /** `algorithm`, `steps` and any training setting by its name; checked where training starts. */
  training: z.record(z.string(), z.unknown()).default({}),
  /** How episodes are drawn. Default: as lines. */
  view: scenarioViewSchema.optional(),
})
export type ScenarioManifest = z.infer<typeof scenarioManifestSchema>

/** The parts of package.json that a scenario needs. Other fields are allowed. */
export const scenarioPackageSchema = z.looseObject({
  name: z
    .string()
    .regex(/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/, 'an npm name: lower case, scoped or not')
    .max(214),
  version: z.string().regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/, 'a version such as 1.0.0'),
  license: z.string().min(1).optional(),
  agentgym: scenarioManifestSchema,
})
export type ScenarioPackage = z.infer<typeof scenarioPackageSchema>
