import { algorithmSettings, resolveTrainingPlan, trainingAlgorithms } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { settingImportance } from './importance.ts'
import { pairedInterval } from './paired-interval.ts'
import { drawSettings, generator, searchSpaces } from './search-space.ts'
import { drawStudy } from './study-picture.ts'

const draw = fc.record({
  seed: fc.nat(),
  candidate: fc.nat({ max: 1_000 }),
  mostSamples: fc.integer({ min: 1, max: 1e6 }),
})

describe('search spaces', () => {
  it.each(trainingAlgorithms)('of %s hold valid settings only, and the same for the same candidate', (algorithm) => {
    fc.assert(
      fc.property(draw, (of) => {
        const settings = drawSettings(searchSpaces[algorithm], of)
        expect(resolveTrainingPlan({}, { algorithm, settings }).algorithm).toBe(algorithm)
        expect(drawSettings(searchSpaces[algorithm], of)).toEqual(settings)
        const { environments = 1, rollout_steps = 1 } = settings as Record<string, number>
        expect(rollout_steps).toBeLessThanOrEqual(Math.max(1, of.mostSamples / environments))
      }),
    )
    expect(Object.keys(algorithmSettings[algorithm].schema.shape)).toEqual(
      expect.arrayContaining(Object.keys(searchSpaces[algorithm])),
    )
  })

  it('leave fixed settings out, and every other as it was', () => {
    const of = { seed: 3, candidate: 8, mostSamples: 1e6 }
    const { gamma, ...others } = drawSettings(searchSpaces.ppo, of)
    expect(gamma).toBeDefined()
    expect(drawSettings(searchSpaces.ppo, { ...of, fixed: ['gamma'] })).toEqual(others)
  })
})

describe('importance of settings', () => {
  const candidates = (score: (settings: { a: number; b: number; c: boolean }) => number, count = 60) => {
    const random = generator(7)
    return Array.from({ length: count }, () => {
      const settings = { a: random(), b: random(), c: random() < 0.5 }
      return { settings, score: score(settings) }
    })
  }

  it('is near 1 for a setting that decides everything, near 0 for the others', () => {
    const [first, ...others] = settingImportance(candidates(({ a }) => a))
    expect(first.setting).toBe('a')
    expect(first.share).toBeGreaterThan(0.85)
    for (const { share } of others) expect(share).toBeLessThan(0.15)
  })

  it('sees a setting that is best in the middle, and whether a switch is on', () => {
    const found = Object.fromEntries(
      settingImportance(candidates(({ a, c }) => -((a - 0.5) ** 2) + (c ? 0.1 : 0))).map(({ setting, share }) => [
        setting,
        share,
      ]),
    )
    expect(found.a).toBeGreaterThan(0.2)
    expect(found.c).toBeGreaterThan(0.2)
    expect(found.b).toBeLessThan(0.1)
  })

  it('is 0 where nothing differs, and unknown of too few', () => {
    for (const { share } of settingImportance(candidates(() => 500))) expect(share).toBe(0)
    expect(settingImportance(candidates(({ a }) => a, 23))).toEqual([])
  })
})

describe('the interval of paired differences', () => {
  it('is that of Student’s t', () => {
    const { mean, low, high } = pairedInterval([3, 5, 4, 6, 7], [1, 4, 4, 3, 3])
    // R: t.test(c(3,5,4,6,7), c(1,4,4,3,3), paired = TRUE)
    expect([mean, low, high].map((value) => value.toFixed(3))).toEqual(['2.000', '0.037', '3.963'])
  })

  it('is a point where all pairs agree, and unbounded of a single pair', () => {
    expect(pairedInterval([2, 2, 2], [1, 1, 1])).toEqual({ mean: 1, low: 1, high: 1, pairs: 3 })
    expect(pairedInterval([2], [1])).toEqual({ mean: 1, low: -Infinity, high: Infinity, pairs: 1 })
  })
})

it('a study is drawn with its best candidate on top, escaped, and the same each time', () => {
  const study = {
    ...{ title: '<maze>', metric: 'return', best: 1, current: 0 },
    curves: [1, 0, 2].map((candidate) => ({ candidate, points: [{ steps: 10, score: candidate }] })),
    importance: [{ setting: 'gamma', share: 0.42 }],
  }
  const svg = drawStudy(study)
  expect(svg).toBe(drawStudy(study))
  expect(svg.match(/<polyline/g)).toHaveLength(3)
  expect(svg.lastIndexOf('#0072B2" stroke-width="2" stroke-linejoin')).toBeGreaterThan(
    svg.lastIndexOf('#D55E00" stroke-width="2" stroke-linejoin'),
  )
  for (const shown of ['&lt;maze&gt;', 'gamma', '42%', 'current settings']) expect(svg).toContain(shown)
})
