import { randomOf } from '@agentgym/testkit/random'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  confidenceInterval,
  deviationOf,
  isBetter,
  type Measure,
  meanOf,
  quantileOfNormal,
  quantileOfT,
  significance,
  significanceOfAttempt,
} from './noise.ts'
import { type Attempt, standingsOf } from './standings.ts'

const normal = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

const measureOf = (returns: readonly number[]): Measure => ({
  ...{ mean: meanOf(returns), std: deviationOf(returns), episodes: returns.length, returns },
})
const attemptOf = (index: number, measure: Measure, more: Partial<Attempt> = {}): Attempt => ({
  ...{ packageId: 'p', versionId: `v${index}`, season: 1, attempt: index + 1, measure },
  ...more,
})
/** Versions are named v0, v1, … in the order of their publishing. */
const order = (versionId: string) => Number(versionId.slice(1))
const lastOf = (attempts: readonly Attempt[]) => {
  const standing = standingsOf(attempts, order).get(attempts[attempts.length - 1].versionId)
  if (standing === undefined) throw new Error('the last version has no standing')
  return standing
}
/** The former leaderboard rule: the best mean of any version. */
const formerScoreOf = (attempts: readonly Attempt[]) => Math.max(...attempts.map(({ measure }) => measure.mean))

const episodes = 100

/** A season: how hard each of its episodes is. An agent's return adds its skill and its own luck. */
function seasonOf(random: () => number) {
  const difficulty = Array.from({ length: episodes }, () => normal(random))
  return (skill: number) => measureOf(difficulty.map((hard) => skill + hard + normal(random)))
}

describe('significance', () => {
  it.each([
    [0.975, 1.959963985],
    [0.5, 0],
    [0.0001, -3.719016485],
    [1 - 1e-7, 5.199337582],
  ])('the normal quantile of %s is %s', (p, z) => {
    expect(quantileOfNormal(p)).toBeCloseTo(z, 6)
  })

  it.each([
    [0.975, 99, 1.984217],
    [0.975, 9, 2.262157],
    [0.9995, 99, 3.391529],
    [0.999999, 99, 5.049],
  ])('Student’s quantile of %s with %s degrees of freedom is %s', (p, freedom, t) => {
    expect(quantileOfT(p, freedom)).toBeCloseTo(t, 2)
  })

  it('the error rates of all attempts sum to that of one', () => {
    const shares = Array.from({ length: 10_000 }, (_, index) => significanceOfAttempt(index + 1))
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThan(significance)
  })

  it('results without episodes are compared by means and deviations, or not at all', () => {
    const of = (mean: number, std: number | null): Measure => ({ mean, std, episodes, returns: null })
    expect(isBetter(of(1, 1), of(0, 1), 0.001)).toBe(true)
    expect(isBetter(of(0.1, 1), of(0, 1), 0.05)).toBe(false)
    expect(isBetter(of(100, null), of(0, 1), 0.05)).toBe(false)
    expect(confidenceInterval(of(1, null))).toBeNull()
    expect(isBetter(measureOf([1]), measureOf([0]), 0.05), 'one episode proves nothing').toBe(false)
  })
})

