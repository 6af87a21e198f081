import type { Run } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { rankCorrelation, sweptSettings, type Trial } from './sweep-statistics.ts'

const trial = (score: number, values: Record<string, unknown>): Trial => ({ run: {} as Run, score, values })

describe('settings of a sweep', () => {
  it('are those that differ, the most important first, with scale and direction', () => {
    const trials = [
      trial(1, { rate: 0.1, hidden: [64], same: 1, epochs: 4 }),
      trial(2, { rate: 0.01, hidden: [64], same: 1, epochs: 5 }),
      trial(9, { rate: 0.001, hidden: [128], same: 1, epochs: 4 }),
    ]
    const found = sweptSettings(trials)
    expect(found.map(({ name, kind, scale, direction }) => [name, kind, scale, direction])).toEqual([
      ['rate', 'number', 'log', 'lower'],
      ['hidden', 'category', 'linear', null],
      ['epochs', 'number', 'linear', null],
    ])
    expect(found.map(({ importance }) => Math.round(100 * importance))).toEqual([100, 99, 0])
    expect(found[0].values).toEqual([0.001, 0.01, 0.1])
  })

  it('with null among numbers are categories', () => {
    const [gamma] = sweptSettings([trial(1, { gamma: null }), trial(2, { gamma: 0.9 }), trial(3, {})])
    expect(gamma).toMatchObject({ kind: 'category', values: [0.9, null] })
  })

  it('of equal scores have no importance', () => {
    for (const setting of sweptSettings([trial(1, { a: 1, b: 'x' }), trial(1, { a: 2, b: 'y' })]))
      expect(setting.importance).toBe(0)
    expect(sweptSettings([])).toEqual([])
  })
})

it('equal values share their rank', () => {
  expect(rankCorrelation([1, 1, 2], [5, 5, 7])).toBeCloseTo(1)
  expect(rankCorrelation([1, 2, 3], [3, 2, 1])).toBeCloseTo(-1)
  expect(rankCorrelation([1, 1, 1], [1, 2, 3])).toBe(0)
})
