import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  calibrationSchema,
  confidenceOf,
  logOdds,
  type Prediction,
  RELIABILITY_BINS,
  reliabilityOf,
  reliabilityText,
} from './calibration.ts'

const predictions = fc.array(
  fc.record({ predicted: fc.double({ min: 0, max: 1, noNaN: true }), succeeded: fc.boolean() }),
  { minLength: 1, maxLength: 200 },
)
const maps = fc.record({
  slope: fc.double({ min: 0, max: 10, noNaN: true }),
  intercept: fc.double({ min: -10, max: 10, noNaN: true }),
})
const probabilities = fc.double({ min: 0, max: 1, noNaN: true })

describe('reliability', () => {
  it('counts bins and computes the expected calibration error as by hand', () => {
    const made = (predicted: number, ...successes: boolean[]): Prediction[] =>
      successes.map((succeeded) => ({ predicted, succeeded }))
    const reliability = reliabilityOf([
      ...made(0.25, true, false, false, false),
      ...made(0.9, true, true, true, false),
      ...made(1, true, true),
    ])
    // Bin 0.2: 1 of 4 where 1 was expected. Bin 0.9: 5 of 6 where 3.6 + 2 were: 0.6 of 10 choices off.
    expect(reliability.bins).toEqual([
      { from: 0.2, choices: 4, predicted: 0.25, succeeded: 1 },
      { from: 0.9, choices: 6, predicted: 5_600 / 6_000, succeeded: 5 },
    ])
    expect(reliability.ece).toBeCloseTo(0.06, 12)
    expect(reliabilityText(reliability)).toBe('says 93%, right in 83%')
  })

  it('puts an edge into the bin above it, and reads thousandths', () => {
    const fromOf = (predicted: number) => reliabilityOf([{ predicted, succeeded: true }]).bins[0]
    expect([0, 0.0996, 0.1, 0.3, 0.7, 0.9, 0.9999, 1].map((predicted) => fromOf(predicted).from)).toEqual([
      0, 0.1, 0.1, 0.3, 0.7, 0.9, 0.9, 0.9,
    ])
    expect(fromOf(0.123456)).toEqual(fromOf(0.1230000001))
  })

  it('is within bounds, loses no choice, does not depend on the order, and fits the record', () => {
    fc.assert(
      fc.property(predictions, (made) => {
        const reliability = reliabilityOf(made)
        const { ece, bins } = reliability
        expect(ece).toBeGreaterThanOrEqual(0)
        expect(ece).toBeLessThanOrEqual(1)
        expect(bins.length).toBeLessThanOrEqual(RELIABILITY_BINS)
        const succeeded = made.filter((each) => each.succeeded).length
        expect(bins.reduce((sum, bin) => sum + bin.choices, 0)).toBe(made.length)
        expect(bins.reduce((sum, bin) => sum + bin.succeeded, 0)).toBe(succeeded)
        for (const { from, predicted, choices, succeeded } of bins) {
          expect(predicted).toBeGreaterThanOrEqual(from)
          expect(predicted).toBeLessThanOrEqual(from + 1 / RELIABILITY_BINS)
          expect(succeeded).toBeLessThanOrEqual(choices)
        }
        expect(reliabilityOf(made.toReversed())).toEqual(reliability)
        const record = { choices: made.length, succeeded, probability: reliability, confidence: null }
        expect(calibrationSchema.parse(record)).toEqual(record)
      }),
    )
  })

  it('is nearly 0 for predictions that come true as often as they say, and as wrong as they are otherwise', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 0, max: 200 }),
        (chances, shift) => {
          // 200 choices of each chance, of which exactly that share succeeds: no luck is in it.
          const made = chances.flatMap((chance) =>
            Array.from({ length: 200 }, (_, i) => ({ predicted: chance / 200, succeeded: i < chance })),
          )
          expect(reliabilityOf(made).ece).toBe(0)
          const shifted = made.map(({ succeeded }) => ({ predicted: shift / 200, succeeded }))
          const share = chances.reduce((sum, chance) => sum + chance, 0) / chances.length
          expect(reliabilityOf(shifted).ece).toBeCloseTo(Math.abs(shift - share) / 200, 9)
        },
      ),
    )
  })
})

describe('confidence', () => {
  it('is the probability itself where slope is 1 and intercept 0', () => {
    for (const probability of [0.001, 0.25, 0.5, 0.9, 0.999])
      expect(confidenceOf({ slope: 1, intercept: 0 }, probability)).toBeCloseTo(probability, 12)
    expect(logOdds(0.5)).toBe(0)
    expect(logOdds(0.75)).toBeCloseTo(Math.log(3), 12)
  })

  it('grows with the probability, and is a probability', () => {
    fc.assert(
      fc.property(maps, probabilities, probabilities, (map, a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((probability) => confidenceOf(map, probability))
        expect(low).toBeLessThanOrEqual(high)
        for (const confidence of [low, high]) {
          expect(confidence).toBeGreaterThanOrEqual(0)
          expect(confidence).toBeLessThanOrEqual(1)
        }
      }),
    )
  })
})
