import { z } from 'zod'

const count = z.int().nonnegative()
const finite = z.number()

/** Low and high end of a 95% interval. */
const intervalSchema = z.tuple([finite, finite])

/** One player of the episodes, and what a decision of it takes. */
const comparedPlayerSchema = z.strictObject({
  player: z.enum(['agent', 'random', 'rules', 'language_model']),
  decisions: count,
  /** Median, in milliseconds. */
  decision_ms: finite.nonnegative(),
  return_mean: finite,
  return_interval: intervalSchema,
  /** Share of the episodes that were solved; absent where the scenario does not report `solved`. */
  solved: z.strictObject({ share: finite.min(0).max(1), interval: intervalSchema }).optional(),
  /** Whether it meets every success criterion; null without criteria. */
  success: z.boolean().nullable(),
})

/**
 * An agent beside what its user would run otherwise, as its publisher measured it: a language model without training, and the time
 * of a decision. Neither repeats bit for bit on another machine, so no worker verifies it.
 */
export const comparisonSchema = z.strictObject({
  /** The first held-out episodes that an evaluation with this seed plays: all players play them. */
  episodes: z.int().positive(),
  seed: count,
  /** One core of which decided, for every player. */
  processor: z.string().min(1).max(120),
  /** What a core costs for an hour, in US dollars. */
  core_price: finite.nonnegative().max(10_000),
  language_model: z.strictObject({
    name: z.string().min(1).max(80),
    /** Of its file. */
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    /** What ran it, with its version. */
    engine: z.string().min(1).max(80),
    /** Tokens that it read for a decision; those that it had read for the one before are not counted again. */
    tokens_per_decision: finite.nonnegative(),
  }),
  players: z.array(comparedPlayerSchema).min(2).max(4),
})
export type Comparison = z.infer<typeof comparisonSchema>
