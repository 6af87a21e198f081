import { describe, expect, test } from 'vitest'
import { counter } from '../../test/counter.ts'
import { faultOf, startEngine, trajectories } from '../../test/start-engine.ts'
import { walk } from '../../test/walk.ts'
import { box, defineScenario, dict, discrete, multiDiscrete, text } from '../index.ts'
import { BOARD_CLOCK, BOARD_PHASE, MAX_METRICS, phases, TERMINATED, TRUNCATED } from './index.ts'

describe('episodes', () => {
  test('a terminated episode gives its last observation, its accounts and the next first observation', () => {
    const { engine, buffers } = startEngine(counter(3, 100))
    engine.reset()
    const seen: number[][] = []
    for (let step = 0; step < 7; step += 1) {
      engine.step()
      seen.push([buffers.flags[0], buffers.rewards[0], buffers.observations[0]])
    }
    expect(seen).toEqual([
      [0, 1, 1],
      [0, 2, 2],
      [TERMINATED, 3, 0],
      [0, 1, 1],
      [0, 2, 2],
      [TERMINATED, 3, 0],
      [0, 1, 1],
    ])
    expect(buffers.finalObservations[0]).toBe(3)
    expect([buffers.episodeReturns[0], buffers.episodeLengths[0], buffers.episodeNumbers[0]]).toEqual([6, 3, 1])
    expect(engine.metricNames()).toEqual(['count'])
    expect(buffers.metrics[0]).toBe(3)
  })

  test('the time limit truncates; an end at the very limit is a termination only', () => {
    const limited = startEngine(counter(10, 3))
    limited.engine.reset()
    for (let step = 0; step < 3; step += 1) limited.engine.step()
    expect(limited.buffers.flags[0]).toBe(TRUNCATED)
    expect(limited.buffers.finalObservations[0]).toBe(3)
    const both = startEngine(counter(3, 3))
    both.engine.reset()
    for (let step = 0; step < 3; step += 1) both.engine.step()
    expect(both.buffers.flags[0]).toBe(TERMINATED)
  })

  test('B03: an author may reuse one array for every observation of every environment', () => {
    const shared = new Float32Array(1)
    const scenario = defineScenario({
      observation: box({ shape: [1] }),
      action: discrete({ n: 1 }),
      maxSteps: 10,
      reset() {
        shared[0] = 0
        return { step: 0 }
      },
      step(state) {
        state.step += 1
        shared[0] = state.step === 2 ? 7 : 1
        return { reward: 0, terminated: state.step === 2 }
      },
      observe: () => shared,
      metrics: () => ({ seen: shared[0] }),
    })
    const { engine, buffers } = startEngine(scenario, { environments: 2 })
    engine.reset()
    engine.step()
    engine.step()
    expect(Array.from(buffers.finalObservations)).toEqual([7, 7])
    expect(Array.from(buffers.observations)).toEqual([0, 0])
    expect([buffers.metrics[0], buffers.metrics[MAX_METRICS]]).toEqual([7, 7])
  })

  test('an absent metric is NaN; the names are those of the first episode', () => {
    let episodes = 0
    const { engine, buffers } = startEngine({
      ...counter(1, 5),
      metrics: () => (episodes++ === 0 ? { a: 1, b: 2 } : { b: 3 }),
    })
    engine.reset()
    engine.step()
    engine.step()
    expect(engine.metricNames()).toEqual(['a', 'b'])
    expect(Array.from(buffers.metrics.subarray(0, 2))).toEqual([Number.NaN, 3])
  })

  test('`this` is the definition in every callback, and cannot change the engine', () => {
    class Fixed {
      observation = box({ shape: [1] })
      action = discrete({ n: 1 })
      maxSteps = 5
      bonus = 4
      reset() {
        return { value: this.bonus }
      }
      step(state: { value: number }) {
        expect(() => Object.assign(this, { observe: () => [99] })).toThrow(TypeError)
        return { reward: this.bonus, terminated: state.value === 0 }
      }
      observe(state: { value: number }) {
        return [state.value + this.bonus]
      }
    }
    const { engine, buffers } = startEngine(new Fixed())
    engine.reset()
    engine.step()
    expect([buffers.rewards[0], buffers.observations[0]]).toEqual([4, 8])
  })
})

