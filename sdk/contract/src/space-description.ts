import { z } from 'zod'

/**
 * A space as JSON. Observation and action spaces of a scenario are described so; a `dict` is an ordered list, because
 * the order is the layout and JSON objects with numeric keys would lose it.
 */
export type SpaceDescription =
  | { type: 'box'; shape: number[]; low: (number | null)[]; high: (number | null)[] }
  | { type: 'discrete'; n: number; start: number; labels?: string[] }
  | { type: 'multiDiscrete'; nvec: number[] }
  | { type: 'text'; maxTokens: number; vocabulary: number }
  | { type: 'dict'; entries: { name: string; space: SpaceDescription }[] }

const positive = z.int().positive()

export const spaceDescriptionSchema: z.ZodType<SpaceDescription> = z.lazy(() =>
  z.discriminatedUnion('type', [
    /** `low` and `high` have one entry an element; null means unbounded on that side. */
    z.strictObject({
      type: z.literal('box'),
      shape: z.array(positive),
      low: z.array(z.number().nullable()),
      high: z.array(z.number().nullable()),
    }),
    z.strictObject({
      type: z.literal('discrete'),
      n: positive,
      start: z.int(),
      labels: z.array(z.string()).optional(),
    }),
    z.strictObject({ type: z.literal('multiDiscrete'), nvec: z.array(positive).min(1) }),
    /** Text becomes `maxTokens` token ids below `vocabulary`; id 0 is padding. */
    z.strictObject({ type: z.literal('text'), maxTokens: positive, vocabulary: positive }),
    z.strictObject({
      type: z.literal('dict'),
      entries: z.array(z.strictObject({ name: z.string().min(1), space: spaceDescriptionSchema })).min(1),
    }),
  ]),
)
