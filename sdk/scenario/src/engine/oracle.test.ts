import { describe, expect, test } from 'vitest'
import { scenario } from '../../test/expect-fault.ts'
import { faultOf, type StartedEngine, startEngine, trajectories } from '../../test/start-engine.ts'
import { walk } from '../../test/walk.ts'
import { box, defineScenario, dict, discrete, frameStack, multiDiscrete, type Rng } from '../index.ts'
import { describeScenario } from './index.ts'

/** Asks for the oracle's action of the first state. */
function actionOf(parts: Record<string, unknown>, environments = 1): number[] {
  const { engine, buffers } = startEngine(scenario(parts), { environments })
  engine.reset()
  engine.oracle()
  return Array.from(buffers.actions)
}

const faultOfOracle = (parts: Record<string, unknown>) => faultOf(() => actionOf(parts))

test('an action is what step receives', () => {
  expect(actionOf({ action: discrete({ n: 3, start: 5 }), oracle: () => 7 })).toEqual([2])
  expect(actionOf({ action: multiDiscrete({ nvec: [3, 4] }), oracle: () => [2, 3] })).toEqual([2, 3])
  const shape = box({ shape: [2], low: -1, high: 1 })
  expect(actionOf({ action: shape, oracle: () => Float64Array.of(-1, 0.5) })).toEqual([-1, 0.5])
  const action = dict({ push: shape, turn: discrete({ n: 2 }) })
  expect(actionOf({ action, oracle: () => ({ turn: 1, push: [0.25, 0] }) })).toEqual([0.25, 0, 1])
})

describe('an action that is malformed or illegal is named', () => {
  const three = discrete({ n: 3, labels: ['left', 'stay', 'right'] })
  const wide = box({ shape: [2], low: -1, high: 1 })
  const both = dict({ push: wide, turn: discrete({ n: 2 }) })
  test.each<[Record<string, unknown>, string | RegExp]>([
    [{ action: three, oracle: () => 3 }, "oracle's action is 3 where an integer from 0 to 2 belongs"],
    [{ action: three, oracle: () => '1' }, /is the string "1" where an integer/],
    [
      { action: three, actionMask: () => [true, true, false], oracle: () => 2 },
      'oracle\'s action is "right", which is not legal in this state',
    ],
    [{ action: three, oracle: async (): Promise<number> => 1 }, 'oracle returned a promise'],
    [{ action: multiDiscrete({ nvec: [2, 2] }), oracle: () => [0] }, /has 1 entries where the space has 2/],
    [
      { action: multiDiscrete({ nvec: [2, 2] }), oracle: () => [0, 2] },
      /action\[1\] is 2 where an integer from 0 to 1/,
    ],
    [
      {
        action: multiDiscrete({ nvec: [2, 3] }),
        actionMask: () => [
          [true, true],
          [true, false, true],
        ],
        oracle: () => [1, 1],
      },
      /action\[1\] is 1, which is not legal/,
    ],
    [{ action: wide, oracle: () => [0, 1.5] }, /action\[1\] is 1.5, outside its bounds -1 to 1/],
    [{ action: wide, oracle: () => [0, Number.NaN] }, /action\[1\] is NaN where a finite number/],
    [{ action: wide, oracle: () => 1 }, /is 1 where a list of numbers belongs/],
    [{ action: both, oracle: () => ({ push: [0, 0] }) }, /action.turn is undefined where an integer/],
    [{ action: both, oracle: () => ({ push: [0, 0], turn: 0, jump: 1 }) }, /has the string "jump", which/],
  ])('%j', (parts, message) => {
    expect(faultOfOracle(parts)).toMatchObject({
      ...{ code: 'scenario_invalid', phase: 'oracle', environment: 0, step: 0, episode: 0 },
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
  })

  test('what it throws', () => {
    const oracle = (): number => {
      throw new Error('no idea')
    }
    expect(faultOfOracle({ oracle })).toMatchObject({ code: 'scenario_threw', message: 'oracle threw: no idea' })
  })
})

test('a definition says whether it has an oracle, which must be a function', () => {
  expect(describeScenario(scenario({})).oracle).toBeUndefined()
  expect(describeScenario(scenario({ oracle: () => 0 })).oracle).toBe(true)
  expect(() => startEngine(scenario({ oracle: 3 }))).toThrow(expect.objectContaining({ code: 'scenario_invalid' }))
  const { engine } = startEngine(scenario({}))
  engine.reset()
  expect(() => engine.oracle()).toThrow('the scenario has no oracle')
})

/** The walk with randomness of both kinds, and an oracle that draws both too. */
const wild = (oracle?: (state: Awaited<ReturnType<typeof walk.reset>>, context: { rng: Rng }) => number) =>
  defineScenario({
    ...walk,
    step(state, action, context) {
      state.position += Math.random() / 10
      return walk.step(state, action, context)
    },
    ...(oracle === undefined ? {} : { oracle }),
  })

/** Lets `Math.random` draw from the engine, as the sandbox does. */
function withEngineRandom<Result>({ engine }: StartedEngine, body: () => Result): Result {
  const { random } = Math
  Math.random = () => engine.currentRandom()
  try {
    return body()
  } finally {
    Math.random = random
  }
}

test('what the oracle draws disturbs no episode, and depends on seed and episode alone', () => {
  const plain = startEngine(wild(), { environments: 3 })
  const expected = withEngineRandom(plain, () => trajectories(plain, 30))
  const draws: number[][] = [[], []]
  const oracle =
    (of: number) =>
    (state: { position: number }, { rng }: { rng: Rng }) => {
      draws[of].push(rng(), Math.random())
      return state.position > 0 ? -1 : 1
    }
  const consulted = [0, 1].map((of) => {
    const started = startEngine(wild(oracle(of)), { environments: 3 })
    const { engine } = started
    const step = engine.step.bind(engine)
    const actions = started.buffers.actions
    engine.step = () => {
      const chosen = actions.slice()
      engine.oracle()
      actions.set(chosen)
      return step()
    }
    return withEngineRandom(started, () => trajectories(started, 30))
  })
  expect(consulted[0]).toEqual(expected)
  expect(consulted[1]).toEqual(expected)
  expect(draws[0]).toHaveLength(180)
  expect(draws[0]).toEqual(draws[1])
  expect(new Set(draws[0]).size).toBe(180)
})

test('an environment that has played its episodes is left out', () => {
  let asked = 0
  const oracle = (): number => {
    asked += 1
    return 0
  }
  const plan = { split: 'eval', episodes: 2 } as const
  const { engine } = startEngine(scenario({ oracle, maxSteps: 1 }), { environments: 3, plan })
  engine.reset()
  engine.oracle()
  expect(asked).toBe(2)
})

test('a stack of frames keeps the oracle', () => {
  const stacked = frameStack(
    defineScenario({
      ...{ observation: box({ shape: [1] }), action: discrete({ n: 4 }), maxSteps: 3 },
      reset: () => ({ right: 3 }),
      step: () => ({ reward: 0, terminated: false }),
      observe: () => [0],
      oracle: (state) => state.right,
    }),
    { frames: 2 },
  )
  const { engine, buffers } = startEngine(stacked)
  engine.reset()
  engine.oracle()
  expect(buffers.actions[0]).toBe(3)
})
