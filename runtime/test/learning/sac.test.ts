// @module-tag full
import { fileURLToPath } from 'node:url'
import { loadScenario } from '@agentgym/runtime'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

describe("SAC, with the scenario's settings for it", { timeout: 600_000 }, () => {
  it('pendulum reaches a mean return of -200 over 100 held-out episodes within 20,000 steps', async () => {
    const scenario = await loadScenario(fileURLToPath(new URL('../../../plugins/pendulum', import.meta.url)))
    for (const seed of isLong ? [1, 2, 3, 4, 5] : [1]) {
      const { result } = await trained(scenario, { evaluation_episodes: 100 }, { algorithm: 'sac', seed })
      expect(result.steps).toBeLessThanOrEqual(20_000)
      expect(result.evaluation.return_mean, `seed ${seed}`).toBeGreaterThanOrEqual(-200)
    }
  })
})
