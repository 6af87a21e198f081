import { playEpisode } from '@agentgym/scenario/testing'
import { expect, test } from 'vitest'
import scenario from './index.ts'

test('the same seed plays the same episode', async () => {
  const actions = ['right', 'coast', 'left']
  const episode = await playEpisode(scenario, actions, { seed: 7 })
  expect(await playEpisode(scenario, actions, { seed: 7 })).toEqual(episode)
  expect(await playEpisode(scenario, actions, { seed: 8 })).not.toEqual(episode)
})

test('pushing right brings a target on the right closer', async () => {
  const { observations, rewards, terminated } = await playEpisode(scenario, ['right'], { seed: 7 })
  const [before, after] = observations.map(([distance]) => distance)
  expect(after).toBeLessThan(before)
  expect(rewards[0]).toBeLessThanOrEqual(1)
  expect(terminated).toBe(false)
})

test('the oracle holds the puck on the target', async () => {
  const { metrics, truncated } = await playEpisode(scenario, 'oracle', { seed: 7 })
  expect(truncated).toBe(true)
  expect(metrics.on_target).toBeGreaterThan(0.5)
})

// To notice every change of an episode, keep one as it is: `expectGolden(episode, 'golden.json')` of the same module compares it
// with what `agentgym scenario test --update` has recorded.
