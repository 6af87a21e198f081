import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import scenario, { CORRIDOR, FORWARD, LEFT, RIGHT, type State } from './index.ts'

const context = (seed: number) => ({ rng: createRng(seed), task: { split: 'train', index: 0 } }) as const

async function walk(seed: number, turn: (sign: number) => number): Promise<{ state: State; rewards: number[] }> {
  const episode = context(seed)
  const state = await scenario.reset(episode)
  const rewards: number[] = []
  for (let step = 0; step < CORRIDOR; step += 1) {
    // The sign is visible on the first step alone; the junction on the last.
    expect(scenario.observe(state)).toEqual([step === 0 ? (state.sign === LEFT ? -1 : 1) : 0, 0])
    rewards.push((await scenario.step(state, FORWARD, episode)).reward)
  }
  expect(scenario.observe(state)).toEqual([0, 1])
  const { reward, terminated } = await scenario.step(state, turn(state.sign), episode)
  expect(terminated).toBe(true)
  return { state, rewards: [...rewards, reward] }
}

test('turning as the sign says solves it; the other way does not', async () => {
  const signs = new Set<number>()
  for (let seed = 0; seed < 20; seed += 1) {
    const right = await walk(seed, (sign) => sign)
    signs.add(right.state.sign)
    expect(right.rewards.reduce((a, b) => a + b)).toBe(1)
    expect(scenario.metrics?.(right.state)).toEqual({ solved: 1 })
    const wrong = await walk(seed, (sign) => (sign === LEFT ? RIGHT : LEFT))
    expect(wrong.rewards.at(-1)).toBe(-1)
    expect(scenario.metrics?.(wrong.state)).toEqual({ solved: 0 })
  }
  expect([...signs].sort()).toEqual([LEFT, RIGHT])
})

test('turning in the corridor and walking on at the junction cost a little and change nothing', async () => {
  const episode = context(1)
  const state = await scenario.reset(episode)
  expect(await scenario.step(state, LEFT, episode)).toEqual({ reward: -0.05, terminated: false })
  expect(state.position).toBe(0)
  state.position = CORRIDOR
  expect(await scenario.step(state, FORWARD, episode)).toEqual({ reward: -0.05, terminated: false })
  expect(scenario.metrics?.(state)).toEqual({ solved: 0 })
})
