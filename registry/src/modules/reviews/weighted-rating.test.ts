import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ratingPrior, type Votes, weightedRating } from './ratings.ts'

const count = fc.nat({ max: 2_000 })
const votes = fc.tuple(count, count, count, count, count)
const someVotes = votes.filter((given) => given.some((number) => number > 0))
const prior = fc.double({ min: 1, max: 5, noNaN: true })
const mean = (given: Votes) => given.reduce((sum, n, i) => sum + n * (i + 1), 0) / given.reduce((sum, n) => sum + n, 0)

describe('a rating', () => {
  it('is null without votes', () => {
    expect(weightedRating([0, 0, 0, 0, 0], 3.5)).toBeNull()
  })

  it('of one vote is near the overall mean, of a thousand near its own', () => {
    expect(weightedRating([0, 0, 0, 0, 1], 3.5)).toBe(3.67)
    expect(weightedRating([1, 0, 0, 0, 0], 3.5)).toBe(3.22)
    expect(weightedRating([0, 0, 0, 0, 1_000], 3.5)).toBe(4.99)
    expect(weightedRating([0, 0, 10, 0, 0], 3.5), 'ten of three stars').toBeLessThan(
      weightedRating([0, 0, 0, 0, 1], 3.5) ?? 0,
    )
  })

  it('is between the overall mean and its own, and a better vote never lowers it', () => {
    fc.assert(
      fc.property(someVotes, prior, fc.nat({ max: 3 }), (given, towards, at) => {
        const rating = weightedRating(given, towards) ?? Number.NaN
        const [low, high] = [mean(given), towards].sort((a, b) => a - b)
        expect(rating).toBeGreaterThanOrEqual(low - 0.005)
        expect(rating).toBeLessThanOrEqual(high + 0.005)
        if (given[at] === 0) return
        const better = given.map((n, i) => n - Number(i === at) + Number(i === at + 1)) as unknown as Votes
        expect(weightedRating(better, towards) ?? Number.NaN).toBeGreaterThanOrEqual(rating)
      }),
    )
  })
})

describe('the mean that ratings start from', () => {
  it('is 3.5 without votes, and their mean with many', () => {
    expect(ratingPrior([])).toBe(3.5)
    expect(ratingPrior([[0, 0, 0, 0, 0]])).toBe(3.5)
    expect(ratingPrior(Array.from({ length: 100 }, () => [0, 0, 0, 10, 0] as const))).toBe(4)
  })

  it('is not dominated by one package, however many votes it has', () => {
    const others = Array.from({ length: 20 }, () => [0, 0, 5, 0, 0] as const)
    expect(ratingPrior([...others, [0, 0, 0, 0, 1_000_000]])).toBeLessThan(3.7)
  })

  it('is between one and five stars, in any order of packages', () => {
    fc.assert(
      fc.property(fc.array(votes, { maxLength: 20 }), (all) => {
        const found = ratingPrior(all)
        expect(found).toBeGreaterThanOrEqual(1)
        expect(found).toBeLessThanOrEqual(5)
        expect(ratingPrior(all.toReversed())).toBeCloseTo(found, 1)
      }),
    )
  })
})
