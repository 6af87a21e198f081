import { checkPolicySpaces, logSlope, type Squash, sampleActions, squashed } from '@agentgym/agent/engine'
import type { SpaceDescription } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quadrature } from '../learner/testing/reference-loss.ts'
import { buildPolicySpec } from './policy-spec.ts'

const observation: SpaceDescription = { type: 'discrete', n: 1, start: 0 }
const network = { hidden: [], activation: 'tanh', embedding: 1, normalizeObservation: false } as const
const boxOf = (bounds: (number | null)[][]): SpaceDescription => ({
  type: 'box',
  shape: [bounds.length],
  low: bounds.map(([low]) => low),
  high: bounds.map(([, high]) => high),
})
const specOf = (bounds: (number | null)[][], boxActions: 'squashed' | 'clipped' = 'squashed') =>
  buildPolicySpec({ observation, action: boxOf(bounds) }, { ...network, hidden: [], boxActions })

function draw(spec: ReturnType<typeof specOf>, row: number[], logStd: number[], rows: number) {
  const out = {
    actions: new Float32Array(rows * row.length),
    environmentActions: new Float32Array(rows * row.length),
    logProbabilities: new Float32Array(rows),
  }
  const distribution = Float32Array.from({ length: rows * row.length }, (_, i) => row[i % row.length])
  const key = { seed: 3, step: 0, firstEnvironment: 0 }
  sampleActions({ spec, distribution, logStd: Float32Array.from(logStd), masks: null, rows, key }, out)
  return out
}

const squashes: Squash[] = [
  { kind: 'tanh', center: 0, scale: 1 },
  { kind: 'tanh', center: 300, scale: 50 },
  { kind: 'tanh', center: 0, scale: 0.01 },
  { kind: 'exp', center: 3, scale: 1 },
  { kind: 'exp', center: -5, scale: -1 },
  { kind: 'sinh', center: 0, scale: 1 },
]

const gaussian = (u: number, mean: number, deviation: number) =>
  Math.exp(-0.5 * ((u - mean) / deviation) ** 2) / (deviation * Math.sqrt(2 * Math.PI))

/** u and the cells around it, over all that has a probability. */
function cells(mean: number, deviation: number, count = 20_000): { u: number; from: number; to: number }[] {
  const width = (20 * deviation) / count
  return Array.from({ length: count }, (_, i) => {
    const u = mean + (i + 0.5 - count / 2) * width
    return { u, from: u - width / 2, to: u + width / 2 }
  })
}

describe.each(squashes)('$kind from $center with scale $scale', (squash) => {
  test('the density of the action integrates to 1 over the action', () => {
    for (const [mean, deviation] of [
      [0, 1],
      [2.5, 0.2],
      [-1, 1.5],
    ]) {
      const total = cells(mean, deviation).reduce((sum, { u, from, to }) => {
        const density = Math.exp(Math.log(gaussian(u, mean, deviation)) - logSlope(squash, u))
        return sum + density * Math.abs(squashed(squash, to) - squashed(squash, from))
      }, 0)
      expect(total).toBeCloseTo(1, 5)
    }
  })

  test("the learner's seven nodes give the mean of the slope within a hundredth", () => {
    for (const [mean, deviation] of [
      [0, 0.37],
      [0, 1],
      [3, 1],
      [-1, 0.5],
    ]) {
      const exact = cells(mean, deviation).reduce(
        (sum, { u, from, to }) => sum + gaussian(u, mean, deviation) * (to - from) * logSlope(squash, u),
        0,
      )
      const quick = quadrature.reduce(
        (sum, [node, weight]) => sum + weight * logSlope(squash, mean + deviation * node),
        0,
      )
      expect(Math.abs(quick - exact)).toBeLessThan(0.01)
    }
  })
})

test('bounds decide the squash', () => {
  const bounds = [
    [-1, 1],
    [0, 10],
    [3, null],
    [null, -5],
    [null, null],
    [-1e6, 1e6],
    [-3.4e38, 3.4e38],
    [0, 1e30],
    [1e30, 3.4e38],
    [900_000, 910_000],
    [2, 2],
  ]
  const [{ squash, center, scale }] = specOf(bounds).action
  expect(bounds.map((_, i) => [squash?.[i], center[i], scale[i]])).toEqual([
    ['tanh', 0, 1],
    ['tanh', 5, 5],
    ['exp', 3, 1],
    ['exp', -5, -1],
    ['sinh', 0, 1],
    ['tanh', 0, 1e6],
    ['sinh', 0, 1],
    ['exp', 0, 1],
    ['exp', 1e30, 1],
    ['tanh', 905_000, 5000],
    ['sinh', 2, 1],
  ])
})

test('samples stay within the bounds in any units, also where the mean is far beyond them', () => {
  const unit = fc.oneof(fc.constantFrom(1e-6, 0.01, 1, 1e3, 1e7), fc.double({ min: 1e-9, max: 1e9, noNaN: true }))
  const bound = fc.tuple(
    unit,
    fc.double({ min: -3, max: 3, noNaN: true }),
    fc.double({ min: 0.1, max: 5, noNaN: true }),
  )
  const side = fc.constantFrom('both', 'low', 'high', 'none')
  fc.assert(
    fc.property(bound, side, fc.double({ min: -60, max: 60, noNaN: true }), ([size, low, width], sides, mean) => {
      const from = sides === 'both' || sides === 'low' ? Math.fround(size * low) : null
      const to = sides === 'both' || sides === 'high' ? Math.fround(size * (low + width)) : null
      const { environmentActions, logProbabilities } = draw(specOf([[from, to]]), [mean], [0], 50)
      for (const action of environmentActions) {
        expect(Number.isFinite(action)).toBe(true)
        if (from !== null) expect(action).toBeGreaterThanOrEqual(from)
        if (to !== null) expect(action).toBeLessThanOrEqual(to)
      }
      expect(logProbabilities.every(Number.isFinite)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('a sample is the same in other units, and its log-probability differs by theirs', () => {
  const [one, small] = [specOf([[-1, 1]]), specOf([[-0.01, 0.01]])].map((spec) => draw(spec, [0.4], [-1], 500))
  for (let i = 0; i < 500; i++) {
    expect(small.environmentActions[i] / 0.01).toBeCloseTo(one.environmentActions[i], 5)
    expect(small.logProbabilities[i] - one.logProbabilities[i]).toBeCloseTo(Math.log(100), 4)
  }
})

test('an agent of an older version keeps its clipped Gaussian', () => {
  const bounds = [
    [-1, 1],
    [0, null],
  ]
  for (const boxActions of ['clipped', 'squashed'] as const) {
    const spec = specOf(bounds, boxActions)
    expect(spec.action[0].squash).toEqual(boxActions === 'clipped' ? undefined : ['tanh', 'exp'])
    expect(() => checkPolicySpaces(spec, { observation, action: boxOf(bounds) })).not.toThrow()
  }
})
