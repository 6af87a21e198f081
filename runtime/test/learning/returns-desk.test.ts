// @module-tag full
import { fileURLToPath } from 'node:url'
import { loadScenario } from '@agentgym/runtime'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const returnsDesk = () => loadScenario(fileURLToPath(new URL('../../../plugins/returns-desk', import.meta.url)))

describe('the returns desk', { timeout: 600_000 }, () => {
  it.each(isLong ? [1, 2, 3, 4, 5] : [1])('is solved by choosing the arguments of tools, seed %i', async (seed) => {
    const { result } = await trained(await returnsDesk(), { evaluation_episodes: 500, evaluate_every: 0 }, { seed })
    expect(result.evaluation.metrics.solved).toBeGreaterThanOrEqual(0.95)
  })

  if (isLong)
    it('is not solved with default arguments, however well the tools are chosen', async () => {
      const settings = { steps: 60_000, evaluation_episodes: 500, evaluate_every: 0, parameter_selection: false }
      const { result } = await trained(await returnsDesk(), settings, { seed: 1 })
      expect(result.evaluation.metrics.right_tool).toBeGreaterThanOrEqual(0.9)
      expect(result.evaluation.metrics.solved).toBeLessThan(0.15)
    })
})
