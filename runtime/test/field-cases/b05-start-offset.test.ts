// @module-tag full
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, scenarioOf, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const definition = (n: number, start: number) => `
  observation: box({ shape: [1] }), action: discrete({ n: ${n}, start: ${start} }), maxSteps: 5,
  reset() { return { low: 99, high: -99 } },
  step(state, action) {
    state.low = Math.min(state.low, action); state.high = Math.max(state.high, action)
    if (!Number.isInteger(action) || action < ${start} || action > ${start + n - 1}) throw new Error('illegal action ' + action)
    return { reward: 1, terminated: false }
  },
  observe() { return [0] },
  metrics(state) { return { low: state.low, high: state.high } },`

describe('B05: the start offset of a discrete action', () => {
  it('lets a one-action space see only its action, with finite losses and no entropy', async () => {
    const run = await trained(await scenarioOf(definition(1, 2)), {
      steps: 100,
      environments: 2,
      rollout_steps: 10,
      minibatch_size: 10,
    })
    const last = run.progress.at(-1)
    expect(last?.metrics).toEqual({ low: 2, high: 2 })
    expect(last?.learner.entropy).toBe(0)
    expect(last?.learner.policy_loss).toBeTypeOf('number')
    expect(run.result.evaluation.metrics).toEqual({ low: 2, high: 2 })
  })

  it('lets a space that starts below zero see exactly its actions', async () => {
    const run = await trained(await scenarioOf(definition(3, -1)), {
      steps: 100,
      environments: 2,
      rollout_steps: 10,
      minibatch_size: 10,
    })
    expect(run.progress.at(-1)?.metrics.low).toBeLessThan(0)
    expect(run.progress.at(-1)?.metrics.high).toBeGreaterThan(0)
    expect(run.result.evaluation.metrics.low).toBeGreaterThanOrEqual(-1)
  })
})
