// @module-tag full
import { afterAll, describe, expect, it } from 'vitest'
import { failureOf, removeFixtures, scenarioOf, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const definition = (reward: string) => `
  observation: box({ shape: [1] }), action: discrete({ n: 2 }), maxSteps: 10,
  tasks: { train: 4, eval: 4 },
  reset({ task }) { return { step: 0, task } },
  step(state) { state.step += 1; return { reward: ${reward}, terminated: false } },
  observe() { return [0] },`

describe('B14: a reward that failed is a failed run, never a reward of 0', () => {
  it.each([
    ['NaN at step 5', 'state.step === 5 ? NaN : 1', 'reward_not_finite'],
    [
      'one task of four throws',
      '(() => { if (state.task.index === 2) throw new Error("scorer is down"); return 1 })()',
      'scenario_threw',
    ],
    ['undefined', 'undefined', 'reward_not_finite'],
  ])('%s', async (_, reward, code) => {
    const scenario = await scenarioOf(definition(reward))
    const error = await failureOf(trained(scenario, { steps: 400, environments: 4, rollout_steps: 20 }))
    expect(error.code).toBe(code)
    expect(error.data).toMatchObject({ scenario: 'fixture', version: '1.2.3' })
    expect(error.data.environment).toBeTypeOf('number')
    expect(error.data.step).toBeTypeOf('number')
    expect(error.message).toContain('fixture@1.2.3')
  })
})
