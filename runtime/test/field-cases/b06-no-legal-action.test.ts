import { readFile } from 'node:fs/promises'
import { checkpointPath } from '@agentgym/runtime'
import { afterAll, describe, expect, it } from 'vitest'
import { decodeCheckpoint } from '../../src/training/checkpoint.ts'
import { failureOf, removeFixtures, scenarioOf, temporaryFolder, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

describe('B06: a mask that leaves no legal action', () => {
  it('fails with scenario, environment and step, and keeps the last good checkpoint', async () => {
    // Only environment 1 draws a first number that differs from environment 0's: it runs dry at step 3 of its 41st episode.
    const scenario = await scenarioOf(`
      observation: box({ shape: [1] }), action: discrete({ n: 2 }), maxSteps: 5,
      reset({ rng }) { globalThis.count = (globalThis.count ?? 0) + 1; return { step: 0, bad: globalThis.count === 82 } },
      step(state) { state.step += 1; return { reward: 1, terminated: false } },
      observe() { return [0] },
      actionMask(state) { return state.bad && state.step === 3 ? [false, false] : [true, true] },`)
    const out = temporaryFolder()
    const settings = {
      steps: 1000,
      environments: 2,
      rollout_steps: 20,
      minibatch_size: 20,
      checkpoint_every: 40,
      rollout_workers: 1,
      // Else the run would play before it trains, to choose them.
      gamma: 0.99,
      gae_lambda: 0.95,
    }
    const error = await failureOf(trained(scenario, settings, { out }))
    expect(error.code).toBe('no_legal_action')
    expect(error.data).toMatchObject({ scenario: 'fixture', version: '1.2.3', environment: 1, step: 3 })
    expect(error.message).toContain('fixture@1.2.3')
    expect(error.data.checkpoint).toBe(checkpointPath(out))
    const { weights, iteration } = decodeCheckpoint(await readFile(checkpointPath(out)), 'x')
    expect(weights.every(Number.isFinite)).toBe(true)
    expect(iteration).toBeGreaterThan(0)
  })
})
