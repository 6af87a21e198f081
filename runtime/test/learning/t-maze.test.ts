// @module-tag full
import { fileURLToPath } from 'node:url'
import { loadScenario } from '@agentgym/runtime'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const tMaze = () => loadScenario(fileURLToPath(new URL('../../../plugins/t-maze', import.meta.url)))

describe('a T-maze of length 20', { timeout: 900_000 }, () => {
  it.each(isLong ? [1, 2, 3, 4, 5] : [1])(
    "is solved with memory, by the scenario's settings, seed %i",
    async (seed) => {
      const { result } = await trained(await tMaze(), { evaluation_episodes: 200 }, { seed })
      expect(result).toMatchObject({ memory: true, evaluation: { success: { ok: true } } })
      expect(result.evaluation.metrics.solved).toBeGreaterThanOrEqual(0.95)
    },
  )

  it('stays at chance without', async () => {
    const settings = { evaluation_episodes: 1000, evaluate_every: 0, memory: 'none' }
    const { result } = await trained(await tMaze(), settings, { seed: 1 })
    expect(result.memory).toBe(false)
    // 0.5 within four standard errors of 1,000 episodes.
    expect(Math.abs(result.evaluation.metrics.solved - 0.5)).toBeLessThan(0.064)
  })
})
