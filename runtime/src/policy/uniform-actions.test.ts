import { sampleActions } from '@agentgym/agent/engine'
import type { SpaceDescription } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { buildPolicySpec } from './policy-spec.ts'
import { uniformActions } from './uniform-actions.ts'

const ROWS = 20_000

const specOf = (low: (number | null)[], high: (number | null)[]) => {
  const action: SpaceDescription = { type: 'box', shape: [low.length], low, high }
  return buildPolicySpec(
    { observation: { type: 'discrete', n: 1, start: 0 }, action },
    {
      ...{ hidden: [], activation: 'relu', embedding: 1, normalizeObservation: false },
      ...{ boxActions: 'squashed', head: 'squashed_gaussian' },
    },
  )
}

function outputOf(columns: number, rows: number) {
  return {
    actions: new Float32Array(rows * columns),
    environmentActions: new Float32Array(rows * columns),
    logProbabilities: new Float32Array(rows),
  }
}

function explore(low: (number | null)[], high: (number | null)[], { rows = ROWS, firstEnvironment = 0 } = {}) {
  const out = outputOf(low.length, rows)
  const key = { seed: 3, step: 5, firstEnvironment }
  const none = new Float32Array(0)
  uniformActions({ spec: specOf(low, high), distribution: none, logStd: none, masks: null, rows, key }, out)
  return out
}

const share = (values: Float32Array, column: number, columns: number, inside: (value: number) => boolean) =>
  values.filter((value, i) => i % columns === column && inside(value)).length / (values.length / columns)

describe('uniform actions', () => {
  test('fill a box evenly, in any units, and no sample is infinite', () => {
    const low = [-1, 0, -1e6]
    const high = [1, 10, 1e6]
    const { actions, environmentActions, logProbabilities } = explore(low, high)
    for (let column = 0; column < 3; column++) {
      const width = high[column] - low[column]
      for (const bin of [0, 1, 2, 3]) {
        const [from, to] = [low[column] + (bin / 4) * width, low[column] + ((bin + 1) / 4) * width]
        expect(share(environmentActions, column, 3, (a) => a >= from && a < to)).toBeCloseTo(0.25, 1)
      }
    }
    expect(actions.every(Number.isFinite)).toBe(true)
    for (const logProbability of logProbabilities.slice(0, 9))
      expect(logProbability).toBeCloseTo(-Math.log(2 * 10 * 2e6), 4)
  })

  test('are spread around the bound that there is, and around 0 where there is none', () => {
    const { actions, environmentActions } = explore([null, 3], [null, null])
    expect(share(actions, 0, 2, (u) => Math.abs(u) < 1)).toBeCloseTo(0.683, 1)
    expect(share(environmentActions, 0, 2, (a) => a > 0)).toBeCloseTo(0.5, 1)
    expect(share(environmentActions, 1, 2, (a) => a > 3)).toBe(1)
  })

  test('of an environment are the same whichever worker has it', () => {
    const whole = explore([-1, 0], [1, null], { rows: 8 })
    const part = explore([-1, 0], [1, null], { rows: 3, firstEnvironment: 5 })
    expect(part.actions).toEqual(whole.actions.slice(10))
    expect(part.environmentActions).toEqual(whole.environmentActions.slice(10))
  })
})

test('a squashed Gaussian is sampled with the deviation of each row', () => {
  const spec = specOf([-2], [2])
  const distribution = new Float32Array(2 * ROWS)
  for (let row = 0; row < ROWS; row++) distribution.set([0.5, row % 2 === 0 ? -3 : 0], 2 * row)
  const out = outputOf(1, ROWS)
  const key = { seed: 1, step: 0, firstEnvironment: 0 }
  sampleActions({ spec, distribution, logStd: new Float32Array(0), masks: null, rows: ROWS, key }, out)
  for (const [parity, deviation] of [Math.exp(-3), 1].entries()) {
    const samples = out.actions.filter((_, row) => row % 2 === parity)
    const squares = samples.reduce((sum, u) => sum + (u - 0.5) ** 2, 0)
    expect(Math.sqrt(squares / samples.length) / deviation).toBeCloseTo(1, 1)
    const [u] = samples
    const density = Math.exp(-0.5 * ((u - 0.5) / deviation) ** 2) / (deviation * Math.sqrt(2 * Math.PI))
    const slope = 2 * (1 - Math.tanh(u) ** 2)
    expect(out.logProbabilities[parity]).toBeCloseTo(Math.log(density / slope), 4)
    expect(out.environmentActions[parity]).toBeCloseTo(2 * Math.tanh(u), 5)
  }
})
