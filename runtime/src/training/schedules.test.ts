import { resolveTrainingPlan } from '@agentgym/contract'
import { expect, it } from 'vitest'
import type { Learner } from '../learner/learner-types.ts'
import { a2c } from './a2c.ts'
import type { Algorithm } from './algorithm.ts'
import { nothingLearned } from './algorithm.ts'
import { settingsOf } from './checkpoint.ts'
import { grpo } from './grpo.ts'
import { ppo } from './ppo.ts'

type Parts = Parameters<typeof ppo>[0] & Parameters<typeof a2c>[0] & Parameters<typeof grpo>[0]

/** The learning rates and entropy coefficients of updates at the start, the middle and three quarters of a run. */
async function updatesOf(name: 'ppo' | 'a2c' | 'grpo', settings: Record<string, unknown>) {
  const plan = resolveTrainingPlan({}, { algorithm: name, steps: 800, settings })
  const updates: { learningRate: number; entropyCoefficient: number }[] = []
  const learner = {
    weights: () => new Float32Array(0),
    update: async (_: unknown, { learningRate, entropyCoefficient }: (typeof updates)[number]) => {
      updates.push({ learningRate, entropyCoefficient })
      return nothingLearned
    },
  } as unknown as Learner
  const collect = async () => ({ segments: [], episodes: [] })
  const collector = { collect, collectEpisodes: collect, snapshot: async () => [], restore: async () => {} }
  const parts = { settings: plan.settings, seed: 1, collector, learner, observe: () => {} } as unknown as Parts
  const algorithm: Algorithm = { ppo, a2c, grpo }[name](parts)
  for (const steps of [0, 400, 600]) await algorithm.iterate({ iteration: steps, steps })
  return updates
}

const batches = {
  ppo: { environments: 4, rollout_steps: 10, minibatch_size: 8, epochs: 1, gamma: 1, gae_lambda: 1 },
  a2c: { environments: 4, rollout_steps: 10, gamma: 1, gae_lambda: 1 },
  grpo: { groups: 2, group_size: 2 },
}

it.each(['ppo', 'a2c', 'grpo'] as const)('schedules of %s fall in a straight line, each by itself', async (name) => {
  const set = { ...batches[name], learning_rate: 0.01, entropy_coefficient: 0.2 }
  const falling = await updatesOf(name, { ...set, entropy_coefficient_schedule: 'linear' })
  const expected = [
    [0.01, 0.2],
    [0.005, 0.1],
    [0.0025, 0.05],
  ]
  expect(falling).toEqual(
    expected.map(([rate, entropy]) => ({
      learningRate: expect.closeTo(rate, 12),
      entropyCoefficient: expect.closeTo(entropy, 12),
    })),
  )
  const constant = await updatesOf(name, { ...set, learning_rate_schedule: 'constant' })
  expect(constant).toEqual(Array(3).fill({ learningRate: 0.01, entropyCoefficient: 0.2 }))
})

it('a checkpoint from before the schedule of entropy continues with a constant coefficient', () => {
  const plan = resolveTrainingPlan({})
  const { entropy_coefficient_schedule: _, ...settings } = plan.settings as Record<string, unknown>
  expect(settingsOf({ ...plan, settings } as typeof plan)).toMatchObject({ entropy_coefficient_schedule: 'constant' })
  expect(settingsOf(plan)).toMatchObject({ entropy_coefficient_schedule: null })
  expect(settingsOf(resolveTrainingPlan({}, { algorithm: 'dqn' }))).not.toHaveProperty('entropy_coefficient_schedule')
})
