import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packageQuality, type QualityInput } from './package-quality.ts'

const sandboxed = ['determinism', 'independence', 'replay', 'reward_varies', 'baselines', 'held_out', 'loads']
const best: QualityInput = {
  kind: 'scenario',
  readme: `# Maze\n\n## Rules\n\n## Use\n\n\`\`\`sh\nagentgym train .\n\`\`\`\n\n${'word '.repeat(250)}`,
  summary: 'Find the way out of a maze that changes.',
  keywords: ['maze', 'grid', 'navigation'],
  linked: true,
  checks: [
    ...sandboxed.map((id) => ({ id, ok: true, message: 'as it should be' })),
    { id: 'oracle', ok: true, message: 'meets them', value: 9 },
    { id: 'doctor', ok: true, message: 'nothing odd', value: 0 },
    { id: 'speed', ok: true, message: 'fast' },
  ],
  stepsPerSecond: 1_200_000,
  successCriteria: 1,
  deprecated: false,
  daysSincePublish: 3,
}
const worst: QualityInput = {
  kind: 'scenario',
  readme: '',
  summary: '',
  keywords: [],
  linked: false,
  checks: [],
  stepsPerSecond: null,
  successCriteria: 0,
  deprecated: true,
  daysSincePublish: 10_000,
}

const check = fc.record({
  id: fc.constantFrom(...sandboxed, 'speed', 'other'),
  ok: fc.boolean(),
  message: fc.constantFrom('1.2 M environment steps a second, sandboxed, on one core', 'no figure'),
})
const input: fc.Arbitrary<QualityInput> = fc.record({
  kind: fc.constantFrom('scenario', 'agent'),
  readme: fc.oneof(fc.string(), fc.constant(best.readme)),
  summary: fc.string(),
  keywords: fc.array(fc.string(), { maxLength: 5 }),
  linked: fc.boolean(),
  checks: fc.uniqueArray(check, { selector: ({ id }) => id }),
  stepsPerSecond: fc.option(fc.nat(2_000_000)),
  successCriteria: fc.nat(3),
  deprecated: fc.boolean(),
  daysSincePublish: fc.double({ min: -2, max: 5_000, noNaN: true }),
})

/** Ways to make a package better, or leave it as it is. */
const betterments: ((before: QualityInput) => QualityInput)[] = [
  (before) => ({ ...before, readme: `${before.readme}\n\n${best.readme}` }),
  (before) => ({ ...before, summary: before.summary + best.summary }),
  (before) => ({ ...before, keywords: [...before.keywords, 'more', 'and', 'more'] }),
  (before) => ({ ...before, linked: true }),
  (before) => ({ ...before, checks: before.checks.map((item) => ({ ...item, ok: true })) }),
  (before) => ({ ...before, checks: [...before.checks, { id: 'another', ok: true, message: '' }] }),
  (before) => ({ ...before, stepsPerSecond: 2 * (before.stepsPerSecond ?? 1) }),
  (before) => ({ ...before, successCriteria: before.successCriteria + 1 }),
  (before) => ({ ...before, deprecated: false }),
  (before) => ({ ...before, daysSincePublish: before.daysSincePublish - 100 }),
]

describe('the quality score', () => {
  it('reaches 0 and 100', () => {
    expect(packageQuality(best).score).toBe(100)
    expect(packageQuality({ ...best, kind: 'agent' }).score).toBe(100)
    expect(packageQuality(worst).score).toBe(0)
  })

  it('counts an oracle only where there is one, and the doctor only where it found nothing', () => {
    const changed = (id: string, change: object) =>
      packageQuality({ ...best, checks: best.checks.map((one) => (one.id === id ? { ...one, ...change } : one)) }).score
    expect(changed('oracle', { value: undefined })).toBe(98)
    expect(changed('doctor', { warning: true, value: 2 })).toBe(98)
  })

  it('is an integer from 0 to 100, the sum of parts within limits and with reasons', () => {
    fc.assert(
      fc.property(input, (given) => {
        const { score, parts } = packageQuality(given)
        expect(Number.isInteger(score) && score >= 0 && score <= 100).toBe(true)
        for (const { points, of, why } of parts) {
          expect(Number.isInteger(points) && points >= 0 && points <= of).toBe(true)
          expect(why).not.toBe('')
        }
        if (given.kind === 'scenario') {
          expect(parts.reduce((sum, { of }) => sum + of, 0)).toBe(100)
          expect(parts.reduce((sum, { points }) => sum + points, 0)).toBe(score)
        }
      }),
    )
  })

  it('never falls when something gets better', () => {
    fc.assert(
      fc.property(input, fc.constantFrom(...betterments), (given, improve) => {
        expect(packageQuality(improve(given)).score).toBeGreaterThanOrEqual(packageQuality(given).score)
      }),
    )
  })

  it('names what is missing', () => {
    const { parts } = packageQuality({
      ...best,
      linked: false,
      checks: [{ id: 'loads', ok: false, message: '' }],
      stepsPerSecond: null,
    })
    expect(parts.map(({ id, points, of }) => `${id} ${points}/${of}`)).toEqual([
      'docs 23/25',
      'checks 0/25',
      'determinism 0/15',
      'baselines 4/15',
      'speed 0/10',
      'maintenance 10/10',
    ])
    expect(parts[0].why).toBe('Missing: a repository or home page in package.json (2).')
    expect(parts[1].why).toBe('Failed: loads; 0 of 1 passed.')
  })

  it('uses the measured speed, not the message', () => {
    const speed = (stepsPerSecond: number | null) =>
      packageQuality({ ...best, stepsPerSecond }).parts.find(({ id }) => id === 'speed')
    expect(speed(1_200_000)).toMatchObject({ points: 10, why: '1,200,000 steps a second on one core.' })
    expect(speed(48_123)).toMatchObject({ points: 4 })
    expect(speed(1)).toMatchObject({ points: 1 })
    expect(speed(null)).toMatchObject({ points: 0, why: 'Its speed has not been measured.' })
  })
})
