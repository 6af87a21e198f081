// @module-tag full
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { resolveTrainingPlan, type TrainingAlgorithm } from '@agentgym/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failureOf, removeFixtures, scenarioOf, temporaryFolder } from '../../test/scenario-fixture.ts'
import { evaluateAgent } from '../evaluation/evaluate-agent.ts'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { packageAgent } from './package-agent.ts'
import { recordedTraining } from './testing/recorded-training.ts'
import { readWarmStart, type WarmStart, warmStartPlan } from './warm-start.ts'

afterAll(removeFixtures)

/** Of the episodes that select weights. */
const selectionSeed = 0x5e1ec7

const walk = (size: number, action = 'discrete({ n: 2 })') => `
  observation: box({ shape: [${size}] }), action: ${action}, maxSteps: 9,
  reset({ rng }) { return { x: 40 + rng.normal(), t: 0 } },
  step(state, action, { rng }) {
    state.t += 1
    state.x += action - 0.5
    return { reward: -20 * Math.abs(state.x - 40), terminated: rng() < 0.1 }
  },
  observe(state) { return Array.from({ length: ${size} }, (_, i) => state.x + i * state.t) },`

let scenario: BuiltScenario
let boxScenario: BuiltScenario
beforeAll(async () => {
  scenario = await scenarioOf(walk(2))
  boxScenario = await scenarioOf(walk(2, 'box({ shape: [1], low: 0, high: 1 })'))
})

const scenarioFor = (algorithm: TrainingAlgorithm) => (algorithm === 'sac' ? boxScenario : scenario)

const common = { steps: 400, evaluation_episodes: 20, checkpoint_every: 160, hidden: [8], normalize_observation: true }
const settingsOf: Record<string, Record<string, unknown>> = {
  ppo: { ...common, environments: 4, rollout_steps: 20, normalize_reward: true },
  a2c: { ...common, environments: 4, normalize_reward: true },
  grpo: { ...common, group_size: 2, groups: 4 },
  dqn: { ...common, environments: 4, learning_starts: 40 },
  sac: { ...common, environments: 4, learning_starts: 40, minibatch_size: 16 },
}

/** Trains and packages an agent, and reads it to start from. */
async function parentOf(algorithm: TrainingAlgorithm, extra: Record<string, unknown> = {}) {
  const plan = resolveTrainingPlan({}, { algorithm, settings: { ...settingsOf[algorithm], ...extra } })
  const scenario = scenarioFor(algorithm)
  const { outcome } = await recordedTraining(scenario, { plan })
  if (outcome === null) throw new Error('it was stopped')
  const folder = join(temporaryFolder(), 'agent')
  await packageAgent(folder, { outcome, scenario, name: '@acme/parent', version: '1.2.0' })
  return { folder, start: await readWarmStart(folder) }
}

function planOf(start: WarmStart, algorithm: TrainingAlgorithm, set: Record<string, unknown> = {}) {
  const settings = { ...settingsOf[algorithm], steps: 800, ...set }
  const texts = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)]))
  return warmStartPlan(scenario, { set: texts }, start)
}

describe('a warm-started run', { timeout: 120_000 }, () => {
  it.each([
    ['ppo', {}],
    ['ppo', { memory: 'gru', memory_units: 6 }],
    ['a2c', {}],
    ['grpo', {}],
    ['dqn', {}],
    ['sac', {}],
  ] as const)('begins with its parent, bit for bit, and goes on as it would uninterrupted: %s %o', async (...of) => {
    const [algorithm, extra] = of
    const scenario = scenarioFor(algorithm)
    const { folder, start } = await parentOf(algorithm, extra)
    const plan = planOf(start, algorithm)
    expect(plan.algorithm).toBe(algorithm)
    const straight = await recordedTraining(scenario, { plan, start, seed: 6 })
    const [first, place] = straight.evaluations[0]
    expect(place).toMatchObject({ iteration: 0, steps: 0 })
    const claim = await evaluateAgent({ agent: folder, scenario, episodes: 20, seed: selectionSeed })
    expect(first).toEqual(claim)
    expect(straight.outcome?.parent).toEqual(start.parent)

    const [bytes] = straight.checkpoints[0]
    const resumed = await recordedTraining(scenario, { plan, checkpoint: bytes, seed: 6 })
    expect(resumed.progress.length).toBeLessThan(straight.progress.length)
    expect(resumed.outcome?.weights).toEqual(straight.outcome?.weights)
    expect(resumed.outcome?.evaluation).toEqual(straight.outcome?.evaluation)
    expect(resumed.outcome?.parent).toEqual(start.parent)
  })

  it('goes on with the statistics of its parent: a first update without a learning rate changes almost nothing', async () => {
    const { start } = await parentOf('ppo')
    const set = { learning_rate: 1e-12, steps: 80 }
    const { outcome } = await recordedTraining(scenario, { plan: planOf(start, 'ppo', set), start })
    if (outcome === null) throw new Error('it was stopped')
    const before = exportedValues(start.weights)
    const after = exportedValues(outcome.weights)
    // One rollout beside the parent's 400 steps moves the mean a little; alone it would replace it.
    expect(after.mean[0]).toBeCloseTo(before.mean[0], 0)
    // The critic is divided by the scale of rewards: in the reward's own units it is what it was.
    expect(after.scale).toBeGreaterThan(2)
    for (const [i, weight] of before.critic.entries()) expect(after.critic[i] * after.scale).toBeCloseTo(weight, 3)
  })

  const exportedValues = (weights: Float32Array) => ({
    // Two networks of 2-8-2 and 2-8-1, then mean and variance of two columns, then the scale.
    critic: weights.subarray(66, 75),
    mean: weights.subarray(75, 77),
    scale: weights[79],
  })

  it('can change between algorithms with an actor and a critic', async () => {
    const { start } = await parentOf('ppo')
    const plan = warmStartPlan(scenario, { algorithm: 'a2c', steps: 80, set: { evaluation_episodes: '4' } }, start)
    const { evaluations } = await recordedTraining(scenario, { plan, start })
    expect(evaluations[0][1].steps).toBe(0)
  })

  it('fails with the first difference where the spaces are others', async () => {
    const { start } = await parentOf('ppo')
    const wider = await scenarioOf(walk(3))
    const plan = warmStartPlan(wider, { steps: 80 }, start)
    expect(await failureOf(recordedTraining(wider, { plan, start }))).toMatchObject({
      ...{ code: 'config_invalid', data: { field: 'from', difference: 'observation "obs".size' } },
    })
  })

  it('writes its parent into agent.json and the model card', async () => {
    const { start } = await parentOf('ppo')
    const { outcome } = await recordedTraining(scenario, { plan: planOf(start, 'ppo', { steps: 80 }), start })
    if (outcome === null) throw new Error('it was stopped')
    const folder = join(temporaryFolder(), 'child')
    const manifest = await packageAgent(folder, { outcome, scenario })
    expect(manifest.parent).toEqual({
      ...{ name: '@acme/parent', version: '1.2.0', license: 'UNLICENSED' },
      model_hash: start.parent.model_hash,
    })
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain('from the weights of `@acme/parent@1.2.0`')
    expect((await readWarmStart(folder)).parent.name).toBe('fixture-ppo')
  })
})
