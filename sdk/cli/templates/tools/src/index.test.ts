import { playEpisode } from '@agentgym/scenario/testing'
import { expect, test } from 'vitest'
import scenario from './index.ts'

const lookUp = { tool: 'look_up_sender' }

test('the same seed plays the same episode', async () => {
  const episode = await playEpisode(scenario, [lookUp], { seed: 7 })
  expect(await playEpisode(scenario, [lookUp], { seed: 7 })).toEqual(episode)
  expect(await playEpisode(scenario, [lookUp], { seed: 8 })).not.toEqual(episode)
})

test('looking the sender up is right once', async () => {
  const { rewards, observations } = await playEpisode(scenario, [lookUp, lookUp], { seed: 7 })
  expect(rewards).toEqual([1, -2])
  expect(observations.map(({ sender }) => sender[0] === 0)).toEqual([true, false, false])
})

test('the oracle solves every message', async () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const { metrics, actions } = await playEpisode(scenario, 'oracle', { seed })
    expect(metrics).toMatchObject({ solved: 1, tool_reliability: 1 })
    expect(actions).toHaveLength(2)
  }
})

// To notice every change of an episode, keep one as it is: `expectGolden(episode, 'golden.json')` of the same module compares it
// with what `agentgym scenario test --update` has recorded.
