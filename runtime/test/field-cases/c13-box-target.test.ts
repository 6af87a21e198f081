// @module-tag full
import type { TrainingAlgorithm } from '@agentgym/contract'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, scenarioOf, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

/** The reward is highest inside the box; a mean beyond the bound plays the bound, and no sample says which way back. */
const targetIn = (unit: number) =>
  scenarioOf(`
    observation: box({ shape: [1] }), action: box({ shape: [1], low: ${-unit}, high: ${unit} }), maxSteps: 5,
    reset() { return {} },
    step(state, [action]) { return { reward: -Math.abs(action / ${unit} - 0.6), terminated: false } },
    observe() { return [1] },`)

describe('C13 with a small network, sac', () => {
  const settings = { steps: 4000, hidden: '64,64', minibatch_size: 64, learning_rate: 1e-3 }

  it.each(isLong ? [1, 2] : [1])(
    'finds a target inside a box in any units, seed %i',
    { timeout: 240_000 },
    async (seed) => {
      const returns: (number | null)[] = []
      for (const unit of [1, 1e6]) {
        const { result } = await trained(await targetIn(unit), settings, { algorithm: 'sac', seed })
        expect(result.evaluation.return_mean).toBeGreaterThanOrEqual(-0.25)
        returns.push(result.evaluation.return_mean)
      }
      expect(returns[1]).toBeCloseTo(returns[0] ?? 0, 2)
    },
  )
})

describe.each<TrainingAlgorithm>(['ppo', 'grpo'])('C13 with default settings, %s', (algorithm) => {
  it.each(isLong ? [1, 2, 3, 4, 5] : [1])(
    'finds a target inside a box in any units, seed %i',
    { timeout: 240_000 },
    async (seed) => {
      const returns: (number | null)[] = []
      for (const unit of [1, 0.01, 1e6]) {
        const { result } = await trained(await targetIn(unit), {}, { algorithm, seed })
        expect(result.steps).toBeLessThan(101_000)
        expect(result.evaluation.return_mean).toBeGreaterThanOrEqual(-0.1)
        returns.push(result.evaluation.return_mean)
      }
      for (const other of returns.slice(1)) expect(other).toBeCloseTo(returns[0] ?? 0, 2)
    },
  )
})
