import { z } from 'zod'
import { mostViewedColumns } from './fitting-view.ts'
import { scenarioViewSchema } from './scenario-manifest.ts'
import { sceneFields, sceneLimits, sceneShapeSchema } from './scene.ts'

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
  /** Shapes of all scenes together, each counted once. */
  shapes: 10_000,
  /** Likeliest choices of a step. */
  likely: 4,
} as const

/** What a recorded episode may hold: one that a command plays for its user, on the user's machine. */
export const recordedEpisodeLimits = {
  ...sampleEpisodeLimits,
  bytes: 67_108_864,
  steps: 10_000,
  shapes: 1_000_000,
  likely: 6,
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

type EpisodeLimits = Pick<typeof limits, 'viewed' | 'texts' | 'textCharacters'> & {
  shapes: number
  steps: number
  likely: number
}

function seenFields({ viewed, texts, textCharacters }: EpisodeLimits) {
  return {
    /** The numbers of all leaves but texts, one after the other, to five significant digits. */
    observation: z.array(real).max(viewed),
    /** Of the leaves that are texts, in order; cut. */
    texts: z.array(plain(textCharacters)).max(texts),
    /** Of a scenario that draws itself: the shapes, as indices into those of the episode, the lowest first. */
    scene: z.array(count).max(sceneLimits.shapes).optional(),
  }
}

function stepFields(of: EpisodeLimits) {
  return {
    ...seenFields(of),
    /** What was done upon it. */
    action: z.array(real).max(limits.action),
    /** What came of that. */
    reward: real,
    /** Of an agent whose first component is a choice: its likeliest choices, and how likely each was. */
    likely: z
      .array(z.strictObject({ choice: count, probability: z.number().gte(0).lte(1) }))
      .max(of.likely)
      .optional(),
  }
}

function episodeFields<Step extends z.ZodType>(step: Step, of: EpisodeLimits) {
  return {
    format: z.literal(1),
    /** How the scenario's manifest wants it drawn; null: as its scene, if it has one, else as lines. */
    view: scenarioViewSchema.nullable(),
    observation: z.array(observationLeafSchema).max(limits.leaves),
    /** Categorical actions are indices from 0. */
    action: z.array(actionLeafSchema).max(limits.leaves),
    /** Of a scenario that draws itself: the size of its scenes, and their shapes, each once. */
    scene: z.strictObject({ ...sceneFields, shapes: z.array(sceneShapeSchema).max(of.shapes) }).optional(),
    steps: z.array(step).min(1).max(of.steps),
    /** What was seen after the last of `steps`. */
    last: z.strictObject(seenFields(of)),
    /** `cut`: it went on, beyond what is kept here. */
    end: z.enum(['terminated', 'truncated', 'cut']),
  }
}

type Scenes = { scene?: { shapes: unknown[] }; steps: { scene?: number[] }[]; last: { scene?: number[] } }

function shapesExist({ scene, steps, last }: Scenes): boolean {
  const shapes = scene?.shapes.length ?? 0
  return [...steps, last].every((seen) => seen.scene === undefined || seen.scene.every((index) => index < shapes))
}
const missingShape = 'names a shape that it does not have'

/** One short episode of a scenario, for pictures: what was seen, done and rewarded. */
export const sampleEpisodeSchema = z
  .strictObject({
    ...episodeFields(z.strictObject(stepFields(limits)), limits),
    /** Who acted: chance, among the legal actions, or a trained agent that takes the likeliest. */
    policy: z.enum(['random', 'agent']),
  })
  .refine(
    (episode) => new TextEncoder().encode(JSON.stringify(episode)).length <= limits.bytes,
    'is larger than it may be',
  )
  .refine(shapesExist, missingShape)
  .meta({ id: 'SampleEpisode' })
export type SampleEpisode = z.infer<typeof sampleEpisodeSchema>

const recordedStepSchema = z.strictObject(stepFields(recordedEpisodeLimits))
export type RecordedStep = z.infer<typeof recordedStepSchema>

/** A whole episode that a command has played, for its pictures. */
export const recordedEpisodeSchema = z
  .strictObject({
    ...episodeFields(recordedStepSchema, recordedEpisodeLimits),
    policy: z.enum(['random', 'agent', 'person']),
  })
  .refine(shapesExist, missingShape)
export type RecordedEpisode = z.infer<typeof recordedEpisodeSchema>

/** One moment of an episode that goes on, for its picture: the last one, without the steps before it. */
export const episodeMomentSchema = z
  .strictObject({
    ...episodeFields(recordedStepSchema, recordedEpisodeLimits),
    steps: z.array(recordedStepSchema).max(0),
    policy: z.enum(['random', 'agent', 'person']),
  })
  .refine(shapesExist, missingShape)
