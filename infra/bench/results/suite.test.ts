import { describe, expect, it } from 'vitest'
import { experimentsOf, readSuite } from './suite.ts'

const success = { tool_reliability: 0.9, solved: 0.95 }

describe('the suite of results', () => {
  it('has every folder of plugins/ with nothing set, and no experiment twice', async () => {
    const suite = await readSuite()
    const ids = suite.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toContain('customer-support')
    for (const { scenario, steps } of suite) {
      expect(ids).toContain(scenario)
      expect(steps).toBeGreaterThan(0)
    }
  })

  it('takes steps, metric and target from package.json, and what is stated before that', () => {
    const training = { steps: 50_000, gamma: 1 }
    const plain = { scenario: 'desk', metric: 'solved', target: 0.95 }
    expect(experimentsOf('desk', { success, training })).toEqual([
      { ...plain, id: 'desk', steps: 50_000 },
      { ...plain, id: 'desk-tuned', steps: 50_000, tuned: true },
    ])
    const untuned = experimentsOf('desk', { success, training: { steps: 50_000 } })
    expect(untuned.map(({ id }) => id)).toEqual(['desk'])
    const stated = { steps: 9, compared: [{ id: 'desk-wide', set: { hidden: '512' } }] }
    expect(experimentsOf('desk', { success: { return_mean: 1 }, training: {} }, stated)).toEqual([
      { id: 'desk', scenario: 'desk', steps: 9, metric: 'return_mean', target: 1 },
      { id: 'desk-wide', scenario: 'desk', steps: 9, metric: 'return_mean', target: 1, set: { hidden: '512' } },
    ])
  })
})
