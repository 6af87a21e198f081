import {
  distributionSize,
  gaussianSize,
  greedyActions,
  logSlope,
  sampleActions,
  threefry2x32,
} from '@agentgym/agent/engine'
import type { SpaceDescription } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildPolicySpec, type NetworkSettings } from './policy-spec.ts'
import { testRandom, toolSpaces } from './testing/policy-cases.ts'

const network = { hidden: [], activation: 'tanh', embedding: 1, normalizeObservation: false } as const
const observation: SpaceDescription = { type: 'discrete', n: 1, start: 0 }
const specOf = (action: SpaceDescription) => buildPolicySpec({ observation, action }, { ...network, hidden: [] })
const discrete = (n: number): SpaceDescription => ({ type: 'discrete', n, start: 0 })

type Draw = {
  rows: number
  row: number[]
  mask?: number[]
  logStd?: number[]
  seed?: number
  step?: number
  first?: number
}

/** Samples `rows` rows of one distribution. */
function draw(action: SpaceDescription, { rows, row, mask, logStd = [], seed = 1, step = 0, first = 0 }: Draw) {
  const spec = specOf(action)
  const distribution = Float32Array.from({ length: rows * row.length }, (_, i) => row[i % row.length])
  const masks =
    mask === undefined ? null : Uint8Array.from({ length: rows * mask.length }, (_, i) => mask[i % mask.length])
  const size = spec.action.reduce((sum, leaf) => sum + leaf.size, 0)
  const out = {
    actions: new Float32Array(rows * size),
    environmentActions: new Float32Array(rows * size),
    logProbabilities: new Float32Array(rows),
  }
  const key = { seed, step, firstEnvironment: first }
  sampleActions({ spec, distribution, logStd: Float32Array.from(logStd), masks, rows, key }, out)
  return out
}

test('threefry gives the known answers of Random123', () => {
  const out = new Int32Array(2)
  const answer = (...words: [number, number, number, number]) => {
    threefry2x32(...words, out)
    return Array.from(out, (word) => (word >>> 0).toString(16).padStart(8, '0')).join(' ')
  }
  expect(answer(0, 0, 0, 0)).toBe('6b200159 99ba4efe')
  expect(answer(-1, -1, -1, -1)).toBe('1cb996fc bb002be7')
  expect(answer(0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3)).toBe('c4923a9c 483df7a0')
})

/** Pearson's statistic; with k − 1 degrees of freedom its mean is k − 1 and its deviation √(2(k − 1)). */
function expectFrequencies(choices: ArrayLike<number>, probabilities: number[]): void {
  const counts = probabilities.map(() => 0)
  for (let i = 0; i < choices.length; i++) counts[choices[i]] += 1
  const statistic = probabilities.reduce((sum, p, k) => {
    if (p === 0) expect(counts[k]).toBe(0)
    return p === 0 ? sum : sum + (counts[k] - p * choices.length) ** 2 / (p * choices.length)
  }, 0)
  const freedom = probabilities.filter((p) => p > 0).length - 1
  expect(statistic).toBeLessThan(freedom + 4 * Math.sqrt(2 * freedom))
}

function softmax(logits: number[], mask = logits.map(() => 1)): number[] {
  const weights = logits.map((logit, i) => (mask[i] === 1 ? Math.exp(Math.fround(logit)) : 0))
  const total = weights.reduce((a, b) => a + b)
  return weights.map((weight) => weight / total)
}

const ROWS = 40_000

