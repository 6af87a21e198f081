import { describe, expect, test } from 'vitest'
import { expectFault, faultIn, scenario } from '../../test/expect-fault.ts'
import { startEngine } from '../../test/start-engine.ts'
import { dict, discrete, text } from '../index.ts'

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  return proxy
}

describe('rewards are never coerced', () => {
  const rewards: [unknown, string][] = [
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
    [1e308, '1e+308, which is infinite in float32'],
    [1e39, '1e+39, which is infinite in float32'],
    ['1', 'the string "1"'],
    [1n, 'a BigInt'],
    [undefined, 'undefined'],
    [null, 'null'],
    [true, 'true'],
    [[1], 'an array'],
    [{ valueOf: () => 1 }, 'an object'],
    [Symbol('one'), 'a symbol'],
    [new Proxy({}, {}), 'an object'],
  ]
  test.each(rewards)('%#: %s', (reward, words) => {
    expectFault(
      { step: () => ({ reward, terminated: false }) },
      'reward_not_finite',
      `step returned the reward ${words}`,
    )
  })

  test('the largest float32 passes', () => {
    const { engine, buffers } = startEngine(
      scenario({ step: () => ({ reward: 3.4028234663852886e38, terminated: false }) }),
    )
    engine.reset()
    engine.step()
    expect(buffers.rewards[0]).toBe(3.4028234663852886e38)
  })

  test('B14: a scorer that throws ends the run and says so', () => {
    const fault = expectFault(
      {
        step() {
          throw new Error('scorer offline')
        },
      },
      'scenario_threw',
      'step threw: scorer offline',
    )
    expect(fault.detail).toContain('faults.test.ts')
  })
})

describe('results of step', () => {
  test.each<[unknown, RegExp]>([
    [undefined, /^step returned undefined$/],
    [5, /^step returned 5$/],
    [null, /^step returned null$/],
    [{ reward: 1 }, /terminated: undefined, not a boolean/],
    [{ reward: 1, terminated: 0 }, /terminated: 0, not a boolean/],
    [{ reward: 1, terminated: false, truncated: false }, /^step returned truncated$/],
  ])('%#: %o', (result, message) => {
    expectFault({ step: () => result }, 'scenario_invalid', message)
  })

  test('a property of a result is read once, so that it cannot change after the check', () => {
    let reads = 0
    const result = {
      get reward() {
        reads += 1
        return reads === 1 ? 1 : Number.NaN
      },
      terminated: false,
    }
    const { engine, buffers } = startEngine(scenario({ step: () => result }))
    engine.reset()
    engine.step()
    expect([reads, buffers.rewards[0]]).toEqual([1, 1])
  })

  test('reset must return a state', () => {
    expectFault({ reset: () => undefined }, 'scenario_invalid', 'reset returned undefined')
  })
})

describe('thrown values', () => {
  const trap = new Proxy(
    {},
    {
      get() {
        throw new Error('trap')
      },
      getPrototypeOf() {
        throw new Error('trap')
      },
    },
  )
  const hostile = {
    toString() {
      throw new Error('no')
    },
    get message(): string {
      throw new Error('no')
    },
  }
  test.each<[string, unknown, string]>([
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['a string', 'plain words', 'plain words'],
    ['a symbol', Symbol('x'), 'a symbol'],
    ['a function', () => 1, 'a function'],
    ['a BigInt', 5n, 'a BigInt'],
    ['a number', 5, '5'],
    ['a proxy', trap, 'an object'],
    ['a revoked proxy', revoked(), 'an object'],
    ['an object whose toString throws', hostile, 'an object'],
    ['a message that is no string', { message: { toString: () => 'x' } }, 'an object'],
    ['a long message', new Error('y'.repeat(10_000)), `${'y'.repeat(500)}…`],
    ['a message that paints the terminal', new Error('red \u001b[31m\u202e\n'), 'red  [31m  '],
  ])('%s', (_name, thrown, words) => {
    const fault = expectFault(
      {
        step() {
          throw thrown
        },
      },
      'scenario_threw',
      `step threw: ${words}`,
    )
    expect(fault.detail.length).toBeLessThanOrEqual(2001)
  })

  test.each(['reset', 'observe', 'actionMask', 'metrics'])('%s is named', (phase) => {
    const fault = faultIn({
      step: () => ({ reward: 0, terminated: true }),
      [phase]() {
        throw new RangeError('out')
      },
    })
    expect(fault).toMatchObject({ code: 'scenario_threw', phase, message: `${phase} threw: out` })
  })

  test('a proxy as observation is read element by element, its traps guarded', () => {
    const sample = new Proxy([0, 0], {
      get(target, key) {
        if (key === '1') throw new Error('peek')
        return Reflect.get(target, key)
      },
    })
    expectFault({ observe: () => sample }, 'scenario_threw', 'observe threw: peek')
    expectFault({ observe: revoked }, 'scenario_threw', /observe threw: /)
  })

  test('deep recursion is a fault like any other', () => {
    const recurse = (): number => 1 + recurse()
    expectFault({ step: recurse }, 'scenario_threw', /step threw: Maximum call stack/)
  })
})

test('observe, actionMask and metrics must be synchronous', () => {
  const observe = async () => [0, 0]
  expectFault({ observe }, 'scenario_invalid', 'observe returned a promise')
  expectFault(
    { observation: discrete({ n: 2 }), observe: async () => 1 },
    'scenario_invalid',
    'observe returned a promise',
  )
  expectFault(
    { observation: text({ maxTokens: 2 }), observe: async () => '' },
    'scenario_invalid',
    'observe returned a promise',
  )
  const entries = dict({ a: discrete({ n: 2 }) })
  expectFault(
    { observation: entries, observe: async () => ({ a: 1 }) },
    'scenario_invalid',
    'observe returned a promise',
  )
  expectFault({ actionMask: async () => [true, true] }, 'scenario_invalid', 'actionMask returned a promise')
  const ends = { step: () => ({ reward: 0, terminated: true }) }
  expectFault({ ...ends, metrics: async () => ({ a: 1 }) }, 'scenario_invalid', 'metrics returned a promise')
})
