import { z } from 'zod'

const count = z.int().nonnegative()
const share = z.number().min(0).max(1)

/** Reliability is counted in this many bins of equal width. */
export const RELIABILITY_BINS = 10

/**
 * How often choices succeed, by the chance that was predicted for them. Predictions are counted in thousandths, so that the
 * last bits of a machine's arithmetic change nothing.
 */
const reliabilitySchema = z.strictObject({
  /**
   * Expected calibration error: the distance between predicted and actual success in each bin, weighted by the bin's choices
   * (Naeini et al. 2015, Guo et al. 2017).
   */
  ece: share,
  /** Bins with choices in them, in order. */
  bins: z
    .array(
      z.strictObject({
        /** The bin holds predictions from here to `from` + 0.1; the last one 1, too. */
        from: share,
        /** Choices in the bin. */
        choices: z.int().positive(),
        /** Mean of the predictions. */
        predicted: share,
        /** Choices that succeeded. */
        succeeded: count,
      }),
    )
    .max(RELIABILITY_BINS),
})
export type Reliability = z.infer<typeof reliabilitySchema>

/**
 * What an agent's probabilities mean, over the greedy choices of an evaluation. A choice succeeds if the episode in which it was
 * made is solved: the scenario's metric `solved` is 1 at its end.
 */
export const calibrationSchema = z.strictObject({
  /** Choices of all episodes. */
  choices: z.int().positive(),
  /** Those that succeeded. */
  succeeded: count,
  /** Of the policy's own probability of what it chose. */
  probability: reliabilitySchema,
  /** Of the agent's confidence; null for an agent without one. */
  confidence: reliabilitySchema.nullable(),
})
export type Calibration = z.infer<typeof calibrationSchema>

/**
 * Turns the policy's probability p of its choice into the chance that the episode is solved: 1 / (1 + exp(-(slope × logit(p) +
 * intercept))), p at least a millionth from 0 and 1. Fit by maximum likelihood on episodes that neither training nor evaluation plays
 * (Platt 1999).
 */
export const confidenceMapSchema = z.strictObject({
  method: z.literal('platt'),
  /** Not negative: a more probable choice is never less likely to succeed. */
  slope: z.number().nonnegative(),
  intercept: z.number(),
  /** The episodes that it was fit on, and the choices in them. */
  episodes: z.int().positive(),
  choices: z.int().positive(),
  seed: count,
})
export type ConfidenceMap = z.infer<typeof confidenceMapSchema>

/** Probabilities outside are read as the nearest one inside: a float32 knows no difference beyond. */
const probabilityRange = { low: 1e-6, high: 1 - 1e-6 } as const

/** The natural logarithm of the odds of a probability. */
export function logOdds(probability: number): number {
  const { low, high } = probabilityRange
  const inside = Math.min(high, Math.max(low, probability))
  return Math.log(inside / (1 - inside))
}

/** The calibrated chance of success of a choice that had this probability. */
export function confidenceOf(
  { slope, intercept }: Pick<ConfidenceMap, 'slope' | 'intercept'>,
  probability: number,
): number {
  return 1 / (1 + Math.exp(-(slope * logOdds(probability) + intercept)))
}

/** A prediction from 0 to 1, and whether it came true. */
export type Prediction = { predicted: number; succeeded: boolean }

/** Bins predictions and computes the expected calibration error. Needs at least one. */
export function reliabilityOf(predictions: readonly Prediction[]): Reliability {
  const bins = Array.from({ length: RELIABILITY_BINS }, () => ({ choices: 0, thousandths: 0, succeeded: 0 }))
  for (const { predicted, succeeded } of predictions) {
    const thousandths = Math.round(predicted * 1_000)
    const bin = bins[Math.min(RELIABILITY_BINS - 1, Math.floor((thousandths * RELIABILITY_BINS) / 1_000))]
    bin.choices += 1
    bin.thousandths += thousandths
    if (succeeded) bin.succeeded += 1
  }
  // Integers until the end: the order of the predictions changes nothing.
  const distance = bins.reduce((sum, { thousandths, succeeded }) => sum + Math.abs(thousandths - 1_000 * succeeded), 0)
  return {
    ece: distance / (1_000 * predictions.length),
    bins: bins.flatMap(({ choices, thousandths, succeeded }, i) =>
      choices === 0
        ? []
        : [{ from: i / RELIABILITY_BINS, choices, predicted: thousandths / (1_000 * choices), succeeded }],
    ),
  }
}

/** What was predicted most often, and how often that was right. */
export function mostOften({ bins }: Reliability): { predicted: number; right: number } {
  const { predicted, succeeded, choices } = bins.reduce((most, bin) => (bin.choices > most.choices ? bin : most))
  return { predicted, right: succeeded / choices }
}

/** `says 90%, right in 91%`. */
export function reliabilityText(reliability: Reliability): string {
  const { predicted, right } = mostOften(reliability)
  return `says ${chanceText(predicted)}, right in ${chanceText(right)}`
}

/** A chance in percent; no 100% that is not certain. */
export function chanceText(chance: number): string {
  const percent = 100 * chance
  const digits = percent > 99 && percent < 100 ? 1 : 0
  return `${(percent < 100 ? Math.min(percent, 99.9) : percent).toFixed(digits)}%`
}