describe('categorical actions', () => {
  test.each([
    { row: [0.3, -1], seed: 1 },
    { row: [-2, 1.5], seed: 2 },
    { row: [0, 0], seed: 3 },
    { row: [1, 0, -1, 0.5, -3], seed: 4 },
    { row: [1, 0, -1, 0.5, -3], mask: [1, 0, 1, 0, 1], seed: 5 },
    { row: [0.4, -0.9], mask: [1, 1], seed: 6 },
  ])('follow the softmax: $row, mask $mask (seed $seed)', ({ row, mask, seed }) => {
    const { actions, environmentActions, logProbabilities } = draw(discrete(row.length), {
      rows: ROWS,
      row,
      mask,
      seed,
    })
    const probabilities = softmax(row, mask)
    expectFrequencies(actions, probabilities)
    expect(environmentActions).toEqual(actions)
    for (let i = 0; i < 200; i++) expect(logProbabilities[i]).toBeCloseTo(Math.log(probabilities[actions[i]]), 6)
  })

  test('are independent over environments, steps and components', () => {
    const spec: SpaceDescription = { type: 'multiDiscrete', nvec: [2, 2] }
    const pairs = (draw: { actions: Float32Array }, offset: number) =>
      Array.from({ length: ROWS }, (_, i) => draw.actions[i * 2] + 2 * draw.actions[(i * 2 + offset) % (ROWS * 2)])
    const first = draw(spec, { rows: ROWS, row: [0, 0, 0, 0], seed: 7 })
    expectFrequencies(pairs(first, 1), [0.25, 0.25, 0.25, 0.25])
    expectFrequencies(pairs(first, 2), [0.25, 0.25, 0.25, 0.25])
    for (const other of [{ step: 1 }, { step: 2 ** 32 }, { seed: 8 }, { first: ROWS }]) {
      const second = draw(spec, { rows: ROWS, row: [0, 0, 0, 0], seed: 7, ...other })
      const joint = Array.from({ length: ROWS }, (_, i) => first.actions[i * 2] + 2 * second.actions[i * 2])
      expectFrequencies(joint, [0.25, 0.25, 0.25, 0.25])
    }
  })

  test('depend on the global number of the environment, not on the worker', () => {
    const whole = draw(discrete(5), { rows: 100, row: [0, 1, 2, 1, 0], step: 12345 })
    const part = draw(discrete(5), { rows: 40, row: [0, 1, 2, 1, 0], step: 12345, first: 60 })
    expect(part.actions).toEqual(whole.actions.slice(60))
    expect(part.logProbabilities).toEqual(whole.logProbabilities.slice(60))
  })

  test('with one value or one legal value have log-probability 0 exactly', () => {
    expect(draw(discrete(1), { rows: 3, row: [12.5] }).logProbabilities).toEqual(new Float32Array(3))
    const masked = draw(discrete(3), { rows: 3, row: [5, -7.25, 90], mask: [0, 1, 0] })
    expect(masked.actions).toEqual(new Float32Array(3).fill(1))
    expect(masked.logProbabilities).toEqual(new Float32Array(3))
  })

  test('survive logits at the ends of float32', () => {
    for (const row of [
      [3e38, -3e38],
      [0, -Number.MAX_VALUE],
      [-3e38, -3e38, -3e38],
    ]) {
      const { logProbabilities } = draw(discrete(row.length), {
        rows: 50,
        row: row.map(Math.fround).map((x) => Math.max(x, -3e38)),
      })
      expect(logProbabilities.every(Number.isFinite)).toBe(true)
    }
  })

  test('never take an illegal value, sampled or greedy', () => {
    const logit = fc.float({ min: -50, max: 50, noNaN: true })
    const masked = fc
      .array(fc.tuple(logit, fc.boolean()), { minLength: 1, maxLength: 12 })
      .filter((values) => values.some(([, legal]) => legal))
    fc.assert(
      fc.property(masked, fc.nat(), (values, seed) => {
        const row = values.map(([value]) => value)
        const mask = values.map(([, legal]) => (legal ? 1 : 0))
        const { actions, logProbabilities } = draw(discrete(row.length), { rows: 20, row, mask, seed })
        for (const action of actions) expect(mask[action]).toBe(1)
        for (const value of logProbabilities) expect(value).toBeLessThanOrEqual(0)
        const greedy = new Float32Array(1)
        const distribution = Float32Array.from(row)
        greedyActions(
          { spec: specOf(discrete(row.length)), distribution, masks: Uint8Array.from(mask), rows: 1 },
          greedy,
        )
        expect(mask[greedy[0]]).toBe(1)
        expect(distribution[greedy[0]]).toBe(Math.max(...row.filter((_, i) => mask[i] === 1)))
      }),
      { seed: 20261128 },
    )
  })
})

