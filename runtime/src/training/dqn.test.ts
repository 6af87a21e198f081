// @module-tag full
import { type DqnSettings, resolveTrainingPlan } from '@agentgym/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failureOf, removeFixtures, scenarioOf } from '../../test/scenario-fixture.ts'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { decodeCheckpoint } from './checkpoint.ts'
import { explorationRate } from './dqn.ts'
import { checkpointOf, recordedTraining } from './testing/recorded-training.ts'

afterAll(removeFixtures)

/** Uneven episodes, truncated and terminated ones, and a mask. */
const definition = `
  observation: box({ shape: [2] }), action: discrete({ n: 3 }), maxSteps: 9,
  reset({ rng }) { return { x: rng.normal(), t: 0 } },
  step(state, action, { rng }) {
    state.t += 1
    state.x += action - 1
    return { reward: -Math.abs(state.x), terminated: rng() < 0.1 }
  },
  observe(state) { return [state.x, state.t / 9] },
  actionMask(state) { return [state.x > -2, true, state.x < 2] },`

let scenario: BuiltScenario
beforeAll(async () => {
  scenario = await scenarioOf(definition)
})

const settings = {
  ...{ steps: 960, environments: 4, rollout_steps: 8, evaluation_episodes: 4, checkpoint_every: 160, hidden: [16] },
  ...{ learning_starts: 100, exploration_steps: 500, target_update_interval: 64, n_step: 3, buffer_size: 300 },
}
const planOf = (changes: Record<string, unknown> = {}) =>
  resolveTrainingPlan({}, { algorithm: 'dqn', settings: { ...settings, ...changes } })
const run = (changes: Record<string, unknown> = {}, checkpoint: Uint8Array | null = null) =>
  recordedTraining(scenario, { plan: planOf(changes), checkpoint })

describe('DQN', { timeout: 120_000 }, () => {
  it('learns once enough was played, and reports losses, values and exploration', async () => {
    const { progress, outcome } = await run()
    expect(progress).toHaveLength(30)
    for (const { steps, learner } of progress) {
      expect(learner.exploration_rate).toBeCloseTo(Math.max(0.05, 1 - (0.95 * (steps - 32)) / 500), 6)
      const learning = steps - 32 > 100
      expect(learner.value_loss === null).toBe(!learning)
      expect(learner.value_mean === undefined).toBe(!learning)
      expect(learner).toMatchObject({ policy_loss: null, entropy: null, approximate_kl: null, clip_fraction: null })
    }
    expect(outcome?.policy.head).toBe('q')
  })

  it.each([{}, { dueling: true, normalize_observation: true, tau: 0.05, target_update_interval: 4 }])(
    'resumes to the same bits, the replay buffer with it: %o',
    async (changes) => {
      const whole = await run(changes)
      for (const iteration of [5, 20]) {
        const [bytes, place] = checkpointOf(whole.checkpoints, iteration)
        expect(place).not.toHaveProperty('dropped')
        const resumed = await run(changes, bytes)
        expect(resumed.outcome?.weights).toEqual(whole.outcome?.weights)
        expect(resumed.outcome?.evaluation).toEqual(whole.outcome?.evaluation)
        expect(resumed.progress[0].learner.exploration_rate).toBe(whole.progress[iteration].learner.exploration_rate)
      }
      expect((await run({ ...changes, rollout_workers: 2 })).outcome?.weights).toEqual(whole.outcome?.weights)
    },
  )

  it('goes on exploring where it was when it is extended', async () => {
    const short = await run({ exploration_steps: 10_000, exploration_fraction: 0.5 })
    const checkpoint = short.outcome?.checkpoint ?? null
    expect(decodeCheckpoint(checkpoint ?? new Uint8Array(0), 'given').plan.settings).toMatchObject({
      ...{ exploration_steps: 480, exploration_fraction: null },
    })
    const longer = await run({ steps: 1920, exploration_steps: 480 }, checkpoint)
    expect(short.progress.at(-1)?.learner.exploration_rate).toBeCloseTo(0.05)
    for (const { learner } of longer.progress) expect(learner.exploration_rate).toBeCloseTo(0.05)
  })

  it('is refused where there is not one discrete action', async () => {
    const box = await scenarioOf(`
      observation: box({ shape: [1] }), action: box({ shape: [1], low: -1, high: 1 }), maxSteps: 9,
      reset() { return {} }, step() { return { reward: 1, terminated: false } }, observe() { return [0] },`)
    const failure = await failureOf(recordedTraining(box, { plan: planOf() }))
    expect(failure).toMatchObject({ code: 'config_invalid', data: { field: 'algorithm' } })
    expect(failure.message).toContain('one discrete action')
  })

  it("takes Stable-Baselines3's names", () => {
    const named = {
      ...{ n_timesteps: 900, n_envs: 2, batch_size: 32, train_freq: 8, n_steps: 2, max_grad_norm: 1 },
      ...{ exploration_fraction: 0.2, exploration_initial_eps: 0.9, exploration_final_eps: 0.02 },
    }
    const plan = resolveTrainingPlan({}, { algorithm: 'dqn', settings: named })
    expect(plan.settings).toMatchObject({
      ...{ steps: 900, environments: 2, minibatch_size: 32, train_frequency: 8, n_step: 2, max_gradient_norm: 1 },
      ...{ exploration_steps: 180, exploration_initial: 0.9, exploration_final: 0.02 },
    })
    expect(explorationRate(plan.settings as DqnSettings, 90)).toBeCloseTo(0.46)
  })
})
