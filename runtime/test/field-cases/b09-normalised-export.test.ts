// @module-tag full
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadModelSession } from '@agentgym/agent/engine'
import { readAgent } from '@agentgym/runtime'
import { afterAll, describe, expect, it } from 'vitest'
import { createLearner } from '../../src/learner/learner.ts'
import { decodeCheckpoint } from '../../src/training/checkpoint.ts'
import { removeFixtures, scenarioOf, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

describe('B09: an exported agent keeps its observation statistics', { timeout: 180_000 }, () => {
  it('answers as the trainer does on 10,000 + a small signal, and serving does not change it', async () => {
    const scenario = await scenarioOf(`
      observation: box({ shape: [1] }), action: discrete({ n: 2 }), maxSteps: 20,
      reset({ rng }) { return { signal: rng() - 0.5 } },
      step(state, action, { rng }) {
        const reward = (state.signal > 0) === (action === 1) ? 1 : 0
        state.signal = rng() - 0.5
        return { reward, terminated: false }
      },
      observe(state) { return [10000 + state.signal] },`)
    const settings = {
      steps: 20_480,
      environments: 8,
      rollout_steps: 128,
      normalize_observation: true,
      learning_rate: 0.003,
      learning_rate_schedule: 'constant',
    }
    const run = await trained(scenario, settings)
    expect(run.result.evaluation.return_mean).toBeGreaterThan(15)

    const { policy, seed } = await readAgent(run.out)
    const model = new Uint8Array(await readFile(join(run.out, 'model.onnx')))
    const session = loadModelSession(model, policy, { batch: 100 })
    const observations = Float32Array.from({ length: 100 }, (_, i) => 10000 + (i - 50) / 100)
    session.run(observations)
    const served = session.distribution.slice()
    session.run(observations)
    expect(session.distribution).toEqual(served)

    const learner = createLearner(policy, { seed, device: 'cpu', threads: 1 })
    learner.setWeights(decodeCheckpoint(await readFile(run.checkpoint), 'x').weights)
    const { distribution } = learner.forward(observations, 100)
    expect(largestDifference(distribution, served)).toBeLessThan(1e-4)
  })
})

function largestDifference(a: Float32Array, b: Float32Array): number {
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - b[i])), 0)
}
