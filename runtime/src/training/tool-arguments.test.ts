// @module-tag full
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentManifestSchema, resolveTrainingPlan } from '@agentgym/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeFixtures, toolScenarioOf, trained } from '../../test/scenario-fixture.ts'
import { evaluateAgent } from '../evaluation/evaluate-agent.ts'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { checkpointOf, recordedTraining } from './testing/recorded-training.ts'

afterAll(removeFixtures)

let scenario: BuiltScenario
beforeAll(async () => {
  scenario = await toolScenarioOf(`
    observation: dict({ goal: box({ shape: [1] }), items: list({ slots: 4, features: 1 }) }),
    maxSteps: 3,
    start({ rng }) {
      const goal = rng.pick([-1, 1])
      return { goal, items: rng.shuffle([-1, 1, 0]).slice(0, 2 + rng.int(2)), off: 0 }
    },
    tools: {
      wait: { description: 'Waits', run: () => ({ reward: -1 }) },
      take: tool({
        description: 'Takes an item',
        parameters: { item: pointer('items'), amount: number({ low: -2, high: 2 }), kind: choice(['a', 'b']) },
        run(state, { item, amount, kind }) {
          const off = Math.abs(amount - state.goal)
          return { reward: (item === String(state.goal) ? 1 : 0) - off + (kind === 'b' ? 1 : 0), done: true }
        },
      }),
    },
    observe: (state) => ({ goal: [state.goal], items: state.items.map((x) => ({ id: String(x), features: [x] })) }),
    outcome: () => 0,`)
})

const settings = {
  ppo: { steps: 1024, environments: 8, rollout_steps: 16, minibatch_size: 64 },
  a2c: { steps: 1024, environments: 8, rollout_steps: 8 },
  grpo: { steps: 1024, groups: 4, group_size: 4 },
}
const run = (algorithm: keyof typeof settings, changes: object = {}, checkpoint: Uint8Array | null = null) => {
  const shared = { hidden: [16], evaluation_episodes: 8, checkpoint_every: 1, normalize_observation: true }
  const plan = resolveTrainingPlan({}, { algorithm, settings: { ...settings[algorithm], ...shared, ...changes } })
  return recordedTraining(scenario, { plan, checkpoint })
}

describe('tools with arguments', { timeout: 120_000 }, () => {
  it.each(['ppo', 'a2c', 'grpo'] as const)('%s trains them to the same bits, resumed or not', async (algorithm) => {
    const whole = await run(algorithm)
    const [bytes] = checkpointOf(whole.checkpoints, 2)
    const resumed = await run(algorithm, {}, bytes)
    expect(resumed.outcome?.weights).toEqual(whole.outcome?.weights)
    expect(resumed.outcome?.evaluation).toEqual(whole.outcome?.evaluation)
  })

  it.each([
    [{}, true, true],
    [{ parameter_selection: false }, true, false],
    [{ tool_selection: false }, false, true],
  ])('agent.json says what was trained, and evaluation honors it: %j', async (changes, tools, parameters) => {
    const { out, result } = await trained(scenario, { ...settings.ppo, hidden: '[16]' as never, ...changes })
    const manifest = agentManifestSchema.parse(JSON.parse(readFileSync(join(out, 'agent.json'), 'utf8')))
    expect(manifest.trainable).toEqual({
      ...{ tool_selection: tools, parameter_selection: parameters },
      ...{ tool_execution: false, output_generation: false },
    })
    const { episodes, seed } = manifest.evaluation
    expect(await evaluateAgent({ agent: out, scenario, episodes, seed })).toEqual(result.evaluation)
    const other = { ...manifest, trainable: { ...manifest.trainable, parameter_selection: !parameters } }
    expect(agentManifestSchema.safeParse(other).success).toBe(false)
  })
})
