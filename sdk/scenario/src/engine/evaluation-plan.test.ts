import { describe, expect, test } from 'vitest'
import { counter } from '../../test/counter.ts'
import { startEngine } from '../../test/start-engine.ts'
import { walk } from '../../test/walk.ts'
import { box, defineScenario, discrete } from '../index.ts'
import { IDLE, TERMINATED, TRUNCATED } from './index.ts'

describe('evaluation plan', () => {
  /** B15: tasks 0 to 4 take one step and pay nothing; tasks 5 to 9 take 50 steps and pay 1 in all. */
  const uneven = defineScenario({
    observation: box({ shape: [1] }),
    action: discrete({ n: 1 }),
    maxSteps: 100,
    tasks: { train: 10, eval: 10 },
    reset: ({ task }) => ({ long: task.index >= 5, step: 0 }),
    step(state) {
      state.step += 1
      return { reward: state.long ? 1 / 50 : 0, terminated: state.step === (state.long ? 50 : 1) }
    },
    observe: (state) => [state.step],
  })

  function evaluate(environments: number, episodes: number, definition: unknown = uneven): Map<number, number> {
    const { engine, buffers } = startEngine(definition, { environments, plan: { split: 'eval', episodes } })
    const returns = new Map<number, number>()
    engine.reset()
    for (let step = 0; buffers.flags.some((flags) => (flags & IDLE) === 0); step += 1) {
      expect(step).toBeLessThan(10_000)
      engine.step()
      for (let row = 0; row < environments; row += 1) {
        if ((buffers.flags[row] & (TERMINATED | TRUNCATED)) === 0) continue
        expect(returns.has(buffers.episodeNumbers[row])).toBe(false)
        returns.set(buffers.episodeNumbers[row], buffers.episodeReturns[row])
      }
    }
    return returns
  }

  test('B15: short episodes are not over-counted: 8 environments give the mean of one', () => {
    for (const environments of [1, 8, 16]) {
      const returns = evaluate(environments, 10)
      expect([...returns.keys()].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      const mean = [...returns.values()].reduce((sum, value) => sum + value, 0) / returns.size
      expect(mean).toBeCloseTo(0.5, 12)
    }
  })

  test('an idle environment has rows that a sampler can read, and its masks leave everything legal', () => {
    const { engine, buffers } = startEngine(walk, { environments: 3, plan: { split: 'eval', episodes: 1 } })
    engine.reset()
    expect(Array.from(buffers.flags)).toEqual([0, IDLE, IDLE])
    expect(Array.from(buffers.masks.subarray(3))).toEqual([1, 1, 1, 1, 1, 1])
    for (let step = 0; step < 20; step += 1) engine.step()
    expect(Array.from(buffers.flags)).toEqual([IDLE, IDLE, IDLE])
    expect(Array.from(buffers.rewards)).toEqual([0, 0, 0])
  })

  test('evaluation is the same whatever the number of environments', () => {
    const sorted = (returns: Map<number, number>) => [...returns].sort(([a], [b]) => a - b)
    const one = sorted(evaluate(1, 12, walk))
    for (const environments of [2, 5, 12, 20]) expect(sorted(evaluate(environments, 12, walk))).toEqual(one)
  })
})

describe('tasks', () => {
  function tasksOf(tasks: unknown, split: 'train' | 'eval', episodes: number) {
    const seen: unknown[] = []
    const { engine } = startEngine(
      {
        ...counter(1, 5),
        tasks,
        reset({ task }: { task: unknown }) {
          seen.push(task)
          return { count: 0 }
        },
      },
      { plan: split === 'train' ? { split } : { split, episodes } },
    )
    engine.reset()
    for (let step = 1; step < episodes; step += 1) engine.step()
    return seen
  }

  test('training draws tasks at random; evaluation plays them in order', () => {
    const train = tasksOf({ train: 3, eval: 2 }, 'train', 60) as { split: string; index: number }[]
    expect(new Set(train.map((task) => task.index))).toEqual(new Set([0, 1, 2]))
    expect(new Set(train.map((task) => task.split))).toEqual(new Set(['train']))
    expect(tasksOf({ train: 3, eval: 2 }, 'eval', 4)).toEqual([0, 1, 0, 1].map((index) => ({ split: 'eval', index })))
  })

  test('without held-out tasks evaluation plays those of training and says so; without tasks the index is 0', () => {
    expect(tasksOf({ train: 2 }, 'eval', 3)).toEqual([0, 1, 0].map((index) => ({ split: 'train', index })))
    expect(tasksOf(undefined, 'eval', 2)).toEqual([0, 0].map((index) => ({ split: 'eval', index })))
    expect(tasksOf(undefined, 'train', 2)).toEqual([0, 0].map((index) => ({ split: 'train', index })))
  })
})
