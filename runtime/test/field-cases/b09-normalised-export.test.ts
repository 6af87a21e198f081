// @module-tag full
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadAgent } from '@agentgym/agent'
import { loadModelSession } from '@agentgym/agent/engine'
import { agentServer } from '@agentgym/agent/server'
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

    // As buyers call it: over HTTP, alone and as one of many. Softmax forgets what all logits have in common.
    const agent = await loadAgent(run.out)
    const app = agentServer([{ name: 'signal', version: null, agent }])
    const act = async (body: object): Promise<{ decisions: Decided[] } & Decided> => {
      const headers = { 'content-type': 'application/json' }
      const response = await app.request('/act', { method: 'POST', headers, body: JSON.stringify(body) })
      return JSON.parse(await response.text())
    }
    const seen = Array.from(observations, (observation) => [observation])
    const { decisions } = await act({ observations: seen })
    for (const [i, observation] of seen.entries()) {
      const [a, b] = [distribution[2 * i], distribution[2 * i + 1]]
      for (const { action, choices } of [decisions[i], await act({ observation })]) {
        expect(action).toBe(a < b ? 1 : 0)
        const margin = Math.log(choices[1].probability) - Math.log(choices[0].probability)
        expect(Math.abs(margin - (b - a))).toBeLessThan(1e-4)
      }
    }
    expect(await act({ observations: seen })).toEqual({ model: 'signal', decisions })
    expect(new Uint8Array(await readFile(join(run.out, 'model.onnx')))).toEqual(model)
    agent.dispose()
  })
})

type Decided = { action: number; choices: { probability: number }[] }

function largestDifference(a: Float32Array, b: Float32Array): number {
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - b[i])), 0)
}
