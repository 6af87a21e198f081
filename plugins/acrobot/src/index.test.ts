import { readFileSync } from 'node:fs'
import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import scenario from './index.ts'

type Transition = {
  state: [number, number, number, number]
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
    const state = [...transition.state] as Transition['state']
    const { reward, terminated } = await scenario.step(state, transition.action, context)
    // Sines differ in the last bit between C libraries, hence a tolerance.
    state.forEach((value, i) => {
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
  const values = starts.flat()
  expect(Math.min(...values)).toBeGreaterThanOrEqual(-0.1)
  expect(Math.min(...values)).toBeLessThan(-0.099)
  expect(Math.max(...values)).toBeLessThan(0.1)
  expect(Math.max(...values)).toBeGreaterThan(0.099)
})
