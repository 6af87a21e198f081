// @module-tag full
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readAgentWithModel } from '@agentgym/agent/engine'
import { resolveTrainingPlan } from '@agentgym/contract'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evaluateAgent } from '../../src/evaluation/evaluate-agent.ts'
import { ServedAgent } from '../../src/hosting/served-agent.ts'
import type { BuiltScenario } from '../../src/sandbox/build-scenario.ts'
import { recordedTraining } from '../../src/training/testing/recorded-training.ts'
import { removeFixtures, scenarioOf, trained } from '../scenario-fixture.ts'

afterAll(removeFixtures)

let scenario: BuiltScenario
beforeAll(async () => {
  // Which of three desks a request belongs to; those of evaluation share no word with those of training.
  scenario = await scenarioOf(`
    observation: dict({ request: text({ encoder: 'minilm', maxTokens: 16 }), asked: box({ shape: [1] }) }),
    action: discrete({ n: 3 }),
    maxSteps: 2,
    tasks: { train: 12, eval: 6 },
    reset({ task }) {
      const train = ['I want my money back', 'Please give a refund', 'Return what I paid', 'Reimburse this purchase',
        'Where is my parcel', 'The package did not arrive', 'Track the delivery', 'My shipment is late',
        'I forgot my password', 'I cannot log in', 'Reset access to the account', 'Sign-in fails']
      const held = ['Refunding is desired', 'Cash should be sent back', 'When do goods come', 'Courier lost our box',
        'Unlock user credentials', 'Authentication does not work']
      return task.split === 'train'
        ? { request: train[task.index], desk: Math.floor(task.index / 4), asked: 0 }
        : { request: held[task.index], desk: Math.floor(task.index / 2), asked: 0 }
    },
    step(state, action) {
      state.asked += 1
      return { reward: action === state.desk ? 1 : 0, terminated: false }
    },
    observe(state) { return { request: state.request, asked: [state.asked] } },`)
}, 120_000)

const common = { environments: 8, hidden: [16], evaluation_episodes: 12, rollout_workers: 2 }

const variants: [algorithm: string, changes: Record<string, number | string>][] = [
  ['ppo', { steps: 640, rollout_steps: 20, checkpoint_every: 320 }],
  ['grpo', { steps: 384, group_size: 4, groups: 4, checkpoint_every: 192 }],
]
if (isLong) {
  variants.push(
    ['a2c', { steps: 640, checkpoint_every: 320 }],
    ['ppo', { steps: 640, rollout_steps: 20, checkpoint_every: 320, memory: 'gru', memory_units: 8 }],
  )
}

describe.each(variants)(
  '%s with encoded texts %o',
  (algorithm, changes) => {
    const { environments, ...others } = common
    const plan = resolveTrainingPlan(
      {},
      { algorithm, settings: { ...others, ...(algorithm === 'grpo' ? {} : { environments }), ...changes } },
    )

    it('gives the same weights for the same seed, also when it goes on from a checkpoint', async () => {
      const [whole, again] = [await recordedTraining(scenario, { plan }), await recordedTraining(scenario, { plan })]
      expect(again.outcome?.weights).toEqual(whole.outcome?.weights)
      const resumed = await recordedTraining(scenario, { plan, checkpoint: whole.checkpoints[0][0] })
      expect(resumed.progress.length).toBeLessThan(whole.progress.length)
      expect(resumed.outcome?.weights).toEqual(whole.outcome?.weights)
      expect(resumed.outcome?.evaluation).toEqual(whole.outcome?.evaluation)
      const { texts, encoded } = whole.progress.at(-1)?.text_encoding ?? { texts: 0, encoded: 0 }
      expect(texts).toBeGreaterThan(380)
      // 12 texts, each encoded once, or once by either worker.
      expect(encoded).toBeGreaterThanOrEqual(12)
      expect(encoded).toBeLessThanOrEqual(24)
    })
  },
  240_000,
)

it('learns with DQN, and with PPO understands wordings that share no word with those of training', async () => {
  const set = { steps: 6000, environments: 8, normalize_observation: true, evaluation_episodes: 60 }
  const dqn = await trained(scenario, { ...set, hidden: '32', learning_starts: 200 }, { algorithm: 'dqn' })
  expect(dqn.result.evaluation.return_mean).toBeGreaterThan(1.2)
  const ppo = await trained(scenario, { ...set, rollout_steps: 32, hidden: '32', learning_rate: 0.003 })
  // At random: 0.67 of 2.
  expect(ppo.result.evaluation.return_mean).toBeGreaterThan(1.5)
  expect(readFileSync(join(ppo.out, 'README.md'), 'utf8')).toContain('`request.embedding` is the vector of a text')
  const hosted = new ServedAgent(await readAgentWithModel(ppo.out), {
    startMs: 60_000,
    deadlineMs: 60_000,
    processMemoryMb: 2_048,
  })
  const requests = ['Please give a refund', 'Where is my parcel', 'I forgot my password']
  const answers = await hosted.answer(
    requests.map((request) => ({ id: randomUUID(), observation: { request, asked: [0] }, action_mask: null })),
  )
  expect(answers.map((answer) => ('error' in answer ? answer.error : answer.action))).toEqual([0, 1, 2])
  await hosted.end()
  const evaluation = await evaluateAgent({ agent: ppo.out, scenario, episodes: 60, seed: 0 })
  expect(evaluation).toEqual(ppo.result.evaluation)
}, 240_000)
