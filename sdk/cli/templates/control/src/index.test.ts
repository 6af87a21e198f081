import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import scenario from './index.ts'

const RIGHT = 2

async function start(seed: number) {
  const context = { rng: createRng(seed), task: { split: 'train', index: 0 } } as const
  return { context, state: await scenario.reset(context) }
}

test('the same seed starts the same episode', async () => {
  const { state } = await start(7)
  expect((await start(7)).state).toEqual(state)
  expect((await start(8)).state).not.toEqual(state)
})

test('pushing right moves the puck right', async () => {
  const { state, context } = await start(7)
  const before = state.position
  const { reward, terminated } = await scenario.step(state, RIGHT, context)
  expect(state.position).toBeGreaterThan(before)
  expect(reward).toBeLessThanOrEqual(1)
  expect(terminated).toBe(false)
})
