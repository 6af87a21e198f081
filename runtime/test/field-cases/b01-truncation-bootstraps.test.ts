// @module-tag full
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadModelSession } from '@agentgym/agent/engine'
import { readAgent } from '@agentgym/runtime'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, scenarioOf, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const definition = (terminated: string, reward: number) => `
  observation: box({ shape: [1] }), action: discrete({ n: 2 }), maxSteps: 10,
  reset() { return { step: 0 } },
  step(state) { state.step += 1; return { reward: ${reward}, terminated: ${terminated} } },
  observe() { return [1] },`

const settings = {
  ppo: { steps: 40_000, environments: 8, rollout_steps: 64, learning_rate: 0.003, epochs: 10, minibatch_size: 128 },
  dqn: { steps: 40_000, learning_rate: 0.001, target_update_interval: 400, n_step: 3 },
  // Rollouts hold first halves of episodes or second ones; gradients cut to one norm would weigh their unequal errors alike.
  a2c: { steps: 80_000, environments: 8, rollout_steps: 5, learning_rate: 0.003, max_gradient_norm: 100 },
}
const algorithms = Object.keys(settings) as (keyof typeof settings)[]

/** The value of the only state, in rewards of one step, read from the exported model. */
async function learnedValue(terminated: string, algorithm: keyof typeof settings): Promise<number> {
  // DQN's Huber loss is quadratic within 1 only: of larger errors it learns no mean.
  const reward = algorithm === 'dqn' ? 0.1 : 1
  const scenario = await scenarioOf(definition(terminated, reward))
  const { out } = await trained(scenario, { gamma: 0.9, ...settings[algorithm] }, { algorithm })
  const { policy } = await readAgent(out)
  const session = loadModelSession(new Uint8Array(await readFile(join(out, 'model.onnx'))), policy, { batch: 1 })
  session.run(Float32Array.of(1))
  const [value] = session.values ?? []
  session.dispose()
  return value / reward
}

describe.each(algorithms)('B01: running out of time is not an end, %s', (algorithm) => {
  it('bootstraps a truncated episode: the value is near 1 / (1 - 0.9) = 10', async () => {
    expect(await learnedValue('false', algorithm)).toBeCloseTo(10, 0)
  })

  it('does not bootstrap a terminated one: the mean of (1 - 0.9^k) / 0.1 over k = 1…10 is 4.1', async () => {
    const value = await learnedValue('state.step === 10', algorithm)
    expect(value).toBeGreaterThan(3)
    expect(value).toBeLessThan(5.5)
  })
})
