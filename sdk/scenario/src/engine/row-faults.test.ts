import { describe, expect, test } from 'vitest'
import { expectFault, faultIn, scenario } from '../../test/expect-fault.ts'
import { startEngine } from '../../test/start-engine.ts'
import { box, dict, discrete, multiDiscrete, type Space, text } from '../index.ts'

describe('observations', () => {
  const invalid: [Space, unknown, string][] = [
    [box({ shape: [2] }), [0], 'observation has 1 numbers where the space has 2'],
    [box({ shape: [2] }), [0, 0, 0], 'observation has 3 numbers where the space has 2'],
    [box({ shape: [2] }), [], 'observation has 0 numbers where the space has 2'],
    [box({ shape: [2] }), [0, Number.NaN], 'observation[1] is NaN'],
    [box({ shape: [2] }), [1e39, 0], 'observation[0] is 1e+39, which is infinite in float32'],
    [box({ shape: [2] }), [0, '0'], 'observation[1] is the string "0", not a number'],
    [box({ shape: [2] }), [0, undefined], 'observation[1] is undefined, not a number'],
    [box({ shape: [2] }), Object.assign(new Array(2), { 0: 0 }), 'observation[1] is undefined, not a number'],
    [box({ shape: [2] }), [0, 1n], 'observation[1] is a BigInt, not a number'],
    [box({ shape: [2] }), new BigInt64Array(2), 'observation[0] is a BigInt, not a number'],
    [box({ shape: [2] }), new Float32Array(3), 'observation has 3 numbers where the space has 2'],
    [box({ shape: [2] }), new DataView(new ArrayBuffer(2)), 'observation is an object where a list of numbers belongs'],
    [box({ shape: [2] }), { length: 2, 0: 0, 1: 0 }, 'observation is an object where a list of numbers belongs'],
    [box({ shape: [2] }), undefined, 'observation is undefined where a list of numbers belongs'],
    [box({ shape: [2] }), '00', 'observation is the string "00" where a list of numbers belongs'],
    [box({ shape: [2], low: -1, high: 1 }), [0, 1.5], 'observation[1] is 1.5, outside its bounds -1 to 1'],
    [box({ shape: [2], low: 0 }), [-1, 0], 'observation[0] is -1, outside its bounds 0 to Infinity'],
    [discrete({ n: 3, start: 1 }), 0, 'observation is 0 where an integer from 1 to 3 belongs'],
    [discrete({ n: 3 }), 1.5, 'observation is 1.5 where an integer from 0 to 2 belongs'],
    [multiDiscrete({ nvec: [2, 3] }), [1, 3], 'observation[1] is 3 where an integer from 0 to 2 belongs'],
    [multiDiscrete({ nvec: [2, 3] }), [1], 'observation has 1 numbers where the space has 2'],
    [text({ maxTokens: 4 }), 5, 'observation is 5 where a text belongs'],
    [text({ maxTokens: 4 }), 'x'.repeat(1_000_001), 'observation is a text of 1000001 characters; at most 1000000'],
    [dict({ a: discrete({ n: 2 }), b: discrete({ n: 2 }) }), { a: 1 }, 'observation lacks the key "b"'],
    [dict({ a: discrete({ n: 2 }) }), { a: 1, c: 2 }, 'observation has a key that the space lacks: the string "c"'],
    [dict({ a: discrete({ n: 2 }) }), { b: 1 }, 'observation lacks the key "a"'],
    [dict({ a: discrete({ n: 2 }) }), [1], 'observation lacks the key "a"'],
    [dict({ a: discrete({ n: 2 }) }), null, 'observation is null where an object belongs'],
    [dict({ in: dict({ x: box({ shape: [1] }) }) }), { in: { x: [Number.NaN] } }, 'observation "in.x"[0] is NaN'],
    [dict({ in: dict({ x: box({ shape: [1] }) }) }), { in: {} }, 'observation "in" lacks the key "x"'],
  ]
  test.each(invalid)('%#', (observation, sample, message) => {
    const fault = expectFault({ observation, observe: () => sample }, 'observation_invalid', message)
    expect(fault.phase).toBe('observe')
  })

  test('a detached buffer has no numbers left', () => {
    const sample = new Float32Array(2)
    structuredClone(sample, { transfer: [sample.buffer] })
    expectFault({ observe: () => sample }, 'observation_invalid', 'observation has 0 numbers where the space has 2')
  })

  test('B20: bounds and values are compared as float32', () => {
    const bound = Math.PI
    const bounded = box({ shape: [2], low: -bound, high: bound })
    const { engine, buffers } = startEngine(scenario({ observation: bounded, observe: () => [bound, -bound] }))
    engine.reset()
    expect(Array.from(buffers.observations)).toEqual([Math.fround(bound), Math.fround(-bound)])
    const tenth = box({ shape: [2], low: 0.1, high: 0.1 })
    const exact = startEngine(scenario({ observation: tenth, observe: () => new Float64Array([0.1, 0.1]) }))
    exact.engine.reset()
    expect(exact.buffers.observations[0]).toBe(Math.fround(0.1))
    expectFault({ observe: () => [0, 1e39] }, 'observation_invalid', /infinite in float32/)
  })

  test('a fault in the last observation of an episode is found too', () => {
    let end = false
    const fault = faultIn({
      step(state: { step: number }) {
        state.step += 1
        end = state.step === 2
        return { reward: 0, terminated: end }
      },
      observe: () => [0, end ? Number.NaN : 0],
    })
    expect([fault.code, fault.step]).toEqual(['observation_invalid', 2])
  })
})

