import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import scenario from './index.ts'

async function start(seed: number) {
  const context = { rng: createRng(seed), task: { split: 'train', index: 0 } } as const
  return { context, episode: await scenario.reset(context) }
}

test('the same seed starts the same episode', async () => {
  const { episode } = await start(7)
  expect((await start(7)).episode).toEqual(episode)
  expect((await start(8)).episode).not.toEqual(episode)
})

test('looking the sender up is right once', async () => {
  const { episode, context } = await start(7)
  // Tools are numbered in the order in which the scenario lists them.
  const lookUp = { tool: 0 }
  expect(await scenario.step(episode, lookUp, context)).toEqual({ reward: 1, terminated: false })
  expect(episode.state.sender).not.toBe('unknown')
  expect(await scenario.step(episode, lookUp, context)).toEqual({ reward: -2, terminated: false })
})
