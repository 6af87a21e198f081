import { type ProgressEvent, progressEventSchema } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { progressPoint } from '../exports/testing/progress-points.ts'
import { type CurvePoint, packCurve, unpackCurve } from './packed-curve.ts'
import { thinCurve } from './thin-curve.ts'

const number = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e100, max: 1e100 })
const nullable = fc.option(number)
/** Smaller ones are rounded to it. */
const smallest = 1e-128

const changes: fc.Arbitrary<Partial<ProgressEvent>> = fc.record(
  {
    steps_per_second: number.map(Math.abs),
    seconds: fc.double({ noNaN: true, min: 0, max: 1e9 }),
    episodes_total: fc.nat(),
    return_mean: nullable,
    length_mean: nullable,
    metrics: fc.dictionary(fc.oneof(fc.constantFrom('solved', '__proto__', 'a.b', ''), fc.string()), number, {
      maxKeys: 4,
    }),
    text_encoding: fc.record({
      texts: fc.nat(),
      encoded: fc.nat(),
      hit_rate: fc.double({ noNaN: true, min: 0, max: 1 }),
    }),
    learner: fc
      .record({ policy_loss: nullable, entropy: nullable, value_mean: nullable }, { requiredKeys: [] })
      .map((some) => ({ ...progressPoint(1).learner, ...some })),
  },
  { requiredKeys: [] },
)

const curves = fc
  .array(fc.tuple(changes, fc.nat({ max: 3 }), fc.nat({ max: 10_000 })), { maxLength: 40 })
  .map((all) => {
    let [iteration, seq, at] = [0, 0, Date.UTC(2026, 10, 30)]
    return all.map(([change, skipped, laterMs]): CurvePoint => {
      iteration += 1 + skipped
      seq += 1 + 2 * skipped
      at += laterMs
      return { seq, at: new Date(at), data: progressPoint(iteration, change) }
    })
  })

function expectClose(found: unknown, given: unknown, digits: number): void {
  if (typeof given !== 'number') expect(found).toEqual(given)
  else {
    const most = Math.max(Math.abs(given) * 0.6 * 10 ** (1 - digits), smallest)
    expect(Math.abs(Number(found) - given), `${given} became ${found}`).toBeLessThanOrEqual(most)
  }
}

describe('packed curves', () => {
  it('are what they were, rounded', async () => {
    await fc.assert(
      fc.asyncProperty(curves, async (points) => {
        const found = unpackCurve(await packCurve(points))
        expect(found).toHaveLength(points.length)
        for (const [index, { seq, at, data }] of points.entries()) {
          const { data: kept, ...place } = found[index]
          expect(place).toEqual({ seq, at })
          expect(progressEventSchema.safeParse(kept).error).toBeUndefined()
          expect(Math.abs(kept.seconds - data.seconds)).toBeLessThanOrEqual(0.000_6)
          for (const name of ['iteration', 'steps', 'steps_total', 'episodes', 'episodes_total'] as const)
            expect(kept[name]).toBe(data[name])
          for (const name of ['return_mean', 'length_mean'] as const) expectClose(kept[name], data[name], 6)
          expect(Object.keys(kept.metrics).sort()).toEqual(Object.keys(data.metrics).sort())
          for (const [name, value] of Object.entries(data.metrics)) expectClose(kept.metrics[name], value, 6)
          for (const name of ['steps_per_second', 'collect_seconds', 'update_seconds'] as const)
            expectClose(kept[name], data[name], 3)
          expect(Object.keys(kept.learner).sort()).toEqual(Object.keys(data.learner).sort())
          for (const [name, value] of Object.entries(data.learner))
            expectClose(kept.learner[name as keyof ProgressEvent['learner']], value, 3)
          expect(kept.text_encoding === undefined).toBe(data.text_encoding === undefined)
        }
      }),
    )
  })

  it('change no more when they are packed again', async () => {
    await fc.assert(
      fc.asyncProperty(curves, async (points) => {
        const once = unpackCurve(await packCurve(points))
        expect(unpackCurve(await packCurve(once))).toEqual(once)
      }),
      { numRuns: 30 },
    )
  })
})

