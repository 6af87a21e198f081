import { expect, test } from 'vitest'
import { describeScenario } from './engine/index.ts'
import { box, createRng, defineScenario, discrete, frameStack } from './index.ts'

const counter = defineScenario({
  observation: box({ shape: [2], low: [0, -1], high: [100, 1] }),
  action: discrete({ n: 2 }),
  maxSteps: 9,
  tasks: { train: 5, eval: 3 },
  reset: ({ task }) => ({ at: 10 * task.index, seen: [0, 0] }),
  step(state, action) {
    state.at += action + 1
    return { reward: action, terminated: state.at > 50 }
  },
  // One array for every step: a stack must not see it change.
  observe(state) {
    state.seen[0] = state.at
    return state.seen
  },
  actionMask: ({ at }) => [true, at < 3],
  metrics: ({ at }) => ({ at }),
})

const context = { rng: createRng(1), task: { split: 'train', index: 0 } } as const

test('shows the last observations, the newest last, and the first one until there are as many', async () => {
  const stacked = frameStack(counter, { frames: 3 })
  const state = await stacked.reset(context)
  expect(stacked.observe(state)).toEqual([0, 0, 0, 0, 0, 0])
  expect(await stacked.step(state, 1, context)).toEqual({ reward: 1, terminated: false })
  expect(stacked.observe(state)).toEqual([0, 0, 0, 0, 2, 0])
  await stacked.step(state, 0, context)
  await stacked.step(state, 0, context)
  expect(stacked.observe(state)).toEqual([2, 0, 3, 0, 4, 0])
  expect(stacked.actionMask?.(state)).toEqual([true, false])
  expect(stacked.metrics?.(state)).toEqual({ at: 4 })
  expect(stacked.observe(await stacked.reset({ ...context, task: { split: 'train', index: 2 } }))).toEqual([
    20, 0, 20, 0, 20, 0,
  ])
})

test('repeats the bounds; a board gets more channels, any other box more numbers', () => {
  expect(describeScenario(frameStack(counter, { frames: 2 }))).toMatchObject({
    observation: { type: 'box', shape: [4], low: [0, -1, 0, -1], high: [100, 1, 100, 1] },
    action: { type: 'discrete', n: 2 },
    maxSteps: 9,
    tasks: { train: 5, eval: 3 },
    masked: true,
  })
  const board = defineScenario({
    observation: box({ shape: [2, 3, 4], low: 0, high: 1 }),
    action: discrete({ n: 2 }),
    maxSteps: 9,
    reset: () => null,
    step: () => ({ reward: 0, terminated: false }),
    observe: () => new Float32Array(24),
  })
  const { observation } = describeScenario(frameStack(board, { frames: 4 }))
  expect(observation).toMatchObject({ shape: [8, 3, 4], low: new Array(96).fill(0), high: new Array(96).fill(1) })
})

test('refuses what it cannot stack', () => {
  expect(() => frameStack(counter, { frames: 0 })).toThrow('frames must be an integer from 1 to 64')
  const words = { ...counter, observation: discrete({ n: 2 }) } as unknown as typeof counter
  expect(() => frameStack(words, { frames: 2 })).toThrow('the observation must be a box')
  const late = frameStack({ ...counter, reset: async () => ({ at: 0, seen: [0, 0] }) }, { frames: 2 })
  expect(() => late.reset(context)).toThrow('must not be async')
})
