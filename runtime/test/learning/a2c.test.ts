// @module-tag full
import { fileURLToPath } from 'node:url'
import { loadScenario } from '@agentgym/runtime'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const load = (name: string) => loadScenario(fileURLToPath(new URL(`../../../plugins/${name}`, import.meta.url)))

describe("A2C, with the scenario's settings for it", { timeout: 600_000 }, () => {
  it.each(isLong ? [1, 2, 3, 4, 5] : [1])(
    'cart-pole reaches a mean return of 475 over 100 held-out episodes in 500,000 steps, seed %i',
    async (seed) => {
      const { result } = await trained(
        await load('cart-pole'),
        { evaluation_episodes: 100 },
        { algorithm: 'a2c', seed },
      )
      expect(result.evaluation.return_mean).toBeGreaterThanOrEqual(475)
      expect(result.steps).toBeLessThanOrEqual(500_000)
    },
  )
})