/** 100,000 runs of so many bytes are less than 2 GB. */
it('1,000 points of noise take 20 KB', async () => {
  let state = 1
  const noise = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const points = Array.from({ length: 1_000 }, (_, index): CurvePoint => {
    const learner = { ...progressPoint(1).learner, learning_rate: 0.0003 * (1 - index / 1_000) }
    for (const name of ['policy_loss', 'value_loss', 'entropy', 'approximate_kl', 'explained_variance'] as const)
      learner[name] = noise() - 0.5
    const data = progressPoint(index + 1, {
      ...{ steps_per_second: 12_000 + noise() * 100, seconds: index * 0.25 + noise() * 0.01 },
      ...{ collect_seconds: 0.1 + noise() / 100, update_seconds: 0.1 + noise() / 100 },
      ...{
        return_mean: Math.round(noise() * 5_000) / 100,
        metrics: { solved: Math.round(noise() * 100) / 100 },
        learner,
      },
    })
    return { seq: index + 2, at: new Date(1.8e12 + Math.floor(index / 8) * 2_000), data }
  })
  expect((await packCurve(points)).length).toBeLessThan(20_000)
})

describe('thinCurve', () => {
  const most = 100
  const returns = fc.option(fc.integer({ min: -1_000, max: 1_000 }), { freq: 8 })
  const cases = fc.record({
    all: fc.array(fc.tuple(returns, fc.integer({ min: 0, max: 9 }), fc.nat({ max: 2 })), { maxLength: 1_500 }),
    evaluated: fc.array(fc.nat({ max: 1_499 }), { maxLength: 30 }),
  })
  const pointsOf = (all: [number | null, number, number][]) => {
    let iteration = 0
    return all.map(([return_mean, solved, skipped]) => {
      iteration += 1 + skipped
      return { data: { iteration, return_mean, metrics: { solved } } }
    })
  }

  it('keeps at most so many points, in order, all of a short curve, and the shape of a long one', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ all, evaluated }) => {
        const points = pointsOf(all)
        const evaluations = [...new Set(evaluated)].filter((at) => at < points.length).sort((a, b) => a - b)
        const iterations = evaluations.map((at) => points[at].data.iteration)
        const last = points.at(-1)?.data.iteration ?? 0
        const kept = await thinCurve(points, { count: points.length, last, evaluations: iterations, most })
        if (points.length <= most) {
          expect(kept).toEqual(points)
          return
        }
        expect(kept.length).toBeLessThanOrEqual(most)
        expect(points.filter((point) => kept.includes(point))).toEqual(kept)
        expect([kept[0], kept.at(-1)]).toEqual([points[0], points.at(-1)])
        const range = (some: typeof points, of: (point: (typeof points)[number]) => number | null) => {
          const values = some.map(of).filter((value) => value !== null)
          return [Math.min(...values), Math.max(...values)]
        }
        expect(range(kept, ({ data }) => data.return_mean)).toEqual(range(points, ({ data }) => data.return_mean))
        expect(range(kept, ({ data }) => data.metrics.solved)).toEqual(range(points, ({ data }) => data.metrics.solved))
        const keptIterations = new Set(kept.map(({ data }) => data.iteration))
        if (iterations.length <= most / 5) for (const at of iterations) expect(keptIterations).toContain(at)
        // No tenth of a curve that has points is left without: there are more parts.
        for (let from = 0; from < last; from += last / 10) {
          const inside = ({ data }: (typeof points)[number]) =>
            data.iteration > from && data.iteration <= from + last / 10
          if (points.filter(inside).length > 0) expect(kept.filter(inside).length).toBeGreaterThan(0)
        }
      }),
    )
  })
})
