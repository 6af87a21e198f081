import { describe, expect, test } from 'vitest'
import { chooseActions, rowsOf, settleAll, startEngine, trajectories } from '../../test/start-engine.ts'
import { walk } from '../../test/walk.ts'
import { box, defineScenario, discrete } from '../index.ts'
import { DONE, EngineFault, PENDING } from './index.ts'

/** The walk with promises: reset waits one microtask, step several, and now and then a step is synchronous. */
const asyncWalk = defineScenario({
  ...walk,
  async reset(context) {
    await null
    return walk.reset(context)
  },
  step(state, action, context) {
    if (state.position > 0.9) return walk.step(state, action, context)
    return Promise.resolve()
      .then(() => null)
      .then(() => walk.step(state, action, context))
  },
})

test('an async scenario plays exactly like the synchronous one, restore included', async () => {
  const sync = trajectories(startEngine(walk, { environments: 3 }), 40)
  const started = startEngine(asyncWalk, { environments: 3 })
  const lines: string[][] = [[], [], []]
  const note = () => lines.forEach((list, row) => void list.push(rowsOf(started, row)))
  expect(await settleAll(started.engine, started.engine.reset())).toBe(4)
  note()
  const recorded: number[] = []
  for (let step = 0; step < 40; step += 1) {
    chooseActions(started, step)
    recorded.push(started.buffers.actions[1])
    await settleAll(started.engine, started.engine.step())
    note()
  }
  expect(lines).toEqual(sync)

  const ends = sync[1].map((line) => line[0] !== '0').lastIndexOf(true)
  const episodes = sync[1].filter((line) => line[0] !== '0').length
  const restored = startEngine(asyncWalk, { environments: 3 })
  await settleAll(restored.engine, restored.engine.reset())
  await settleAll(restored.engine, restored.engine.restore(1, episodes, Float32Array.from(recorded.slice(ends))))
  expect(Array.from(restored.buffers.observations.subarray(3, 6))).toEqual(
    Array.from(started.buffers.observations.subarray(3, 6)),
  )
})

test('a synchronous scenario never waits', () => {
  const { engine } = startEngine(walk, { environments: 2 })
  expect(engine.reset()).toBe(DONE)
  expect(engine.step()).toBe(DONE)
  expect(() => engine.settle()).toThrow('nothing to settle')
})

describe('B21: promises that go wrong', () => {
  const base = {
    observation: box({ shape: [1] }),
    action: discrete({ n: 1 }),
    maxSteps: 5,
    reset: (): unknown => ({}),
    step: (): unknown => ({ reward: 0, terminated: false }),
    observe: () => [0],
  }

  async function settledFault(parts: Partial<typeof base>, environments = 1): Promise<EngineFault> {
    const { engine } = startEngine({ ...base, ...parts }, { environments })
    try {
      await settleAll(engine, engine.reset())
      await settleAll(engine, engine.step())
    } catch (thrown) {
      if (EngineFault.is(thrown)) return thrown
      throw thrown
    }
    throw new Error('no fault')
  }

  test('one that never settles is a timeout, with its environment and step', async () => {
    let calls = 0
    const step = () => {
      calls += 1
      return calls === 2 ? new Promise(() => undefined) : { reward: 0, terminated: false }
    }
    expect(await settledFault({ step }, 3)).toMatchObject({
      code: 'scenario_timeout',
      message: 'step returned a promise that never settles',
      phase: 'step',
      environment: 1,
      step: 1,
    })
    const fault = await settledFault({ reset: () => new Promise(() => undefined) })
    expect(fault).toMatchObject({ code: 'scenario_timeout', phase: 'reset', step: 0 })
  })

  test('a rejection is what was thrown', async () => {
    const step = async () => {
      await null
      throw new Error('back end down')
    }
    expect(await settledFault({ step })).toMatchObject({ code: 'scenario_threw', message: 'step threw: back end down' })
    const reset = () => Promise.reject(null)
    expect(await settledFault({ reset })).toMatchObject({ code: 'scenario_threw', message: 'reset threw: null' })
  })

  test('what a promise resolves to is checked like any result', async () => {
    expect(await settledFault({ step: async () => ({ reward: '1', terminated: false }) })).toMatchObject({
      code: 'reward_not_finite',
    })
    expect(await settledFault({ step: async () => undefined })).toMatchObject({ code: 'scenario_invalid' })
    expect(await settledFault({ reset: async () => undefined })).toMatchObject({
      message: 'reset returned undefined',
    })
  })

  test('thenables of the author settle once, and their getters may throw', async () => {
    const then = (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => {
      resolve({ reward: 1, terminated: false })
      reject(new Error('late'))
      resolve({ reward: 2, terminated: false })
    }
    const twice = Object.fromEntries([['then', then]])
    const { engine, buffers } = startEngine({ ...base, step: () => twice })
    engine.reset()
    expect(await settleAll(engine, engine.step())).toBe(2)
    expect(buffers.rewards[0]).toBe(1)
    const trap = Object.defineProperty({}, 'then', {
      get() {
        throw new Error('trap')
      },
    })
    expect(await settledFault({ step: () => trap })).toMatchObject({
      code: 'scenario_threw',
      message: 'step threw: trap',
    })
  })

  test('the host cannot step over a promise', async () => {
    const { engine } = startEngine({ ...base, step: async () => ({ reward: 0, terminated: false }) })
    engine.reset()
    expect(engine.step()).toBe(PENDING)
    expect(() => engine.step()).toThrow('settle comes first')
    await settleAll(engine, PENDING)
  })
})
