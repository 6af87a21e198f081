import { confidenceOf, logOdds } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ChoosingEpisode, choosingEpisodes, fitConfidence, measureCalibration } from './calibration.ts'
import type { EpisodeOutcome } from './play-episodes.ts'

const outcome = (metrics: Record<string, number>, chosen?: number[]): EpisodeOutcome => ({
  ...{ return: 0, length: chosen?.length ?? 1, metrics, digest: new Uint8Array(32) },
  ...(chosen === undefined ? {} : { chosen: Float64Array.from(chosen) }),
})

const episode = (probability: number, solved: boolean): ChoosingEpisode => ({
  chosen: Float64Array.of(probability),
  solved,
})

/** Episodes of one choice each, of which exactly the share that `chanceOf` gives is solved. */
function episodesOf(chanceOf: (probability: number) => number, each = 1_000): ChoosingEpisode[] {
  return [0.2, 0.4, 0.6, 0.8, 0.95].flatMap((probability) =>
    Array.from({ length: each }, (_, i) => episode(probability, i < Math.round(each * chanceOf(probability)))),
  )
}

describe('choosingEpisodes', () => {
  it('reads the success of every choice from the metric solved of its episode', () => {
    const episodes = choosingEpisodes([outcome({ solved: 1 }, [0.75, 0.5]), outcome({ solved: 0 }, [0.75])])
    expect(episodes?.map(({ solved }) => solved)).toEqual([true, false])
    expect(measureCalibration(episodes ?? [], null)).toEqual({
      ...{ choices: 3, succeeded: 2, confidence: null },
      probability: {
        ece: (Math.abs(2 * 0.75 - 1) + 0.5) / 3,
        bins: [
          { from: 0.5, choices: 1, predicted: 0.5, succeeded: 1 },
          { from: 0.7, choices: 2, predicted: 0.75, succeeded: 1 },
        ],
      },
    })
  })

  it('has nothing to measure without solved, or without probabilities', () => {
    expect(choosingEpisodes([outcome({}, [0.5])])).toBeNull()
    expect(choosingEpisodes([outcome({ solved: 1 })])).toBeNull()
    expect(choosingEpisodes([outcome({ solved: 1 }, [0.5]), outcome({}, [0.5])])).toBeNull()
    expect(choosingEpisodes([])).toBeNull()
  })
})

describe('fitConfidence', () => {
  it('finds the map by which the episodes were made', () => {
    const truth = { slope: 0.5, intercept: -0.7 }
    const { slope, intercept, ...rest } = fitConfidence(
      episodesOf((probability) => confidenceOf(truth, probability), 100_000),
      7,
    )
    expect(slope).toBeCloseTo(truth.slope, 2)
    expect(intercept).toBeCloseTo(truth.intercept, 2)
    expect(rest).toEqual({ method: 'platt', episodes: 500_000, choices: 500_000, seed: 7 })
  })

  it('leaves a calibrated policy as it is, and mends one that is too sure', () => {
    const honest = fitConfidence(
      episodesOf((probability) => probability),
      0,
    )
    expect([honest.slope, honest.intercept]).toEqual([expect.closeTo(1, 1), expect.closeTo(0, 1)])
    const boastful = episodesOf((probability) => 0.3 + 0.3 * probability)
    const { probability, confidence } = measureCalibration(boastful, fitConfidence(boastful, 0))
    expect(probability.ece).toBeGreaterThan(0.15)
    expect(confidence?.ece).toBeLessThan(0.02)
  })

  it('counts how sure it can be by the episodes, where all end alike', () => {
    const chosen = Float64Array.of(0.9, 0.99, 0.999)
    const all = Array.from({ length: 98 }, () => ({ chosen, solved: true }))
    const map = fitConfidence(all, 0)
    // Laplace's rule of succession: 99 of 100.
    for (const probability of chosen) expect(confidenceOf(map, probability)).toBeCloseTo(0.99, 3)
    const none = fitConfidence(
      all.map((each) => ({ ...each, solved: false })),
      0,
    )
    for (const probability of chosen) expect(confidenceOf(none, probability)).toBeCloseTo(0.01, 3)
  })

  it('never makes the more probable choice the less likely to succeed', () => {
    const map = fitConfidence(
      episodesOf((probability) => 1 - probability),
      0,
    )
    expect(map.slope).toBe(0)
    expect(confidenceOf(map, 0.2)).toBeCloseTo(0.41, 2)
    expect(fitConfidence([episode(0.5, true), episode(0.5, false)], 0)).toMatchObject({ slope: 0, intercept: 0 })
  })

  it('is finite, and the likeliest: no other map near it explains the episodes better', () => {
    const arbitrary = fc.array(
      fc.record({
        chosen: fc
          .array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 5 })
          .map((list) => Float64Array.from(list)),
        solved: fc.boolean(),
      }),
      { minLength: 2, maxLength: 60 },
    )
    fc.assert(
      fc.property(arbitrary, (episodes) => {
        const map = fitConfidence(episodes, 0)
        expect(Number.isFinite(map.slope) && Number.isFinite(map.intercept)).toBe(true)
        expect(map.slope).toBeGreaterThanOrEqual(0)
        const least = lossOf(episodes, map.slope, map.intercept)
        for (const [a, b] of [
          [0.01, 0],
          [-0.01, 0],
          [0, 0.01],
          [0, -0.01],
        ]) {
          if (map.slope + a < 0) continue
          expect(lossOf(episodes, map.slope + a, map.intercept + b)).toBeGreaterThanOrEqual(least - 1e-6)
        }
      }),
    )
  })
})

/** Cross-entropy with Platt's targets, written out. */
function lossOf(episodes: ChoosingEpisode[], slope: number, intercept: number): number {
  const solved = episodes.filter((each) => each.solved).length
  const [yes, no] = [(solved + 1) / (solved + 2), 1 / (episodes.length - solved + 2)]
  return episodes.reduce((sum, { chosen, solved }) => {
    const target = solved ? yes : no
    const losses = Array.from(chosen, (probability) => {
      const z = slope * logOdds(probability) + intercept
      return target * Math.log1p(Math.exp(-z)) + (1 - target) * Math.log1p(Math.exp(z))
    })
    return sum + losses.reduce((a, b) => a + b, 0)
  }, 0)
}
