import { fileURLToPath } from 'node:url'
import { loadScenario } from '@agentgym/runtime'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const folder = fileURLToPath(new URL('../../../plugins/cart-pole', import.meta.url))

describe("cart-pole with its own settings (RL-Zoo's)", () => {
  it.each([1, 2, 3, 4, 5])(
    'reaches a mean return of 475 over 100 held-out episodes within 100,000 steps, seed %i',
    async (seed) => {
      const { result } = await trained(await loadScenario(folder), { evaluation_episodes: 100 }, { seed })
      expect(result.steps).toBeLessThanOrEqual(100_000)
      expect(result.evaluation.episodes).toBe(100)
      expect(result.evaluation.return_mean).toBeGreaterThanOrEqual(475)
      expect(result.evaluation.success.ok).toBe(true)
    },
  )
})