describe('masks', () => {
  test('B06: no legal action names environment and step', () => {
    let environments = 0
    const fault = faultIn(
      {
        reset: () => ({ step: 0, environment: environments++ }),
        actionMask: (state: { step: number; environment: number }) =>
          state.environment === 1 && state.step === 3 ? [false, false] : [true, false],
      },
      2,
    )
    expect(fault).toMatchObject({ code: 'no_legal_action', environment: 1, step: 3, episode: 0, phase: 'actionMask' })
    expect(fault.message).toContain('no legal action')
  })

  test('one component without a legal action is enough', () => {
    const mask = [
      [true, true],
      [false, false, false],
    ]
    const fault = faultIn({ action: multiDiscrete({ nvec: [2, 3] }), actionMask: () => mask })
    expect([fault.code, fault.message]).toEqual(['no_legal_action', expect.stringContaining('actionMask[1]')])
  })

  const action = dict({ tool: discrete({ n: 2 }), gain: box({ shape: [1] }) })
  test.each<[unknown, unknown, string]>([
    [discrete({ n: 2 }), [true], 'actionMask has 1 entries where the action space has 2'],
    [discrete({ n: 2 }), [1, 0], 'actionMask[0] is 1, not a boolean'],
    [discrete({ n: 2 }), undefined, 'actionMask is undefined where an array of 2 booleans belongs'],
    [discrete({ n: 2 }), new Uint8Array(2), 'actionMask is a Uint8Array where an array of 2 booleans belongs'],
    [multiDiscrete({ nvec: [2, 2] }), [true, true], 'actionMask[0] is true where an array of 2 booleans belongs'],
    [multiDiscrete({ nvec: [2, 2] }), [[true, true]], 'actionMask has 1 components where the action space has 2'],
    [action, { gain: [true] }, 'actionMask.tool is undefined where an array of 2 booleans belongs'],
    [action, [true], 'actionMask.tool is undefined where an array of 2 booleans belongs'],
    [action, 7, 'actionMask is 7 where an object belongs'],
  ])('%#', (space, mask, message) => {
    const fault = expectFault({ action: space, actionMask: () => mask }, 'mask_invalid', message)
    expect(fault.hint).toContain('shape of the action')
  })
})

describe('metrics', () => {
  const ends = { step: () => ({ reward: 0, terminated: true }) }
  test.each<[unknown, RegExp]>([
    [undefined, /metrics returned undefined/],
    [{ a: Number.NaN }, /metric "a" is NaN, not a finite number/],
    [{ a: '1' }, /metric "a" is the string "1"/],
    [{ a: Number.POSITIVE_INFINITY }, /metric "a" is Infinity/],
    [{ 'a b': 1 }, /"a b" is not a metric's name/],
    [Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`m${i}`, i])), /33 names; at most 32/],
  ])('%#', (metrics, message) => {
    const fault = expectFault({ ...ends, metrics: () => metrics }, 'metrics_invalid', message)
    expect(fault.phase).toBe('metrics')
  })

  test('a name that the first episode lacked is refused', () => {
    let episode = 0
    const metrics = () => (episode++ === 0 ? { a: 1 } : { a: 1, b: 2 })
    const fault = expectFault({ ...ends, metrics }, 'metrics_invalid', /"b" was not among those of the first episode/)
    expect(fault.episode).toBe(1)
  })
})
