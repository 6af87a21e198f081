import { z } from 'zod'

/**
 * A space as JSON. Observation and action spaces of a scenario are described so; a `dict` is an ordered list, because
 * the order is the layout and JSON objects with numeric keys would lose it.
 */
export type SpaceDescription =
  | {
      type: 'box'
      shape: number[]
      low: (number | null)[]
      high: (number | null)[]
      channels?: 'last'
      integer?: true
      default?: number
    }
  | { type: 'discrete'; n: number; start: number; labels?: string[]; list?: string; default?: number }
  | { type: 'multiDiscrete'; nvec: number[] }
  | { type: 'text'; maxTokens: number; vocabulary: number; encoder?: 'minilm' }
  | { type: 'list'; slots: number; features: number }
  | { type: 'dict'; entries: { name: string; space: SpaceDescription }[]; choice?: string }

const positive = z.int().positive()

export const spaceDescriptionSchema: z.ZodType<SpaceDescription> = z.lazy(() =>
  z.discriminatedUnion('type', [
    /** `low` and `high` have one entry an element; null means unbounded on that side. */
    z.strictObject({
      type: z.literal('box'),
      shape: z.array(positive),
      low: z.array(z.number().nullable()),
      high: z.array(z.number().nullable()),
      /**
       * Of an image: its samples are [height, width, channels], as `shape` says; rows and what a policy sees of them are
       * [channels, height, width].
       */
      channels: z.literal('last').optional(),
      /** A number of a tool, of shape []: rounded. */
      integer: z.literal(true).optional(),
      /** A number of a tool where parameters are not trained. */
      default: z.number().optional(),
    }),
    z.strictObject({
      type: z.literal('discrete'),
      n: positive,
      start: z.int(),
      labels: z.array(z.string()).optional(),
      /** A pointer: dotted name of the list in the observation whose slots are the choices. */
      list: z.string().optional(),
      /** Index of a tool's parameter where parameters are not trained. */
      default: z.int().nonnegative().optional(),
    }),
    z.strictObject({ type: z.literal('multiDiscrete'), nvec: z.array(positive).min(1) }),
    /**
     * Text becomes `maxTokens` token ids below `vocabulary`; id 0 is padding. With `encoder` it becomes the vector of that
     * frozen sentence encoder, which reads at most `maxTokens` word pieces.
     */
    z.strictObject({
      type: z.literal('text'),
      maxTokens: positive,
      vocabulary: positive,
      encoder: z.literal('minilm').optional(),
    }),
    /** Up to `slots` items of `features` numbers; a row of the shape [slots, 1 + features] begins with 1 where the slot is filled. */
    z.strictObject({ type: z.literal('list'), slots: positive, features: positive }),
    z.strictObject({
      type: z.literal('dict'),
      entries: z.array(z.strictObject({ name: z.string().min(1), space: spaceDescriptionSchema })).min(1),
      /** Of an action: the discrete entry whose labels name the others; only the entry that it chooses counts. */
      choice: z.string().optional(),
    }),
  ]),
)

/** Larger spaces are summarized. */
const mostLabels = 256
const mostBounds = 64

/** One leaf of a space, for forms and clients that send a sample of it. */
export const spaceLeafSchema = z.object({
  /** Keys of the dicts around it; empty for a space that is no dict. */
  path: z.array(z.string()),
  kind: z.enum(['box', 'discrete', 'multiDiscrete', 'text', 'list']),
  /** Of a box; `[n]` for n choices of a multiDiscrete space; `[slots, 1 + features]` of a list; else empty. */
  shape: z.array(z.int().positive()),
  /** Choices: one number for a discrete space, one a component for a multiDiscrete one; else empty. */
  counts: z.array(z.int().positive()),
  /** What the first choice of a discrete space is counted as. */
  start: z.int(),
  /** Of a discrete space with up to 256 labelled choices. */
  labels: z.array(z.string()).nullable(),
  /** Of a box with up to 64 elements, one each; null in them is no bound. */
  low: z.array(z.number().nullable()).nullable(),
  high: z.array(z.number().nullable()).nullable(),
})
export type SpaceLeaf = z.infer<typeof spaceLeafSchema>

/** The leaves of a space, in their order. */
export function spaceLeaves(space: SpaceDescription, path: string[] = []): SpaceLeaf[] {
  const leaf = { path, kind: 'box' as const, shape: [], counts: [], start: 0, labels: null, low: null, high: null }
  switch (space.type) {
    case 'dict':
      return space.entries.flatMap(({ name, space: inner }) => spaceLeaves(inner, [...path, name]))
    case 'box': {
      const few = space.low.length <= mostBounds
      return [{ ...leaf, shape: space.shape, low: few ? space.low : null, high: few ? space.high : null }]
    }
    case 'discrete': {
      const labels = space.labels !== undefined && space.labels.length <= mostLabels ? space.labels : null
      return [{ ...leaf, kind: 'discrete', counts: [space.n], start: space.start, labels }]
    }
    case 'multiDiscrete':
      return [{ ...leaf, kind: 'multiDiscrete', shape: [space.nvec.length], counts: space.nvec }]
    case 'text':
      return [{ ...leaf, kind: 'text' }]
    case 'list':
      return [{ ...leaf, kind: 'list', shape: [space.slots, 1 + space.features] }]
  }
}

/** A space in a few words: `box [4]`, `discrete 2`, `dict { camera: box [8, 8], speed: box [1] }`. */
export function describeSpace(space: SpaceDescription): string {
  switch (space.type) {
    case 'box':
      return `box [${space.shape.join(', ')}]`
    case 'discrete':
      return `discrete ${space.n}`
    case 'multiDiscrete':
      return `multiDiscrete [${space.nvec.join(', ')}]`
    case 'text':
      return `text of ${space.maxTokens} tokens${space.encoder === undefined ? '' : `, encoded by ${space.encoder}`}`
    case 'list':
      return `list of up to ${space.slots} items of ${space.features} numbers`
    case 'dict':
      return `dict { ${space.entries.map(({ name, space: inner }) => `${name}: ${describeSpace(inner)}`).join(', ')} }`
  }
}