describe('box actions', () => {
  const box: SpaceDescription = { type: 'box', shape: [3], low: [-1, null, 0], high: [1, 2, 10] }
  const row = [0.5, -3, 9]
  const logStd = [-0.5, 0.25, 1]

  test('follow the Gaussian, have its log-probability, and are clipped for the environment only', () => {
    const { actions, environmentActions, logProbabilities } = draw(box, { rows: ROWS, row, logStd, seed: 9 })
    for (let column = 0; column < 3; column++) {
      const deviation = Math.exp(logStd[column])
      const scores = Array.from({ length: ROWS }, (_, i) => (actions[i * 3 + column] - row[column]) / deviation)
      const mean = (power: number) => scores.reduce((sum, score) => sum + score ** power, 0) / ROWS
      // Deviations of the sample moments of a standard normal: √(1/N), √(2/N), √(15/N), √(96/N).
      expect(Math.abs(mean(1))).toBeLessThan(4 * Math.sqrt(1 / ROWS))
      expect(Math.abs(mean(2) - 1)).toBeLessThan(4 * Math.sqrt(2 / ROWS))
      expect(Math.abs(mean(3))).toBeLessThan(4 * Math.sqrt(15 / ROWS))
      expect(Math.abs(mean(4) - 3)).toBeLessThan(4 * Math.sqrt(96 / ROWS))
    }
    const correlation = (a: number, b: number) =>
      Array.from({ length: ROWS }, (_, i) => (actions[i * 3 + a] - row[a]) * (actions[i * 3 + b] - row[b])).reduce(
        (x, y) => x + y,
      ) /
      (ROWS * Math.exp(logStd[a] + logStd[b]))
    for (const [a, b] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ])
      expect(Math.abs(correlation(a, b))).toBeLessThan(4 * Math.sqrt(1 / ROWS))
    for (let i = 0; i < 300; i++) {
      const expected = row.reduce((sum, mean, column) => {
        const score = (actions[i * 3 + column] - mean) / Math.exp(logStd[column])
        return sum - 0.5 * score ** 2 - logStd[column] - 0.5 * Math.log(2 * Math.PI)
      }, 0)
      expect(logProbabilities[i]).toBeCloseTo(expected, 4)
      expect(environmentActions[i * 3]).toBe(Math.min(1, Math.max(-1, actions[i * 3])))
      expect(environmentActions[i * 3 + 1]).toBe(Math.min(2, actions[i * 3 + 1]))
      expect(environmentActions[i * 3 + 2]).toBe(Math.min(10, Math.max(0, actions[i * 3 + 2])))
    }
    expect(actions.some((action, i) => i % 3 === 0 && action > 1)).toBe(true)
  })

  test('have the log-probability of what float32 stored, also far from zero', () => {
    const wide: SpaceDescription = { type: 'box', shape: [1], low: [null], high: [null] }
    const { actions, logProbabilities } = draw(wide, { rows: 100, row: [4096], logStd: [-7] })
    actions.forEach((action, i) => {
      const score = (action - 4096) / Math.exp(-7)
      expect(logProbabilities[i]).toBeCloseTo(-0.5 * score ** 2 + 7 - 0.5 * Math.log(2 * Math.PI), 4)
    })
  })

  test('greedy take the mean, clipped', () => {
    const greedy = new Float32Array(3)
    greedyActions({ spec: specOf(box), distribution: Float32Array.of(-4, 1.5, 11), masks: null, rows: 1 }, greedy)
    expect(Array.from(greedy)).toEqual([-1, 1.5, 10])
  })
})

test('a dict’s log-probability is the sum over its leaves', () => {
  const action: SpaceDescription = {
    type: 'dict',
    entries: [
      { name: 'tool', space: discrete(3) },
      { name: 'amount', space: { type: 'box', shape: [1], low: [null], high: [null] } },
      { name: 'flags', space: { type: 'multiDiscrete', nvec: [2, 2] } },
    ],
  }
  const row = [0.5, -0.5, 1, 7, 0.1, 0.2, -1, 1]
  const mask = [1, 0, 1, 1, 1, 0, 1]
  const { actions, logProbabilities } = draw(action, { rows: 50, row, mask, logStd: [0.5] })
  for (let i = 0; i < 50; i++) {
    const [tool, amount, first, second] = actions.slice(i * 4, i * 4 + 4)
    const parts = [
      Math.log(softmax([0.5, -0.5, 1], [1, 0, 1])[tool]),
      -0.5 * ((amount - 7) / Math.exp(0.5)) ** 2 - 0.5 - 0.5 * Math.log(2 * Math.PI),
      Math.log(softmax([0.1, 0.2])[first]),
      Math.log(softmax([-1, 1], [0, 1])[second]),
    ]
    expect(logProbabilities[i]).toBeCloseTo(
      parts.reduce((a, b) => a + b),
      5,
    )
  }
})

test('greedy takes the lowest index among equals', () => {
  const greedy = new Float32Array(2)
  const distribution = Float32Array.of(1, 2, 2, -1, -1, -1)
  greedyActions({ spec: specOf(discrete(3)), distribution, masks: null, rows: 2 }, greedy)
  expect(Array.from(greedy)).toEqual([1, 0])
})

