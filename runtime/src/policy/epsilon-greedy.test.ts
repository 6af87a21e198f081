import { describe, expect, test } from 'vitest'
import { exploreActions } from './epsilon-greedy.ts'
import { buildPolicySpec } from './policy-spec.ts'

const spec = buildPolicySpec(
  { observation: { type: 'discrete', n: 1, start: 0 }, action: { type: 'discrete', n: 4, start: 0 } },
  { hidden: [], activation: 'relu', embedding: 1, normalizeObservation: false, head: 'q' },
)

function explore(epsilon: number, { rows = 1, mask, seed = 1, step = 0, firstEnvironment = 0 }: Partial<Case> = {}) {
  const repeat = (row: number[]) => Array.from({ length: rows }, () => row).flat()
  const out = {
    actions: new Float32Array(rows),
    environmentActions: new Float32Array(rows),
    logProbabilities: new Float32Array(rows),
  }
  const key = { seed, step, firstEnvironment }
  const distribution = Float32Array.from(repeat([0.5, 3, 2, 3]))
  const masks = mask === undefined ? null : Uint8Array.from(repeat(mask))
  exploreActions({ spec, distribution, logStd: new Float32Array(0), masks, rows, key }, epsilon, out)
  return out
}
type Case = { rows: number; mask: number[]; seed: number; step: number; firstEnvironment: number }

const counts = (actions: Float32Array) => [0, 1, 2, 3].map((a) => actions.filter((action) => action === a).length)

describe('epsilon-greedy actions', () => {
  test('are the best legal ones without exploration, the lowest among equals', () => {
    expect(explore(0).actions[0]).toBe(1)
    expect(explore(0, { mask: [1, 0, 1, 0] }).actions[0]).toBe(2)
    expect(explore(0).logProbabilities[0]).toBe(0)
  })

  test('are uniform over the legal ones with probability epsilon', () => {
    const rows = 40_000
    const near = (found: number, probability: number) =>
      expect(Math.abs(found - probability * rows)).toBeLessThanOrEqual(5 * Math.sqrt(probability * rows))
    const free = counts(explore(0.4, { rows }).actions)
    for (const [action, probability] of [0.1, 0.7, 0.1, 0.1].entries()) near(free[action], probability)
    const masked = explore(0.4, { rows, mask: [1, 0, 1, 0] })
    for (const [action, probability] of [0.2, 0, 0.8, 0].entries()) near(counts(masked.actions)[action], probability)
    expect(Math.exp(masked.logProbabilities[masked.actions.indexOf(0)])).toBeCloseTo(0.2, 6)
    expect(Math.exp(masked.logProbabilities[masked.actions.indexOf(2)])).toBeCloseTo(0.8, 6)
    expect(masked.environmentActions).toEqual(masked.actions)
  })

  test('depend on seed, step and environment, not on the rows that are asked for together', () => {
    const all = explore(1, { rows: 50 }).actions
    expect(explore(1, { rows: 20, firstEnvironment: 30 }).actions).toEqual(all.slice(30))
    expect(explore(1, { rows: 50, step: 1 }).actions).not.toEqual(all)
    expect(explore(1, { rows: 50, seed: 2 }).actions).not.toEqual(all)
  })

  test('fail where no value is a number', () => {
    const out = {
      actions: new Float32Array(1),
      environmentActions: new Float32Array(1),
      logProbabilities: new Float32Array(1),
    }
    const key = { seed: 1, step: 0, firstEnvironment: 0 }
    const distribution = new Float32Array(4).fill(Number.NaN)
    const request = { spec, distribution, logStd: new Float32Array(0), masks: null, rows: 1, key }
    expect(() => exploreActions(request, 0.1, out)).toThrow(expect.objectContaining({ code: 'training_diverged' }))
  })
})
