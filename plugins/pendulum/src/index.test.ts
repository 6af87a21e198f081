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
    const [angle, speed] = transition.state
    const state = { angle, speed }
    const { reward, terminated } = await scenario.step(state, new Float32Array([transition.action]), context)
    const reached = [state.angle, state.speed]
    // Sines differ in the last bit between C libraries, hence a tolerance.
    reached.forEach((value, i) => {
      expect(value, where).toBeCloseTo(transition.next[i], 12)
    })
    expect(reward, where).toBeCloseTo(transition.reward, 12)
    expect(terminated, where).toBe(transition.terminated)
    Array.from(scenario.observe(state)).forEach((value, i) => {
      expect(Math.fround(value), where).toBeCloseTo(transition.observation[i], 6)
    })
  }
})

test('an episode starts where the documentation says', async () => {
  const starts = await Promise.all(Array.from({ length: 1000 }, () => scenario.reset(context)))
  const angles = starts.map((state) => state.angle)
  expect(Math.min(...angles)).toBeGreaterThanOrEqual(-Math.PI)
  expect(Math.min(...angles)).toBeLessThan(-3.1)
  expect(Math.max(...angles)).toBeLessThan(Math.PI)
  expect(Math.max(...angles)).toBeGreaterThan(3.1)
  const speeds = starts.map((state) => state.speed)
  expect(Math.min(...speeds)).toBeGreaterThanOrEqual(-1)
  expect(Math.min(...speeds)).toBeLessThan(-0.98)
  expect(Math.max(...speeds)).toBeLessThan(1)
  expect(Math.max(...speeds)).toBeGreaterThan(0.98)
})
