// @module-tag full
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readAgent } from '@agentgym/agent/engine'
import {
  agentManifestSchema,
  progressEventSchema,
  resolveTrainingPlan,
  type ScenarioLogs,
  trajectorySchema,
} from '@agentgym/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failureOf, removeFixtures, scenarioOf, temporaryFolder } from '../../test/scenario-fixture.ts'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { decodeCheckpoint } from './checkpoint.ts'
import { packageAgent } from './package-agent.ts'
import type { RunTrainingOptions } from './run-training.ts'
import { checkpointOf, recordedTraining } from './testing/recorded-training.ts'
import type { RunPlace } from './training-loop.ts'

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

const settings = { steps: 960, environments: 4, rollout_steps: 20, evaluation_episodes: 4, checkpoint_every: 240 }
const plan = resolveTrainingPlan({}, { settings })

const run = (changes: Partial<RunTrainingOptions> = {}) => recordedTraining(scenario, { plan, ...changes })

const placesOf = (checkpoints: [Uint8Array, RunPlace][]) =>
  checkpoints.map(([, { iteration, steps }]) => [iteration, steps])

describe('runTraining', { timeout: 120_000 }, () => {
  it('tells every iteration, checkpoints and trajectories, and writes nothing', async () => {
    const { progress, checkpoints, trajectories, outcome } = await run({ trajectories: { every: 5 } })
    expect(progress.map(({ iteration }) => iteration)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    for (const event of progress) {
      expect(progressEventSchema.parse(JSON.parse(JSON.stringify(event)))).toEqual(event)
      expect(event.steps).toBe(event.iteration * 80)
      expect(event.collect_seconds).toBeGreaterThan(0)
      expect(event.update_seconds).toBeGreaterThan(0)
      expect(event.collect_seconds + event.update_seconds).toBeLessThanOrEqual(event.seconds)
      expect(event.learner).toMatchObject({ kl_to_reference: null, zero_variance_groups: null })
    }
    for (const iteration of [3, 6, 9]) expect(placesOf(checkpoints)).toContainEqual([iteration, iteration * 80])
    expect(trajectories.map(({ iteration }) => iteration)).toEqual([1, 6, 11])
    for (const trajectory of trajectories) {
      expect(trajectorySchema.parse(trajectory)).toMatchObject({ environment: 0, partial: false })
      expect(trajectory.steps.length).toBe(trajectory.length)
      expect(trajectory.steps[0].observation).toHaveLength(2)
      expect(trajectory.steps[0].observation[1]).toBe(0)
    }
    expect(outcome).toMatchObject({ steps: 960, iterations: 12, stepsOfWeights: 960 })
  })

  it('plays episodes meanwhile where it takes no evaluations, and trains the same weights', async () => {
    const [plain, sampled] = [await run(), await run({ sample: { view: null } })]
    expect(plain.samples).toEqual([])
    // How many is a matter of time; the first is always played.
    expect(sampled.samples[0][1]).toMatchObject({ iteration: 1, steps: 80 })
    for (const [{ episode, length, ...rest }] of sampled.samples) {
      expect(episode).toMatchObject({ policy: 'agent', steps: { length } })
      expect(episode.steps.reduce((sum, { reward }) => sum + reward, 0)).toBeCloseTo(rest.return, 3)
    }
    expect(sampled.outcome?.weights).toEqual(plain.outcome?.weights)
    expect(sampled.outcome?.evaluation).toEqual(plain.outcome?.evaluation)
    const bytesOf = ({ checkpoints }: typeof plain) => decodeCheckpoint(checkpointOf(checkpoints, 6)[0], 'of a test')
    const [one, other] = [bytesOf(plain), bytesOf(sampled)]
    expect([one.weights, one.learnerState, one.episodes]).toEqual([other.weights, other.learnerState, other.episodes])
    const evaluated = resolveTrainingPlan({}, { settings: { ...settings, evaluate_every: 480 } })
    expect((await run({ plan: evaluated, sample: { view: null } })).samples).toEqual([])
  })

  it('chooses a discount by the rewards, as if it had been set, and keeps it when it is resumed', async () => {
    const batches = { minibatch_size: 256, epochs: 8 }
    const chosenSettings = {
      ...batches,
      learning_rate: 0.001,
      entropy_coefficient: 0.01,
      gamma: 0.995,
      gae_lambda: 0.9,
    }
    const chosen = await run()
    expect(chosen.defaults).toMatchObject([{ settings: chosenSettings, measured: { terminated: true } }])
    expect(chosen.outcome?.plan.settings).toMatchObject(chosenSettings)
    const set = resolveTrainingPlan({}, { settings: { ...settings, ...chosenSettings } })
    const given = await run({ plan: set })
    expect(given.defaults).toEqual([])
    expect(given.outcome?.weights).toEqual(chosen.outcome?.weights)
    const [bytes] = checkpointOf(chosen.checkpoints, 6)
    const resumed = await run({ checkpoint: bytes })
    expect(resumed.defaults).toEqual([])
    expect(resumed.outcome?.plan.settings).toMatchObject(chosenSettings)
  })

  it('gives notice where the scenario needs memory and the policy has none', async () => {
    const maze = await scenarioOf(`
      observation: box({ shape: [1] }), action: discrete({ n: 2 }), maxSteps: 4, memory: true,
      reset() { return {} }, step() { return { reward: 1, terminated: false } }, observe() { return [0] },`)
    const noticed = async (request: Parameters<typeof resolveTrainingPlan>[1]) =>
      (await recordedTraining(maze, { plan: resolveTrainingPlan({}, request) })).notices
    const short = { steps: 200, environments: 4, evaluation_episodes: 2 }
    expect(await noticed({ settings: short })).toEqual([])
    expect(await noticed({ settings: { ...short, memory: 'none' } })).toMatchObject([{ hint: 'Remove memory=none.' }])
    expect(await noticed({ algorithm: 'dqn', settings: short })).toMatchObject([
      { hint: expect.stringContaining('ppo, a2c or grpo') },
    ])
  })

  it('hands over what the scenario logs, or gives notice once that it does', async () => {
    const chatty = await scenarioOf(`
      observation: box({ shape: [1] }), action: discrete({ n: 2 }), maxSteps: 4,
      reset() { return {} }, observe() { return [0] },
      step(state, action) { console.log('took', action); return { reward: 1, terminated: false } },`)
    const plan = resolveTrainingPlan({}, { settings: { steps: 256, environments: 4, rollout_steps: 32 } })
    const logs: ScenarioLogs[] = []
    const shown = await recordedTraining(chatty, { plan, onLogs: (taken) => void logs.push(taken) })
    expect(shown.notices).toEqual([])
    expect(logs.reduce((sum, { calls }) => sum + calls, 0)).toBeGreaterThanOrEqual(256)
    expect(logs[0].entries[0]).toMatchObject({ level: 'log', text: expect.stringMatching(/^took [01]$/), step: 1 })
    const silent = await recordedTraining(chatty, { plan })
    expect(silent.notices).toMatchObject([{ hint: 'Show its logs with --verbose.' }])
    expect(silent.outcome?.weights).toEqual(shown.outcome?.weights)
  })

  it('goes on from a checkpoint, also with another number of threads, and skips no iteration', async () => {
    const whole = await run({ trajectories: { every: 5 } })
    const [bytes, place] = checkpointOf(whole.checkpoints, 6)
    const resumed = await run({ checkpoint: bytes, trajectories: { every: 5 } })
    expect(resumed.progress.map(({ iteration }) => iteration)).toEqual([7, 8, 9, 10, 11, 12])
    expect(resumed.progress[0].seconds).toBeGreaterThan(place.seconds)
    expect(resumed.outcome?.weights).toEqual(whole.outcome?.weights)
    expect(resumed.outcome?.evaluation).toEqual(whole.outcome?.evaluation)
    expect(resumed.trajectories).toEqual(whole.trajectories.slice(2))
    const threads = resolveTrainingPlan({}, { settings: { ...settings, rollout_workers: 2, learner_threads: 2 } })
    expect((await run({ checkpoint: bytes, plan: threads })).outcome?.weights).toEqual(whole.outcome?.weights)
  })

  it.each([
    ['ppo', { rollout_steps: 7, minibatch_size: 16 }],
    ['a2c', { rollout_steps: 5 }],
    ['dqn', { learning_starts: 60, buffer_size: 600 }],
  ])('learns the same weights with any number of rollout workers, %s', async (algorithm, changes) => {
    const weights = async (rollout_workers: number) => {
      const common = { steps: 360, environments: 6, evaluation_episodes: 2, hidden: [8], rollout_workers }
      const plan = resolveTrainingPlan({}, { algorithm, settings: { ...common, ...changes } })
      return (await run({ plan })).outcome?.weights
    }
    const alone = await weights(1)
    for (const workers of [2, 3, 6]) expect(await weights(workers)).toEqual(alone)
  })

  it.each([
    ['ppo', { rollout_steps: 7, environments: 4, minibatch_size: 16 }],
    ['a2c', { environments: 4 }],
    ['grpo', { group_size: 2, groups: 3 }],
  ])('goes on from a checkpoint of a policy with memory, %s', async (algorithm, changes) => {
    const common = { steps: 360, evaluation_episodes: 4, checkpoint_every: 120, memory: 'gru', memory_units: 6 }
    const plan = resolveTrainingPlan({}, { algorithm, settings: { ...common, hidden: [8], ...changes } })
    const whole = await run({ plan })
    const [bytes] = whole.checkpoints[0]
    const resumed = await run({ plan, checkpoint: bytes })
    expect(resumed.progress.length).toBeLessThan(whole.progress.length)
    expect(resumed.outcome?.policy.memory).toEqual({ kind: 'gru', units: 6 })
    expect(resumed.outcome?.weights).toEqual(whole.outcome?.weights)
    expect(resumed.outcome?.evaluation).toEqual(whole.outcome?.evaluation)
    expect(await run({ plan })).toMatchObject({ outcome: { weights: whole.outcome?.weights } })
  })

  it('goes on from its end for more steps', async () => {
    const planOf = (changes: Record<string, unknown>) =>
      resolveTrainingPlan({}, { settings: { ...settings, learning_rate_schedule: 'constant', ...changes } })
    const straight = await run({ plan: planOf({}) })
    const short = await run({ plan: planOf({ steps: 480 }) })
    const extended = await run({ plan: planOf({}), checkpoint: short.outcome?.checkpoint })
    expect(extended.progress.map(({ steps }) => steps)).toEqual([560, 640, 720, 800, 880, 960])
    expect(extended.outcome?.weights).toEqual(straight.outcome?.weights)
    expect(extended.outcome?.evaluation).toEqual(straight.outcome?.evaluation)
    // A run shorter than one rollout shortens it; the longer run has whole ones.
    const tiny = await run({ plan: planOf({ steps: 40 }) })
    const longer = await run({ plan: planOf({}), checkpoint: tiny.outcome?.checkpoint })
    expect(longer.progress.map(({ steps }) => steps)).toEqual(Array.from({ length: 12 }, (_, i) => 120 + i * 80))
  })

  it('computes a linear schedule over the new total of an extended run', async () => {
    const short = await run()
    const longer = resolveTrainingPlan({}, { settings: { ...settings, steps: 1920 } })
    const { progress } = await run({ plan: longer, checkpoint: short.outcome?.checkpoint })
    const learning_rate = 0.001
    const rates = progress.map(({ learner }) => learner.learning_rate)
    expect(rates).toEqual(Array.from({ length: 12 }, (_, i) => learning_rate * (1 - (960 + i * 80) / 1920)))
    expect(short.progress.at(-1)?.learner.learning_rate).toBe(learning_rate * (1 - 880 / 960))
  })

  it('refuses a checkpoint of another run', async () => {
    const [[bytes]] = (await run()).checkpoints
    const other = resolveTrainingPlan({}, { settings: { ...settings, gamma: 0.5 } })
    expect(await failureOf(run({ checkpoint: bytes, plan: other }))).toMatchObject({
      ...{ code: 'checkpoint_invalid', data: { fields: ['gamma'] } },
    })
    const grpo = resolveTrainingPlan({}, { algorithm: 'grpo', steps: 960 })
    expect((await failureOf(run({ checkpoint: bytes, plan: grpo }))).data.field).toBe('algorithm')
    expect((await failureOf(run({ checkpoint: bytes, seed: 6 }))).data.field).toBe('seed')
    const shorter = resolveTrainingPlan({}, { settings: { ...settings, steps: 240 } })
    expect(await failureOf(run({ checkpoint: bytes, plan: shorter }))).toMatchObject({
      ...{ code: 'config_invalid', data: { field: 'steps' } },
    })
    expect((await failureOf(run({ checkpoint: bytes.slice(0, -1) }))).code).toBe('checkpoint_invalid')
  })

  it('stops in order with a checkpoint, and at once without', async () => {
    const stop = new AbortController()
    const long = resolveTrainingPlan({}, { settings: { ...settings, steps: 1e9, checkpoint_every: 0 } })
    const stopped = await run({ plan: long, stop: stop.signal, onProgress: () => stop.abort() })
    expect(stopped.outcome).toBeNull()
    const [iteration, steps] = placesOf(stopped.checkpoints).at(-1) ?? []
    expect(steps).toBe(iteration * 80)
    expect(steps).toBeGreaterThan(0)
    const kill = new AbortController()
    const killed = run({ plan: long, signal: kill.signal, onProgress: () => kill.abort() })
    expect((await failureOf(killed)).code).toBe('training_cancelled')
  })

  it('ends with the error of a handler', async () => {
    const full = new Error('the disk is full')
    const onCheckpoint = () => Promise.reject(full)
    await expect(run({ onCheckpoint })).rejects.toBe(full)
  })
})

describe('packageAgent', { timeout: 120_000 }, () => {
  it('writes a package that can be read again, under the name that it is given', async () => {
    const { outcome } = await run()
    if (outcome === null) throw new Error('it was stopped')
    const folder = join(temporaryFolder(), 'agent')
    const agent = { outcome, scenario, name: '@acme/fixture-ppo', version: '2.0.0' }
    const manifest = await packageAgent(folder, agent)
    expect(agentManifestSchema.parse(manifest)).toMatchObject({ algorithm: 'ppo', seed: 5, steps: 960, settings })
    const names = ['README.md', 'agent.json', 'learning-curve.svg', 'model.onnx', 'package.json']
    expect(readdirSync(folder).sort()).toEqual(names)
    expect(existsSync(join(folder, '.agentgym'))).toBe(false)
    expect(await readAgent(folder)).toEqual(manifest)
    expect(manifest.settings.rollout_workers).toBe(1)
  })
})
