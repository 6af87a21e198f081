// @module-tag full
import { fileURLToPath } from 'node:url'
import { loadScenario } from '@agentgym/runtime'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

/** Targets are the published ones (RL-Zoo's PPO for the classic tasks), over 100 held-out episodes or more. */
const targets: { name: string; steps: number; reached: Record<string, number> }[] = [
  { name: 'pendulum', steps: 300_000, reached: { return_mean: -200 } },
  {
    name: 'customer-support',
    steps: 2_000_000,
    reached: { tool_reliability: 0.95, cost_reduction: 0.3, time_savings: 0.98 },
  },
]

if (isLong) {
  targets.push(
    { name: 'acrobot', steps: 500_000, reached: { return_mean: -100 } },
    { name: 'grid-maze', steps: 2_000_000, reached: { solved: 0.95 } },
  )
}

describe('built-in scenarios, each with its own settings', () => {
  it.each(targets)(
    '$name reaches its criteria on held-out episodes',
    { timeout: 600_000 },
    async ({ name, steps, reached }) => {
      const scenario = await loadScenario(fileURLToPath(new URL(`../../../plugins/${name}`, import.meta.url)))
      const { result } = await trained(scenario, { evaluation_episodes: 200 }, { seed: 1 })
      expect(result.steps).toBeLessThanOrEqual(steps)
      const measured: Record<string, number | null> = {
        ...result.evaluation.metrics,
        return_mean: result.evaluation.return_mean,
      }
      for (const [metric, target] of Object.entries(reached)) {
        expect(scenario.package.agentgym.success[metric]).toBeGreaterThanOrEqual(target)
        expect(measured[metric]).toBeGreaterThanOrEqual(target)
      }
    },
  )
})
