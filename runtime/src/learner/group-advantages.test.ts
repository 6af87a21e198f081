import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { policyCases, testRandom } from '../policy/testing/policy-cases.ts'
import { createLearner } from './learner.ts'
import type { RolloutSegment } from './learner-types.ts'
import { cutSegments, grpoUpdate, randomEpisodes } from './testing/grpo-cases.ts'

const { spec } = policyCases()[0]
const learner = createLearner(spec, { seed: 1, device: 'cpu', threads: 1 })

/** Episodes with these rewards, one an environment. */
function episodes(rewards: number[][]): RolloutSegment {
  const segment = randomEpisodes(
    spec,
    rewards.map((list) => list.length),
    testRandom(1),
  )
  rewards.forEach((list, i) => {
    list.forEach((reward, t) => {
      segment.rewards[t * rewards.length + i] = reward
    })
  })
  return segment
}

const advantagesOf = (rewards: number[][], groupSize: number, cut = [rewards.length]) =>
  learner.advantages(cutSegments(episodes(rewards), cut), grpoUpdate({ groupSize }))

describe('advantages of groups', () => {
  test('(R - mean) / (std + 1e-4), the deviation unbiased, one value for every step of an episode', () => {
    // Returns 1, 2, 3, 6: mean 3, squares 4 + 1 + 0 + 9 = 14, deviation √(14 / 3).
    const { advantages, returns, values } = advantagesOf([[1], [0, 2], [4, -1, 0], [6]], 4)
    const deviation = Math.sqrt(14 / 3) + 1e-4
    const expected = [-2, -1, -1, 0, 0, 0, 3].map((difference) => Math.fround(difference / deviation))
    expect([...advantages]).toEqual(expected.map((value) => value + 0))
    expect([...returns]).toEqual([1, 2, 2, 3, 3, 3, 6])
    expect([...values]).toEqual(new Array(7).fill(0))
  })

  test('an episode counts once in its group, however long it is', () => {
    const short = advantagesOf([[0], [1]], 2).advantages
    const long = advantagesOf([[0, 0, 0, 0, 0, 0, 0, 0, 0], [1]], 2).advantages
    expect(long[0]).toBe(short[0])
    expect(long.at(-1)).toBe(short[1])
    expect([...long.slice(0, 9)]).toEqual(new Array(9).fill(short[0]))
  })

  test('groups are compared within themselves', () => {
    const apart = advantagesOf([[0], [1], [100], [101]], 2).advantages
    expect([...apart.slice(2)]).toEqual([...apart.slice(0, 2)])
  })

  test('returns that are equal, or equal but for rounding, have advantages of exactly 0', () => {
    // 0.1 is no float64: the mean of ten of them is not 0.1.
    const equal = new Array(10).fill([0.1])
    expect(advantagesOf(equal, 10).advantages.every((value) => value === 0)).toBe(true)
    const rounded = advantagesOf([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.6000000238418579]], 3).advantages
    expect(rounded.every(Number.isFinite)).toBe(true)
    const mixed = advantagesOf([[1], [1], [0], [1]], 2).advantages
    expect([...mixed.slice(0, 2)]).toEqual([0, 0])
    expect(mixed[3]).toBeGreaterThan(0)
  })

  test('do not depend on how the environments are cut into segments', () => {
    const rewards = fc.array(fc.array(fc.float({ noNaN: true, min: -9, max: 9 }), { minLength: 1, maxLength: 5 }), {
      ...{ minLength: 6, maxLength: 6 },
    })
    const cuts = fc.constantFrom<number[]>([1, 5], [2, 4], [5, 1], [1, 1, 1, 1, 1, 1], [2, 2, 2])
    fc.assert(
      fc.property(rewards, cuts, (rewards, cut) => {
        expect(advantagesOf(rewards, 3, cut)).toEqual(advantagesOf(rewards, 3))
      }),
    )
  })

  test('shift with no constant and add up to nothing', () => {
    const { advantages } = advantagesOf([[5.5], [-3], [2], [7]], 4)
    expect(advantages.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 6)
    expect(advantagesOf([[105.5], [97], [102], [107]], 4).advantages).toEqual(advantages)
  })

  test('what is no rollout of groups is a bug of the caller', () => {
    const rollout = [episodes([[1], [2], [3]])]
    expect(() => learner.advantages(rollout, grpoUpdate({ groupSize: 2 }))).toThrow('whole groups')
    expect(() => learner.advantages(rollout, grpoUpdate({ groupSize: 1 }))).toThrow('whole groups')
    const without = { ...rollout[0], lengths: null }
    expect(() => learner.advantages([without], grpoUpdate({ groupSize: 3 }))).toThrow('no lengths')
    for (const length of [0, -1, 2]) {
      const wrong = { ...rollout[0], lengths: Int32Array.of(1, length, 1) }
      expect(() => learner.advantages([wrong], grpoUpdate({ groupSize: 3 }))).toThrow('longer than its segment')
    }
    const short = { ...rollout[0], lengths: Int32Array.of(1, 1) }
    expect(() => learner.advantages([short], grpoUpdate({ groupSize: 3 }))).toThrow('lengths')
  })
})
