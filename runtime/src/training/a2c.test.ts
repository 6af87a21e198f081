// @module-tag full
import { resolveTrainingPlan } from '@agentgym/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeFixtures, scenarioOf } from '../../test/scenario-fixture.ts'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { decodeCheckpoint } from './checkpoint.ts'
import { checkpointOf, recordedTraining } from './testing/recorded-training.ts'

afterAll(removeFixtures)

let scenario: BuiltScenario
beforeAll(async () => {
  scenario = await scenarioOf(`
    observation: box({ shape: [2] }), action: discrete({ n: 2 }), maxSteps: 9,
    reset({ rng }) { return { x: rng.normal(), t: 0 } },
    step(state, action, { rng }) {
      state.t += 1
      state.x += action - 0.5
      return { reward: -Math.abs(state.x), terminated: rng() < 0.1 }
    },
    observe(state) { return [state.x, state.t / 9] },`)
})

const settings = { steps: 800, environments: 4, rollout_steps: 5, evaluation_episodes: 4, checkpoint_every: 200 }
const run = (changes: Record<string, unknown> = {}, checkpoint: Uint8Array | null = null) =>
  recordedTraining(scenario, {
    plan: resolveTrainingPlan({}, { algorithm: 'a2c', settings: { ...settings, ...changes } }),
    checkpoint,
  })

describe('A2C', { timeout: 120_000 }, () => {
  it('makes one optimizer step of each rollout, and has no clip to report', async () => {
    const { progress, outcome } = await run()
    expect(progress).toHaveLength(40)
    for (const { learner } of progress) {
      expect(learner).toMatchObject({ approximate_kl: null, clip_fraction: null, kl_to_reference: null })
      expect(learner.entropy).toBeGreaterThan(0)
      expect(learner.value_loss).toBeGreaterThan(0)
    }
    expect(progress[20].learner.learning_rate).toBeCloseTo(1e-3 / 2)
    expect(outcome).toMatchObject({ steps: 800, iterations: 40 })
  })

  it.each(['rmsprop', 'adam'])('resumes to the same bits, %s', async (optimizer) => {
    const changes = { optimizer, normalize_observation: true, normalize_reward: true }
    const whole = await run(changes)
    const [bytes] = checkpointOf(whole.checkpoints, 20)
    expect(decodeCheckpoint(bytes, 'given').plan.algorithm).toBe('a2c')
    const resumed = await run(changes, bytes)
    expect(resumed.outcome?.weights).toEqual(whole.outcome?.weights)
    expect(resumed.outcome?.evaluation).toEqual(whole.outcome?.evaluation)
    expect((await run(changes)).outcome?.weights).toEqual(whole.outcome?.weights)
  })

  it("takes Stable-Baselines3's names", () => {
    const named = { n_timesteps: 900, n_envs: 16, n_steps: 8, ent_coef: 0.01, vf_coef: 0.4, max_grad_norm: 1 }
    expect(resolveTrainingPlan({}, { algorithm: 'a2c', settings: named }).settings).toMatchObject({
      ...{ steps: 900, environments: 16, rollout_steps: 8 },
      ...{ entropy_coefficient: 0.01, value_coefficient: 0.8, max_gradient_norm: 1 },
    })
  })
})
