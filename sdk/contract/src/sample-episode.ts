import { z } from 'zod'
import { mostViewedColumns, scenarioViewSchema } from './scenario-manifest.ts'

/** What a sample episode may hold. It comes out of a stranger's code, and pages show it. */
export const sampleEpisodeLimits = {
  /** Of its JSON. */
  bytes: 65_536,
  steps: 200,
  /** Numbers of an observation; the first are kept. More, up to `viewed`, if the scenario's view shows them. */
  observation: 256,
  viewed: mostViewedColumns,
  texts: 4,
  /** UTF-16 units of a text. */
  textCharacters: 500,
  action: 64,
  leaves: 64,
  nameCharacters: 80,
  labels: 64,
  labelCharacters: 60,
} as const

const limits = sampleEpisodeLimits
const count = z.int().nonnegative()
/** What an engine's float32 holds. */
const real = z.number().gte(-3.5e38).lte(3.5e38)
/** Text of a stranger: no half letters, which no database takes, and no control characters but tabs and ends of lines. */
const plain = (characters: number) =>
  z
    .string()
    .max(characters)
    .refine((text) => text.isWellFormed() && !/[^\P{Cc}\t\n]/u.test(text), 'must not contain control characters')

/** One leaf of a space. `shape` is that of a box, else `[size]`; texts have no numbers: their `size` is 0. */
const leafFields = {
  /** Dotted path within a dict; empty for a space that is none. */
  name: plain(limits.nameCharacters),
  kind: z.enum(['box', 'discrete', 'multiDiscrete', 'text']),
  size: count,
  shape: z.array(z.int().positive()).max(8),
}
const observationLeafSchema = z.strictObject(leafFields)
const actionLeafSchema = z.strictObject({
  ...leafFields,
  /** What the choices of a discrete space are called, in order; empty where they have no names. */
  labels: z.array(plain(limits.labelCharacters)).max(limits.labels),
  /** Of a pointer: the list of the observation whose items are the choices. */
  list: plain(limits.nameCharacters).optional(),
})

const seenFields = {
  /** The numbers of all leaves but texts, one after the other, to five significant digits. */
  observation: z.array(real).max(limits.viewed),
  /** Of the leaves that are texts, in order; cut. */
  texts: z.array(plain(limits.textCharacters)).max(limits.texts),
}

/** One short episode of a scenario, for pictures: what was seen, done and rewarded. */
export const sampleEpisodeSchema = z
  .strictObject({
    format: z.literal(1),
    /** Who acted: chance, among the legal actions, or a trained agent that takes the likeliest. */
    policy: z.enum(['random', 'agent']),
    /** How the scenario's manifest wants it drawn; null: as lines. */
    view: scenarioViewSchema.nullable(),
    observation: z.array(observationLeafSchema).max(limits.leaves),
    /** Categorical actions are indices from 0. */
    action: z.array(actionLeafSchema).max(limits.leaves),
    steps: z
      .array(
        z.strictObject({
          ...seenFields,
          /** What was done upon it. */
          action: z.array(real).max(limits.action),
          /** What came of that. */
          reward: real,
        }),
      )
      .min(1)
      .max(limits.steps),
    /** What was seen after the last of `steps`. */
    last: z.strictObject(seenFields),
    /** `cut`: it went on, beyond what is kept here. */
    end: z.enum(['terminated', 'truncated', 'cut']),
  })
  .refine(
    (episode) => new TextEncoder().encode(JSON.stringify(episode)).length <= limits.bytes,
    'is larger than it may be',
  )
  .meta({ id: 'SampleEpisode' })
export type SampleEpisode = z.infer<typeof sampleEpisodeSchema>
