// @module-tag full
import { resolveTrainingPlan } from '@agentgym/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failureOf, removeFixtures, scenarioOf } from '../../test/scenario-fixture.ts'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { checkpointOf, recordedTraining } from './testing/recorded-training.ts'

afterAll(removeFixtures)

/** Uneven episodes, truncated and terminated ones; bounds on both sides, on one, and none. */
const definition = `
  observation: box({ shape: [2] }), maxSteps: 9,
  action: dict({ push: box({ shape: [1], low: -3, high: 1 }), brake: box({ shape: [2], low: [0, -Infinity], high: Infinity }) }),
  reset({ rng }) { return { x: rng.normal(), t: 0 } },
  step(state, { push, brake }, { rng }) {
    state.t += 1
    state.x += push[0]
    return { reward: -Math.abs(state.x) - 0.01 * Math.min(9, brake[0] + Math.abs(brake[1])), terminated: rng() < 0.1 }
  },
  observe(state) { return [state.x, state.t / 9] },`

let scenario: BuiltScenario
beforeAll(async () => {
  scenario = await scenarioOf(definition)
})

const settings = {
  ...{ steps: 480, environments: 4, rollout_steps: 4, evaluation_episodes: 4, checkpoint_every: 80, hidden: [16] },
  ...{ learning_starts: 100, minibatch_size: 32, buffer_size: 300, learning_rate: 1e-3 },
}
const planOf = (changes: Record<string, unknown> = {}) =>
  resolveTrainingPlan({}, { algorithm: 'sac', settings: { ...settings, ...changes } })
const run = (changes: Record<string, unknown> = {}, checkpoint: Uint8Array | null = null) =>
  recordedTraining(scenario, { plan: planOf(changes), checkpoint })

describe('SAC', { timeout: 120_000 }, () => {
  it('learns once enough was played, and reports losses, values, entropy and its coefficient', async () => {
    const { progress, outcome } = await run()
    expect(progress).toHaveLength(30)
    for (const { steps, learner } of progress) {
      const learning = steps - 16 > 100
      expect(learner.entropy_coefficient === undefined).toBe(!learning)
      for (const name of ['policy_loss', 'value_loss', 'entropy'] as const)
        expect(learner[name] === null).toBe(!learning)
      expect(learner).toMatchObject({ approximate_kl: null, clip_fraction: null, learning_rate: 1e-3 })
    }
    expect(progress.at(-1)?.learner.entropy_coefficient).not.toBe(progress.at(-2)?.learner.entropy_coefficient)
    expect(outcome?.policy.head).toBe('squashed_gaussian')
    expect(outcome?.policy.action.map(({ squash }) => squash)).toEqual([['tanh'], ['exp', 'sinh']])
  })

  it.each([
    {},
    { entropy_coefficient: 0.1, normalize_observation: true, tau: 0.05, train_frequency: 3, gradient_steps: 2 },
  ])('resumes to the same bits, the replay buffer with it: %o', async (changes) => {
    const whole = await run(changes)
    for (const iteration of [5, 15]) {
      const [bytes, place] = checkpointOf(whole.checkpoints, iteration)
      expect(place).not.toHaveProperty('dropped')
      const resumed = await run(changes, bytes)
      expect(resumed.outcome?.weights).toEqual(whole.outcome?.weights)
      expect(resumed.outcome?.evaluation).toEqual(whole.outcome?.evaluation)
      expect(resumed.progress.at(-1)?.learner).toEqual(whole.progress.at(-1)?.learner)
    }
    expect((await run({ ...changes, rollout_workers: 2 })).outcome?.weights).toEqual(whole.outcome?.weights)
  })

  it('starts with the deviation of initial_log_std', async () => {
    const { outcome } = await run({ steps: 16, learning_starts: 1000, initial_log_std: -2 })
    const weights = outcome?.weights ?? new Float32Array(0)
    expect(Array.from(weights.slice(-7, -4), (bias) => -1.5 + 3.5 * Math.tanh(bias)).map((s) => s.toFixed(3))).toEqual([
      '-2.000',
      '-2.000',
      '-2.000',
    ])
  })

  it('is refused where an action is not a box', async () => {
    const discrete = await scenarioOf(`
      observation: box({ shape: [1] }), maxSteps: 9,
      action: dict({ push: box({ shape: [1], low: -1, high: 1 }), tool: discrete({ n: 2 }) }),
      reset() { return {} }, step() { return { reward: 1, terminated: false } }, observe() { return [0] },`)
    const failure = await failureOf(recordedTraining(discrete, { plan: planOf() }))
    expect(failure).toMatchObject({ code: 'config_invalid', data: { field: 'algorithm' } })
    expect(failure.message).toContain('box actions only')
  })
})
