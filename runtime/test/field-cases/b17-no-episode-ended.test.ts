// @module-tag full
import { trainingEventSchema } from '@agentgym/contract'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, scenarioOf, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

describe('B17: an iteration in which no episode ended', () => {
  it('reports null, valid JSON, and goes on', async () => {
    const scenario = await scenarioOf(`
      observation: box({ shape: [1] }), action: discrete({ n: 2 }), maxSteps: 10000,
      reset() { return {} },
      step() { return { reward: 1, terminated: false } },
      observe() { return [0] },`)
    const run = await trained(scenario, { steps: 384, environments: 1, rollout_steps: 128, evaluation_episodes: 1 })
    expect(run.progress).toHaveLength(3)
    for (const event of run.progress) {
      expect(event).toMatchObject({ episodes: 0, episodes_total: 0, return_mean: null, length_mean: null })
      expect(trainingEventSchema.parse(JSON.parse(JSON.stringify(event)))).toEqual(event)
    }
    expect(run.result.evaluation).toMatchObject({ return_mean: 10000, episodes: 1 })
  })
})
