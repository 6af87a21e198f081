import { describe, expect, expectTypeOf, test } from 'vitest'
import { faultOf } from '../test/start-engine.ts'
import { walk } from '../test/walk.ts'
import { describeScenario } from './engine/index.ts'
import {
  type ActionMaskOf,
  box,
  defineScenario,
  dict,
  discrete,
  multiDiscrete,
  type Rng,
  type Task,
  text,
} from './index.ts'

const whole = {
  observation: box({ shape: [1] }),
  action: discrete({ n: 2 }),
  maxSteps: 5,
  reset: () => ({}),
  step: () => ({ reward: 0, terminated: false }),
  observe: () => [0],
}

test('a scenario is described', () => {
  expect(describeScenario(walk)).toEqual({
    observation: { type: 'box', shape: [3], low: [null, null, null], high: [null, null, null] },
    action: { type: 'discrete', n: 3, start: -1 },
    maxSteps: 9,
    tasks: { train: 50, eval: 6 },
    masked: true,
    sizes: { observation: 3, action: 1, mask: 3, text: 0 },
  })
  const bare = describeScenario(whole)
  expect([bare.masked, bare.tasks, bare.sizes.mask]).toEqual([false, { train: 0, eval: 0 }, 0])
})

describe('definitions of unknown origin', () => {
  const wrong: [unknown, string][] = [
    [undefined, 'the scenario must be the object that defineScenario returns, as the default export; got undefined'],
    [() => walk, 'the scenario must be the object that defineScenario returns, as the default export; got a function'],
    [
      { ...whole, observation: undefined },
      'observation: must be a space made by box, discrete, multiDiscrete, text, list or dict, got undefined',
    ],
    [
      { ...whole, observation: [4] },
      'observation: is not a space; make it with box, discrete, multiDiscrete, text, list or dict',
    ],
    [
      { ...whole, observation: { type: 'box', shape: [1] } },
      'observation.low: must be an array of 1 numbers, got undefined',
    ],
    [
      { ...whole, action: text({ maxTokens: 2 }) },
      'action: an action cannot be text; use discrete, multiDiscrete, box or a dict of those',
    ],
    [
      { ...whole, action: dict({ a: dict({ b: text({ maxTokens: 2 }) }) }) },
      'action.a.b: an action cannot be text; use discrete, multiDiscrete, box or a dict of those',
    ],
    [{ ...whole, action: box({ shape: [5000] }) }, 'action: has 5000 components; at most 4096'],
    [{ ...whole, action: multiDiscrete({ nvec: [60000, 60000] }) }, 'action: has 120000 choices in all; at most 65536'],
    [
      { ...whole, maxSteps: undefined },
      'maxSteps (the time limit of an episode) must be an integer from 1 to 1000000000, got undefined',
    ],
    [
      { ...whole, maxSteps: 0 },
      'maxSteps (the time limit of an episode) must be an integer from 1 to 1000000000, got 0',
    ],
    [
      { ...whole, maxSteps: 1e10 },
      'maxSteps (the time limit of an episode) must be an integer from 1 to 1000000000, got 10000000000',
    ],
    [{ ...whole, tasks: 5 }, 'tasks must be { train: number, eval: number }, got 5'],
    [{ ...whole, tasks: { eval: 5 } }, 'tasks.train must be an integer from 1 to 1000000000, got undefined'],
    [{ ...whole, tasks: { train: 5, eval: 0 } }, 'tasks.eval must be an integer from 1 to 1000000000, got 0'],
    [{ ...whole, reset: undefined }, 'reset({ rng, task }) is missing: it must be a function, got undefined'],
    [{ ...whole, step: 'x' }, 'step(state, action, { rng }) is missing: it must be a function, got the string "x"'],
    [{ ...whole, observe: {} }, 'observe(state) is missing: it must be a function, got an object'],
    [{ ...whole, actionMask: true }, 'actionMask(state) is missing: it must be a function, got true'],
    [{ ...whole, metrics: null }, 'metrics(state) is missing: it must be a function, got null'],
    [
      { ...whole, action: box({ shape: [1] }), actionMask: () => [] },
      'actionMask: a box action has nothing to mask; leave actionMask out',
    ],
  ]
  test.each(wrong)('%#', (definition, message) => {
    const fault = faultOf(() => describeScenario(definition))
    expect(fault).toMatchObject({ code: 'scenario_invalid', phase: 'define', message })
    expect(() => defineScenario(definition as typeof whole)).toThrow(TypeError)
  })

  test('getters that throw and proxies that lie are faults, and what was checked cannot change later', () => {
    const getter = {
      ...whole,
      get maxSteps(): number {
        throw new Error('mine')
      },
    }
    expect(faultOf(() => describeScenario(getter))).toMatchObject({ code: 'scenario_invalid', message: 'mine' })
    const liar = new Proxy(
      {},
      { get: () => new Proxy([], { get: (_target, key) => (key === 'length' ? 2 ** 40 : 1) }) },
    )
    expect(faultOf(() => describeScenario(liar)).code).toBe('scenario_invalid')
    const endless = { ...whole, observation: { type: 'box', shape: new Proxy([], { get: () => 1e9 }) } }
    expect(faultOf(() => describeScenario(endless)).message).toMatch(/observation.shape: must have 1 to 8 entries/)
    let reads = 0
    const shape = new Proxy([4], {
      get(target, key) {
        if (key === '0') reads += 1
        return Reflect.get(target, key)
      },
    })
    describeScenario({ ...whole, observation: { ...box({ shape: [4] }), shape } })
    expect(reads).toBe(1)
    const circular = { type: 'dict', entries: [{ name: 'a', space: undefined as unknown }] }
    circular.entries[0].space = circular
    expect(faultOf(() => describeScenario({ ...whole, observation: circular })).message).toMatch(/nested deeper than 8/)
  })
})

test('types: the action by its space, the state by what reset returns', () => {
  defineScenario({
    observation: dict({ said: text({ maxTokens: 2 }), at: box({ shape: [1] }) }),
    action: multiDiscrete({ nvec: [2, 3] }),
    maxSteps: 3,
    async reset({ rng, task }) {
      expectTypeOf(rng).toEqualTypeOf<Rng>()
      expectTypeOf(task).toEqualTypeOf<Task>()
      return { count: 1, words: ['a'] }
    },
    step(state, action) {
      expectTypeOf(state).toEqualTypeOf<{ count: number; words: string[] }>()
      expectTypeOf(action).toEqualTypeOf<number[]>()
      return { reward: 1, terminated: false }
    },
    observe: (state) => ({ said: state.words[0], at: new Float64Array([state.count]) }),
    actionMask: () => [
      [true, false],
      [true, true, true],
    ],
    metrics: (state) => ({ count: state.count }),
  })
  expectTypeOf<string>().not.toExtend<ActionMaskOf<typeof whole.action>>()
})
