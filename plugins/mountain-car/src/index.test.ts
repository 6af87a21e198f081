import { readFileSync } from 'node:fs'
import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import scenario from './index.ts'

type Transition = {
  state: [number, number]
  action: number
  next: number[]
  observation: number[]
  reward: number
  terminated: boolean
}
const { transitions } = JSON.parse(readFileSync(new URL('../testdata/transitions.json', import.meta.url), 'utf8')) as {
  transitions: Transition[]
}
const context = { rng: createRng(1), task: { split: 'train', index: 0 } } as const

test('a step does what the published equations say', async () => {
  for (const [index, transition] of transitions.entries()) {
    const where = `transition ${index}`
    const [position, velocity] = transition.state
    const state = { position, velocity }
    const { reward, terminated } = await scenario.step(state, transition.action, context)
    const reached = [state.position, state.velocity]
    // Sines differ in the last bit between C libraries, hence a tolerance.
    reached.forEach((value, i) => {
      expect(value, where).toBeCloseTo(transition.next[i], 12)
    })
    expect(reward, where).toBe(transition.reward)
    expect(terminated, where).toBe(transition.terminated)
    Array.from(scenario.observe(state)).forEach((value, i) => {
      expect(Math.fround(value), where).toBeCloseTo(transition.observation[i], 6)
    })
  }
})

test('an episode starts where the documentation says', async () => {
  const starts = await Promise.all(Array.from({ length: 1000 }, () => scenario.reset(context)))
  const positions = starts.map((state) => state.position)
  expect(Math.min(...positions)).toBeGreaterThanOrEqual(-0.6)
  expect(Math.min(...positions)).toBeLessThan(-0.598)
  expect(Math.max(...positions)).toBeLessThan(-0.4)
  expect(Math.max(...positions)).toBeGreaterThan(-0.402)
  expect(starts.every((state) => state.velocity === 0)).toBe(true)
})
