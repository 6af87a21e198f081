// @module-tag full
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { decodeCheckpoint } from '../../src/training/checkpoint.ts'
import { removeFixtures, scenarioOf, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

describe('B10: a minibatch of one sample', () => {
  it.each([
    { algorithm: 'ppo', environments: 1, rollout_steps: 65, minibatch_size: 64 },
    { algorithm: 'ppo', environments: 1, rollout_steps: 1, minibatch_size: 64 },
    { algorithm: 'ppo', environments: 1, rollout_steps: 1, minibatch_size: 1 },
    { algorithm: 'dqn', environments: 1, rollout_steps: 1, minibatch_size: 1, learning_starts: 1, buffer_size: 1 },
    { algorithm: 'a2c', environments: 1, rollout_steps: 1, normalize_advantage: true },
  ] as const)('gives finite weights: %o', async ({ algorithm, ...sizes }) => {
    const scenario = await scenarioOf(`
      observation: box({ shape: [2] }), action: discrete({ n: 2 }), maxSteps: 7,
      reset({ rng }) { return { rng } },
      step(state, action, { rng }) { return { reward: rng() + action, terminated: rng() < 0.1 } },
      observe() { return [1, -1] },`)
    const run = await trained(scenario, { steps: 130, checkpoint_every: 1, ...sizes }, { algorithm })
    const { weights } = decodeCheckpoint(await readFile(run.checkpoint), 'x')
    expect(weights.every(Number.isFinite)).toBe(true)
    const { policy_loss, value_loss } = run.progress.at(-1)?.learner ?? {}
    expect(policy_loss ?? value_loss).toBeTypeOf('number')
    expect((await readFile(join(run.out, 'model.onnx'))).length).toBeGreaterThan(1000)
  })
})