describe('a leaderboard’s entry', () => {
  const random = randomOf(1)
  const play = seasonOf(random)
  const base = play(0)
  const shifted = (by: number): Measure =>
    measureOf((base.returns ?? []).map((value, i) => value + by + (i % 2) * 1e-3))

  it('starts with the first result and its interval', () => {
    const { score, low, high } = lastOf([attemptOf(0, base)])
    expect(score).toBe(base.mean)
    expect(high).toBeCloseTo(base.mean + (1.984217 * (base.std ?? 0)) / 10, 4)
    expect(low).toBeCloseTo(2 * base.mean - (high ?? 0), 9)
  })

  it('rises and falls with significant differences', () => {
    expect(lastOf([attemptOf(0, base), attemptOf(1, shifted(0.1))]).score).toBeCloseTo(base.mean + 0.1005, 9)
    expect(lastOf([attemptOf(0, base), attemptOf(1, shifted(-0.1))]).score).toBeCloseTo(base.mean - 0.0995, 9)
  })

  it('stays unchanged within noise, and names the latest version', () => {
    expect(lastOf([attemptOf(0, base), attemptOf(1, play(0)), attemptOf(2, play(0))])).toMatchObject({
      versionId: 'v2',
      score: base.mean,
    })
  })

  it('restarts with the first result of a season, and ignores late results of earlier ones', () => {
    const next = seasonOf(random)(0)
    const attempts = [attemptOf(0, base), attemptOf(0, next, { season: 2 })]
    expect(lastOf(attempts)).toMatchObject({ season: 2, score: next.mean })
    const late = standingsOf([...attempts, attemptOf(1, shifted(5))], order)
    expect([late.get('v0')?.score, late.get('v1')]).toEqual([next.mean, undefined])
  })

  it('ignores a re-verified older version', () => {
    const attempts = [attemptOf(0, base), attemptOf(1, shifted(1)), attemptOf(0, base)]
    expect(standingsOf(attempts, order).get('v1')?.score).toBeGreaterThan(base.mean + 0.9)
  })

  it('of another package of the account does not exceed the account’s best within noise', () => {
    const lucky = measureOf((play(0).returns ?? []).map((value) => value + 0.05))
    const other = attemptOf(1, lucky, { packageId: 'q' })
    expect(lastOf([attemptOf(0, base), other]).score).toBe(Math.min(base.mean, lucky.mean))
    expect(lastOf([attemptOf(0, base), { ...other, measure: shifted(1) }]).score).toBeGreaterThan(base.mean + 0.9)
  })

  it('never exceeds the first result without a significant improvement', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.array(fc.integer({ min: -2, max: 1 }), { minLength: 1, maxLength: 12 }),
        (seed, steps) => {
          const rng = randomOf(seed)
          const plays = seasonOf(rng)
          const attempts = steps.map((step, index) => attemptOf(index, plays(step / 4), { packageId: `p${index % 3}` }))
          const standings = standingsOf(attempts, order)
          for (const [index, { versionId }] of attempts.entries()) {
            const { score } = standings.get(versionId) ?? { score: Number.NaN }
            const before = attempts.slice(0, index)
            const reached = Math.max(...before.map((earlier) => standings.get(earlier.versionId)?.score ?? -Infinity))
            if (index === 0 || score <= reached) continue
            const { measure, attempt } = attempts[index]
            expect(score).toBe(measure.mean)
            const best = before.find((earlier) => earlier.measure.mean === reached)
            expect(best === undefined || isBetter(measure, best.measure, significanceOfAttempt(attempt))).toBe(true)
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('an account that publishes 200 versions of one agent', () => {
  const versions = 200
  const trials = 60

  /** How far each rule lets the score rise above the agent's true mean of the season, in standard errors of a score. */
  function attack(publish: (index: number, score: () => number) => { packageId: string; bad: boolean }) {
    const gains = { former: [] as number[], now: [] as number[], first: [] as number[] }
    for (let trial = 0; trial < trials; trial++) {
      const random = randomOf(1_000 + trial)
      const difficulty = Array.from({ length: episodes }, () => normal(random))
      const truth = meanOf(difficulty)
      const attempts: Attempt[] = []
      for (let index = 0; index < versions; index++) {
        const { packageId, bad } = publish(index, () => lastOf(attempts).score)
        const measure = measureOf(difficulty.map((hard) => (bad ? -3 : 0) + hard + normal(random)))
        attempts.push(attemptOf(index, measure, { packageId }))
      }
      const error = 1 / Math.sqrt(episodes)
      const scores = [...standingsOf(attempts, order).values()].map(({ score }) => score)
      gains.former.push((formerScoreOf(attempts) - truth) / error)
      gains.now.push((Math.max(...scores) - truth) / error)
      gains.first.push((attempts[0].measure.mean - truth) / error)
    }
    return gains
  }

  it.each<[string, Parameters<typeof attack>[0]]>([
    ['that differ by noise', () => ({ packageId: 'p', bad: false })],
    ['in as many packages', (index) => ({ packageId: `p${index}`, bad: false })],
    ['with bad ones between, to lower the bar', (index) => ({ packageId: 'p', bad: index % 2 === 1 })],
    [
      'adaptively: bad ones while the score is below what it had',
      (() => {
        let highest = Number.NEGATIVE_INFINITY
        return (index: number, score: () => number) => {
          if (index % 10 !== 0) return { packageId: 'p', bad: false }
          highest = index === 0 ? Number.NEGATIVE_INFINITY : Math.max(highest, score())
          return { packageId: 'p', bad: index > 0 && score() < highest }
        }
      })(),
    ],
  ])('%s gains nothing beyond the bound', (_, publish) => {
    const { former, now, first } = attack(publish)
    // The rule before: the maximum of that many draws, about 2.5 standard errors above the truth.
    expect(meanOf(former)).toBeGreaterThan(2)
    // Now: the first result; a higher one only with a chance of `significance`, over all attempts.
    expect(meanOf(now)).toBeLessThan(0.5)
    const risen = now.filter((gain, trial) => gain > first[trial] + 1e-9).length
    expect(risen).toBeLessThanOrEqual(Math.ceil(3 * significance * trials))
  })
})
