import { z } from 'zod'
import { demonstrationSchema, keptEpisodeLimits, playedSeed } from '../demonstrations.ts'
import { line, lines } from './fields.ts'
import { decisionSchema } from './reviews.ts'

const { steps, numbers, episodes } = keptEpisodeLimits
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().nonnegative()
/** A float32. */
const number = z.number().gte(-3.5e38).lte(3.5e38)

/** Rows of actions, of one length. */
export const keptActionsSchema = z
  .array(z.array(number).min(1).max(1_024))
  .min(1)
  .max(steps)
  .refine((rows) => rows.every(({ length }) => length === rows[0]?.length), 'all rows must have the same length')
  .refine((rows) => rows.length * (rows[0]?.length ?? 0) <= numbers, `must be at most ${numbers} numbers in total`)

export const keepEpisodeRequestSchema = z.strictObject({
  /** SHA-256 (hex) of the bundle that was played. */
  hash,
  seed: z.literal(playedSeed),
  /** Number of the held-out episode. */
  episode: count.max(episodes - 1),
  /** All actions in order, categorical ones as indices from 0. The server computes the score from them. */
  actions: keptActionsSchema,
})

/**
 * `checking`: a worker replays it. `kept`: it counts, and others can download it. `refused`: the actions are not an episode of
 * the scenario.
 */
const keptEpisodeStateSchema = z.enum(['checking', 'kept', 'refused'])

export const keptEpisodeSchema = z
  .object({
    id: z.uuid(),
    version: z.string(),
    episode: count,
    state: keptEpisodeStateSchema,
    steps: count,
    /** Computed by the server's worker; null until then. */
    return: z.number().nullable(),
    /** Why it was refused; null otherwise. */
    message: z.string().nullable(),
    /** Username; null in the list of everyone’s, except to operators. */
    by: z.string().nullable(),
    /** Why an operator removed it: it no longer counts. Absent in older servers. */
    removed: decisionSchema.nullable().optional(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'KeptEpisode' })
export type KeptEpisode = z.infer<typeof keptEpisodeSchema>

/** What people reach on a scenario version: the mean over people of each one’s mean return over the kept episodes. */
export const peopleBaselineSchema = z.object({
  return_mean: z.number(),
  people: z.int().positive(),
  episodes: z.int().positive(),
})
export type PeopleBaseline = z.infer<typeof peopleBaselineSchema>

export const keptEpisodesRequestSchema = z.object({
  of: z.enum(['own', 'everyone']).default('own').describe('`everyone`: for operators only.'),
})

export const keptEpisodeListSchema = z
  .object({
    scenario: z.object({ name: z.string(), version: z.string() }),
    /** Null until somebody has kept an episode. */
    people: peopleBaselineSchema.nullable(),
    /** Newest first, at most 100. */
    episodes: z.array(keptEpisodeSchema),
  })
  .meta({ id: 'KeptEpisodeList' })
export type KeptEpisodeList = z.infer<typeof keptEpisodeListSchema>

export const removeEpisodeRequestSchema = z.strictObject({ reason: lines(z.string().trim().min(1).max(2_000)) })

/** What a worker found when it replayed the actions. */
export const replayedEpisodeSchema = demonstrationSchema.omit({ actions: true, return: true }).extend({
  rewards: z.array(number).min(1).max(steps),
  metrics: z
    .record(line(z.string().max(200)), z.number())
    .refine((metrics) => Object.keys(metrics).length <= keptEpisodeLimits.metrics, 'too many metrics'),
  /** Numbers of tasks of the scenario. */
  tasks: z.strictObject({ train: count, eval: count }),
})
export type ReplayedEpisode = z.infer<typeof replayedEpisodeSchema>
