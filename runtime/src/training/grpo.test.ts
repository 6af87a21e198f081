// @module-tag full
import { progressEventSchema, resolveTrainingPlan, trajectorySchema } from '@agentgym/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeFixtures, scenarioOf } from '../../test/scenario-fixture.ts'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { decodeCheckpoint } from './checkpoint.ts'
import { checkpointOf, recordedTraining } from './testing/recorded-training.ts'

afterAll(removeFixtures)

/** Uneven episodes, tasks, and every kind of randomness. */
const definition = `
  observation: box({ shape: [3] }), action: discrete({ n: 3 }), maxSteps: 15, tasks: { train: 50, eval: 10 },
  reset({ rng, task }) { return { x: rng.normal(), task: task.index / 50, t: 0 } },
  step(state, action, { rng }) {
    state.t += 1
    state.x += (action - 1) * 0.5 + 0.1 * Math.random()
    return { reward: -Math.abs(state.x), terminated: rng() < 0.1 || Math.abs(state.x) > 3 }
  },
  observe(state) { return [state.x, state.task, state.t / 15] },
  metrics(state) { return { end: state.x } },`

let scenario: BuiltScenario
beforeAll(async () => {
  scenario = await scenarioOf(definition)
})

const settings = {
  steps: 1500,
  group_size: 4,
  groups: 3,
  minibatch_size: 32,
  evaluation_episodes: 4,
  checkpoint_every: 1,
  kl_coefficient: 0.05,
  entropy_coefficient: 0.01,
  normalize_observation: true,
}
const planOf = (changes: Record<string, unknown> = {}) =>
  resolveTrainingPlan({}, { algorithm: 'grpo', settings: { ...settings, ...changes } })

/** Progress without what a clock says. */
const untimed = (events: { iteration: number }[]) =>
  events.map((event) => ({ ...event, seconds: 0, steps_per_second: 0, collect_seconds: 0, update_seconds: 0 }))

describe('a GRPO run', { timeout: 120_000 }, () => {
  it('plays whole groups an iteration and ends with the one that reaches the steps', async () => {
    const { progress, trajectories, outcome } = await recordedTraining(scenario, {
      ...{ plan: planOf(), trajectories: { every: 2 } },
    })
    const last = progress[progress.length - 1]
    expect(progress.map(({ iteration }) => iteration)).toEqual(progress.map((_, i) => i + 1))
    expect(progress.at(-2)?.steps).toBeLessThan(1500)
    expect(last.steps).toBeGreaterThanOrEqual(1500)
    expect(last.steps_total).toBe(last.steps)
    let before = 0
    for (const event of progress) {
      expect(progressEventSchema.parse(JSON.parse(JSON.stringify(event)))).toEqual(event)
      expect(event).toMatchObject({ episodes: 12, episodes_total: event.iteration * 12 })
      expect(event.learner).toMatchObject({ value_loss: null, explained_variance: null, zero_variance_groups: 0 })
      expect(event.learner.kl_to_reference).toBeGreaterThanOrEqual(0)
      expect(event.learner.learning_rate).toBeCloseTo(1e-3 * (1 - before / 1500), 12)
      before = event.steps
    }
    expect(outcome).toMatchObject({ steps: last.steps, iterations: last.iteration, plan: { algorithm: 'grpo' } })
    expect(trajectories.map(({ iteration }) => iteration)).toEqual(
      progress.map(({ iteration }) => iteration).filter((iteration) => iteration % 2 === 1),
    )
    for (const trajectory of trajectories) {
      expect(trajectorySchema.parse(trajectory).partial).toBe(false)
      expect(trajectory.steps[0].observation[2]).toBe(0)
      expect(trajectory.steps.filter(({ terminated, truncated }) => terminated || truncated)).toEqual([
        trajectory.steps.at(-1),
      ])
    }
  })

  it('is the same bits twice over and for any number of rollout workers, and others for another seed', async () => {
    const weightsOf = async (changes: Record<string, unknown>, seed = 5) => {
      const { outcome, progress } = await recordedTraining(scenario, { plan: planOf(changes), seed })
      return { weights: outcome?.weights, evaluation: outcome?.evaluation, progress: untimed(progress) }
    }
    const one = await weightsOf({ rollout_workers: 1 })
    expect(await weightsOf({ rollout_workers: 1 })).toEqual(one)
    // Twelve: one environment each. Five: groups are cut.
    for (const rollout_workers of [5, 12]) expect(await weightsOf({ rollout_workers })).toEqual(one)
    expect((await weightsOf({ rollout_workers: 1 }, 6)).weights).not.toEqual(one.weights)
  })

  it('resumes from any checkpoint as if it had not been interrupted, reference policy and schedule included', async () => {
    const whole = await recordedTraining(scenario, { plan: planOf() })
    const [bytes] = checkpointOf(whole.checkpoints, 4)
    const { reference, weights, episodes } = decodeCheckpoint(bytes, 'x')
    expect(reference).not.toBeNull()
    expect(reference).not.toEqual(weights)
    expect(episodes).toEqual([])
    const resumed = await recordedTraining(scenario, { plan: planOf({ rollout_workers: 3 }), checkpoint: bytes })
    expect(resumed.outcome?.weights).toEqual(whole.outcome?.weights)
    expect(resumed.outcome?.evaluation).toEqual(whole.outcome?.evaluation)
    expect(untimed(resumed.progress)).toEqual(untimed(whole.progress.slice(4)))
    const none = await recordedTraining(scenario, { plan: planOf({ kl_coefficient: 0 }) })
    expect(decodeCheckpoint(none.checkpoints[0][0], 'x').reference).toBeNull()
  })

  it('ends early where held-out episodes meet the criteria', async () => {
    const success = { return_mean: -1000 }
    const { outcome, evaluations } = await recordedTraining(scenario, {
      ...{ plan: planOf({ evaluate_every: 300 }), success },
    })
    expect(outcome?.evaluation.success.ok).toBe(true)
    expect(outcome?.steps).toBeLessThan(600)
    expect(evaluations).toHaveLength(1)
    expect(evaluations[0][1]).toMatchObject({ iteration: outcome?.iterations, steps: outcome?.steps })
  })
})