test('a distribution that is not finite is training_diverged', () => {
  const diverged = expect.objectContaining({ code: 'training_diverged' })
  const box: SpaceDescription = { type: 'box', shape: [1], low: [null], high: [null] }
  for (const [action, row] of [
    [discrete(2), [Number.NaN, 0]],
    [discrete(3), [Number.NaN, 0, 1]],
    [box, [Number.NaN]],
  ] as const) {
    expect(() => draw(action, { rows: 1, row: [...row], logStd: [0] })).toThrowError(diverged)
  }
  const greedy = new Float32Array(1)
  const distribution = Float32Array.of(Number.NaN, Number.NaN)
  expect(() => greedyActions({ spec: specOf(discrete(2)), distribution, masks: null, rows: 1 }, greedy)).toThrowError(
    diverged,
  )
})

describe('tools with parameters', () => {
  const ROW = { tool: 0, order: 1, share: 2, reason: 3, stars: 4 }

  function drawTools(settings: Partial<NetworkSettings>, { seed, masked }: { seed: number; masked: boolean }) {
    const spec = buildPolicySpec(toolSpaces(), { ...network, hidden: [], boxActions: 'squashed', ...settings })
    const random = testRandom(seed)
    const rows = 50
    const distribution = Float32Array.from({ length: rows * distributionSize(spec) }, () => random() * 4 - 2)
    // At least the first choice of each part is legal.
    const firsts = [0, 3, 7]
    const masks = masked
      ? new Uint8Array(rows * 10).map((_, i) => (firsts.includes(i % 10) || random() < 0.5 ? 1 : 0))
      : null
    const floats = (length: number) => new Float32Array(length)
    const out = { actions: floats(rows * 5), environmentActions: floats(rows * 5), logProbabilities: floats(rows) }
    const logStd = Float32Array.from({ length: gaussianSize(spec) }, () => random() - 1)
    const request = { spec, distribution, masks, rows }
    sampleActions({ ...request, logStd, key: { seed, step: 3, firstEnvironment: 0 } }, out)
    return { ...request, out, logStd, action: (row: number) => out.actions.subarray(row * 5, (row + 1) * 5) }
  }

  test('only what the chosen tool has counts: the rest is 0 and has no part in the probability', () => {
    fc.assert(
      fc.property(fc.record({ seed: fc.nat(), masked: fc.boolean() }), (options) => {
        const { spec, distribution, masks, rows, logStd, out, action } = drawTools({}, options)
        for (let row = 0; row < rows; row++) {
          const taken = action(row)
          const size = distributionSize(spec)
          let expected = 0
          for (const leaf of spec.action) {
            if (leaf.when !== undefined && taken[leaf.when.column] !== leaf.when.choice) {
              expect(taken[leaf.offset]).toBe(0)
              continue
            }
            const at = row * size + leaf.distributionOffset
            const value = taken[leaf.offset]
            if (leaf.squash !== undefined) {
              const [deviation, mean] = [Math.exp(logStd[leaf.logStdOffset]), distribution[at]]
              const squash = { kind: leaf.squash[0], center: leaf.center[0], scale: leaf.scale[0] }
              const density = -0.5 * ((value - mean) / deviation) ** 2 - Math.log(deviation * Math.sqrt(2 * Math.PI))
              expected += density - logSlope(squash, value)
              continue
            }
            const legal = Array.from({ length: leaf.counts[0] }, (_, i) => masks?.[row * 10 + leaf.maskOffset + i] ?? 1)
            expect(legal[value]).toBe(1)
            expected += Math.log(softmax(Array.from(distribution.subarray(at, at + leaf.counts[0])), legal)[value])
          }
          expect(out.logProbabilities[row]).toBeCloseTo(expected, 3)
        }
      }),
      { numRuns: 30 },
    )
  })

  test('what is not chosen is its default, or the first legal choice', () => {
    fc.assert(
      fc.property(fc.record({ seed: fc.nat(), masked: fc.boolean() }), (options) => {
        const drawn = drawTools({ parameterSelection: false }, options)
        const greedy = new Float32Array(drawn.rows * 5)
        greedyActions(drawn, greedy)
        for (let row = 0; row < drawn.rows; row++) {
          for (const taken of [drawn.action(row), greedy.subarray(row * 5, (row + 1) * 5)]) {
            const refunds = taken[ROW.tool] === 1
            const legal = (choice: number) => drawn.masks?.[row * 10 + 7 + choice] !== 0
            // The default reason is the second.
            expect(taken[ROW.reason]).toBe(refunds && legal(1) ? 1 : 0)
            expect([taken[ROW.order], taken[ROW.share]]).toEqual(refunds ? [0, 50] : [0, 0])
            expect(taken[ROW.stars]).toBe(taken[ROW.tool] === 2 ? 3 : 0)
          }
        }
      }),
      { numRuns: 30 },
    )
  })
})
