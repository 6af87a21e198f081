import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { interquartileMean, stratifiedBootstrap } from './statistics.ts'

describe('the interquartile mean', () => {
  it.each([
    [[1, 2, 3], 2],
    [[1, 2, 3, 4, 5], 3],
    [[7.5, -2, 3, 3, 100, 4], 4.375],
    [[5, 1, 9, 7, 3, 2, 8, 6, 4, 10, 12, 11], 6.5],
  ])('of %j is that of scipy.stats.trim_mean(…, 0.25)', (scores, expected) => {
    expect(interquartileMean(scores)).toBeCloseTo(expected, 12)
  })

  it('ignores how bad the worst seed of five is', () => {
    const seeds = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 })
    fc.assert(
      fc.property(seeds, fc.double({ min: -1e6, max: -2, noNaN: true }), (others, worst) => {
        expect(interquartileMean([...others, worst])).toBe(interquartileMean([...others, -2]))
      }),
    )
  })
})

describe('the bootstrap', () => {
  it('of one scenario has the quantiles of all resamplings', () => {
    const scores = [0.2, 0.9, 0.4, 0.7]
    const all = scores.flatMap((a) => scores.flatMap((b) => scores.flatMap((c) => scores.map((d) => [a, b, c, d]))))
    const means = all.map(interquartileMean).sort((a, b) => a - b)
    const { low, high } = stratifiedBootstrap([scores])
    expect(low).toBeCloseTo(means[Math.floor(0.025 * means.length)], 1)
    expect(high).toBeCloseTo(means[Math.floor(0.975 * means.length)], 1)
  })

  it('of several is stratified: numbers of numpy and scipy over 100,000 resamplings', () => {
    const strata = [
      [0.91, 0.87, 1, 0.42, 0.95],
      [0.1, 0.35, 0.2, 0.15, 0.9],
      [1.2, 0.7, 1.1, 0.95, 1.05],
    ]
    expect(interquartileMean(strata.flat())).toBeCloseTo(0.783333, 5)
    const { low, high } = stratifiedBootstrap(strata)
    expect(low).toBeCloseTo(0.613333, 1)
    expect(high).toBeCloseTo(0.935556, 1)
  })

  it('has no width where all seeds agree', () => {
    expect(
      stratifiedBootstrap([
        [1, 1, 1],
        [3, 3, 3],
      ]),
    ).toEqual({ low: 2, high: 2 })
  })
})
