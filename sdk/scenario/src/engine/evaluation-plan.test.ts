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
    const { engine, buffers } = startEngine(definition, {
      environments,
      plan: { split: 'eval', episodes, taskOrder: 'numbered' },
    })
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
  type Plan = {
    split: 'train' | 'eval'
    episodes: number
    seed?: number
    taskOrder?: 'numbered' | 'drawn'
    apartFrom?: { seed: number; episodes: number }[]
  }

  function tasksOf(tasks: unknown, { split, episodes, seed = 0, taskOrder, apartFrom }: Plan) {
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
      { seed, plan: split === 'train' ? { split } : { split, episodes, taskOrder, apartFrom } },
    )
    engine.reset()
    for (let step = 1; step < episodes; step += 1) engine.step()
    return seen as { split: string; index: number }[]
  }

  test('training draws tasks at random; numbered evaluation plays them in order, whatever the seed', () => {
    const train = tasksOf({ train: 3, eval: 2 }, { split: 'train', episodes: 60 })
    expect(new Set(train.map((task) => task.index))).toEqual(new Set([0, 1, 2]))
    expect(new Set(train.map((task) => task.split))).toEqual(new Set(['train']))
    for (const seed of [0, 7, 2 ** 52]) {
      const numbered = tasksOf({ train: 3, eval: 2 }, { split: 'eval', episodes: 4, seed, taskOrder: 'numbered' })
      expect(numbered).toEqual([0, 1, 0, 1].map((index) => ({ split: 'eval', index })))
    }
  })

  test('evaluation draws its tasks from the seed: another seed plays others, also one of more than 32 bits', () => {
    const size = 1_000_000_000
    const play = (seed: number, episodes = 200) =>
      tasksOf({ train: 5, eval: size }, { split: 'eval', episodes, seed }).map(({ index }) => index)
    expect(play(3)).toEqual(play(3))
    expect(play(3, 50)).toEqual(play(3).slice(0, 50))
    const seeds = [0, 1, 987_654_321, 2 ** 32, 2 ** 32 + 1, 2 ** 33, 2 ** 53 - 1]
    const drawn = seeds.flatMap((seed) => play(seed))
    expect(new Set(drawn).size).toBe(drawn.length)
    for (const index of drawn) expect(index >= 0 && index < size && Number.isInteger(index)).toBe(true)
    const mean = drawn.reduce((sum, index) => sum + index, 0) / drawn.length
    // The mean of 1400 uniform draws has a deviation of 0.8 % of the range.
    expect(Math.abs(mean / size - 0.5)).toBeLessThan(0.03)
  })

  test('without held-out tasks evaluation plays those of training and says so; without tasks the index is 0', () => {
    expect(tasksOf({ train: 2 }, { split: 'eval', episodes: 3, taskOrder: 'numbered' })).toEqual(
      [0, 1, 0].map((index) => ({ split: 'train', index })),
    )
    const drawn = tasksOf({ train: 2 }, { split: 'eval', episodes: 40 })
    expect(new Set(drawn.map(({ split, index }) => `${split} ${index}`))).toEqual(new Set(['train 0', 'train 1']))
    expect(tasksOf(undefined, { split: 'eval', episodes: 2 })).toEqual(
      [0, 0].map((index) => ({ split: 'eval', index })),
    )
    expect(tasksOf(undefined, { split: 'train', episodes: 2 })).toEqual(
      [0, 0].map((index) => ({ split: 'train', index })),
    )
  })
  test('episodes apart from evaluations draw none of their tasks, whatever the seed', () => {
    const tasks = { train: 1000, eval: 400 }
    const evaluations = [0, 0x5e1ec7].map((seed) => ({ seed, episodes: 150 }))
    const played = new Set(
      evaluations.flatMap((plan) => tasksOf(tasks, { split: 'eval', ...plan }).map(({ index }) => index)),
    )
    for (const seed of [0, 0x5e1ec7, 7]) {
      const apart = tasksOf(tasks, { split: 'eval', episodes: 300, seed, apartFrom: evaluations })
      expect(apart.filter(({ index }) => played.has(index))).toEqual([])
      expect(new Set(apart.map(({ split }) => split))).toEqual(new Set(['eval']))
      expect(new Set(apart.map(({ index }) => index)).size).toBeGreaterThan(100)
    }
    const unlike = tasksOf(tasks, { split: 'eval', episodes: 300, seed: 7 })
    expect(unlike.filter(({ index }) => played.has(index)).length, 'without it they would').toBeGreaterThan(50)
  })

  test('episodes apart from evaluations have random numbers of their own, also without tasks', () => {
    const numbers = (seed: number, plan: object) => {
      const { engine, buffers } = startEngine(walk, {
        environments: 8,
        seed,
        plan: { split: 'eval', episodes: 8, ...plan },
      })
      engine.reset()
      // The others are counts, and the task.
      return Array.from(buffers.observations).filter((_, column) => column % 3 === 0)
    }
    expect(numbers(3, { apartFrom: [] })).not.toEqual(numbers(3, {}))
    expect(numbers(3, { apartFrom: [] })).toEqual(numbers(3, { apartFrom: [{ seed: 3, episodes: 8 }] }))
  })

  test('a scenario that has no task left is refused', () => {
    const plan = { split: 'eval', episodes: 1, apartFrom: [{ seed: 0, episodes: 100 }] } as const
    expect(() => tasksOf({ train: 5, eval: 2 }, { ...plan, apartFrom: [...plan.apartFrom] })).toThrow(
      'no held-out tasks',
    )
  })
})
