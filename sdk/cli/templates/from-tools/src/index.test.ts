import { playEpisode } from '@agentgym/scenario/testing'
import { expect, test } from 'vitest'
import scenario from './index.ts'

test('the same seed plays the same episode', async () => {
  const episode = await playEpisode(scenario, 'oracle', { seed: 7 })
  expect(await playEpisode(scenario, 'oracle', { seed: 7 })).toEqual(episode)
  expect(await playEpisode(scenario, 'oracle', { seed: 8 })).not.toEqual(episode)
})

test('the oracle solves every request', async () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const { metrics } = await playEpisode(scenario, 'oracle', { seed })
    expect(metrics).toMatchObject({ solved: 1, tool_reliability: 1 })
  }
})

// To notice every change of an episode, keep one as it is: `expectGolden(episode, 'golden.json')` of the same module compares it
// with what `agentgym scenario test --update` has recorded.