describe('actions', () => {
  /** Plays one step and returns what the author was given. */
  function received(action: Parameters<typeof defineScenario>[0]['action'], row: number[], again = row): unknown[] {
    const seen: unknown[] = []
    const { engine, buffers } = startEngine({
      observation: box({ shape: [1] }),
      action,
      maxSteps: 5,
      reset: () => ({}),
      step(_state: unknown, given: unknown) {
        seen.push(given)
        return { reward: 0, terminated: false }
      },
      observe: () => [0],
    })
    engine.reset()
    buffers.actions.set(row)
    engine.step()
    buffers.actions.set(again)
    engine.step()
    return seen
  }

  test('B05: the start offset reaches the author, also where there is one action', () => {
    expect(received(discrete({ n: 1, start: 2 }), [0])).toEqual([2, 2])
    expect(received(discrete({ n: 3, start: -1 }), [0], [2])).toEqual([-1, 1])
  })

  test('a box action is clipped, and a new array every time', () => {
    const given = received(box({ shape: [2], low: [-1, 0], high: 1 }), [-3, 0.5], [0.25, 9]) as Float32Array[]
    expect(given.map((action) => Array.from(action))).toEqual([
      [-1, 0.5],
      [0.25, 1],
    ])
    expect(given[0]).toBeInstanceOf(Float32Array)
    expect(given[0].buffer).not.toBe(given[1].buffer)
    expect(given[0].buffer).toBeInstanceOf(ArrayBuffer)
  })

  test('multiDiscrete gives a new array of numbers, dict an object of its entries', () => {
    expect(received(multiDiscrete({ nvec: [3, 2, 2, 2, 2, 2] }), [2, 1, 0, 1, 0, 1])[0]).toEqual([2, 1, 0, 1, 0, 1])
    const space = dict({
      tool: discrete({ n: 2, start: 5 }),
      knobs: dict({ gain: box({ shape: [1] }), mode: multiDiscrete({ nvec: [2, 4] }) }),
    })
    expect(received(space, [1, 0.5, 1, 3])[0]).toEqual({
      tool: 6,
      knobs: { gain: new Float32Array([0.5]), mode: [1, 3] },
    })
  })

  test('an index out of range or a NaN is a mistake of the host, not a fault of the scenario', () => {
    for (const wrong of [2, -1, 0.5, Number.NaN])
      expect(() => received(discrete({ n: 2 }), [wrong])).toThrow(/engine: /)
    expect(() => received(box({ shape: [1] }), [Number.NaN])).toThrow(/engine: /)
  })
})

describe('observations and masks', () => {
  test('a dict is encoded in the order of the space, not of the sample', () => {
    const space = dict({
      b: discrete({ n: 5, start: 2 }),
      a: box({ shape: [2] }),
      inner: dict({ t: text({ maxTokens: 2 }) }),
    })
    const { engine, buffers, description } = startEngine({
      ...counter(5, 5),
      observation: space,
      observe: () => ({ inner: { t: '' }, a: [0.5, 1], b: 6 }),
    })
    engine.reset()
    expect(description.sizes.observation).toBe(5)
    expect(Array.from(buffers.observations)).toEqual([4, 0.5, 1, 0, 0])
  })

  test('masks have one byte a logit: discrete, multiDiscrete, dict without its boxes', () => {
    const masked = (action: unknown, mask: unknown) => {
      const { engine, buffers } = startEngine({ ...counter(5, 5), action, actionMask: () => mask })
      engine.reset()
      return Array.from(buffers.masks)
    }
    expect(masked(discrete({ n: 3 }), [true, false, true])).toEqual([1, 0, 1])
    const components = [
      [false, true],
      [true, false, false],
    ]
    expect(masked(multiDiscrete({ nvec: [2, 3] }), components)).toEqual([0, 1, 1, 0, 0])
    const action = dict({ gain: box({ shape: [4] }), tool: discrete({ n: 2 }), pair: multiDiscrete({ nvec: [2, 3] }) })
    expect(masked(action, { pair: components, tool: [true, true] })).toEqual([1, 1, 0, 1, 1, 0, 0])
  })
})

describe('the board', () => {
  test('says which call runs, counts vector steps, and is idle between operations', () => {
    const seen: string[] = []
    const noted = <Value>(value: Value): Value => {
      const { board } = started.buffers
      seen.push(`${phases[board[BOARD_PHASE]]} ${board[1]} ${board[2]} ${board[3]}`)
      return value
    }
    const started: ReturnType<typeof startEngine> = startEngine(
      {
        ...counter(1, 5),
        reset: () => noted({ count: 0 }),
        step: () => noted({ reward: 0, terminated: true }),
        observe: () => noted([0]),
        actionMask: () => noted([true, true]),
        metrics: () => noted({}),
      },
      { firstEnvironment: 40 },
    )
    started.engine.reset()
    expect(started.buffers.board[BOARD_PHASE]).toBe(0)
    started.engine.step()
    expect(started.buffers.board[BOARD_CLOCK]).toBe(2)
    expect(seen).toEqual([
      'reset 40 0 0',
      'observe 40 0 0',
      'actionMask 40 0 0',
      'step 40 1 0',
      'observe 40 1 0',
      'metrics 40 1 0',
      'reset 40 0 1',
      'observe 40 0 1',
      'actionMask 40 0 1',
    ])
  })
})

test('after a fault the engine refuses to go on, and step comes after reset', () => {
  const { engine } = startEngine({ ...counter(3, 5), step: () => 5 })
  expect(() => engine.step()).toThrow('step before reset')
  engine.reset()
  expect(faultOf(() => engine.step()).code).toBe('scenario_invalid')
  expect(() => engine.step()).toThrow('used after a fault')
})

test('two engines of one scenario do not touch each other', () => {
  const alone = trajectories(startEngine(walk, { environments: 2 }), 40)
  const a = startEngine(walk, { environments: 2 })
  const b = startEngine(walk, { environments: 2, seed: 8 })
  b.engine.reset()
  const together = trajectories(a, 40)
  expect(together).toEqual(alone)
})
