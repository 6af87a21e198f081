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

const settings = {
  ppo: { steps: 100, environments: 2, rollout_steps: 10, minibatch_size: 10 },
  a2c: { steps: 100, environments: 2, rollout_steps: 10 },
  dqn: { steps: 100, environments: 2, rollout_steps: 10, learning_starts: 20 },
}
const algorithms = Object.keys(settings) as (keyof typeof settings)[]

describe.each(algorithms)('B05: the start offset of a discrete action, %s', (algorithm) => {
  const run = async (n: number, start: number) =>
    trained(await scenarioOf(definition(n, start)), settings[algorithm], { algorithm })

  it('lets a one-action space see only its action, with finite losses and no entropy', async () => {
    const { progress, result } = await run(1, 2)
    const last = progress.at(-1)
    expect(last?.metrics).toEqual({ low: 2, high: 2 })
    const { entropy, policy_loss, value_loss } = last?.learner ?? {}
    expect(entropy ?? 0).toBe(0)
    expect(policy_loss ?? value_loss).toBeTypeOf('number')
    expect(result.evaluation.metrics).toEqual({ low: 2, high: 2 })
  })

  it('lets a space that starts below zero see exactly its actions', async () => {
    const { progress, result } = await run(3, -1)
    expect(progress.at(-1)?.metrics.low).toBeLessThan(0)
    expect(progress.at(-1)?.metrics.high).toBeGreaterThan(0)
    expect(result.evaluation.metrics.low).toBeGreaterThanOrEqual(-1)
  })
})
