import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { definitionError } from './engine/faults.ts'
import { actionLeaves, observationLeaves } from './engine/index.ts'
import {
  type ActionMaskOf,
  type ActionOf,
  box,
  dict,
  discrete,
  encodeObservation,
  multiDiscrete,
  type SampleOf,
  type Space,
  type SpaceDescription,
  text,
} from './index.ts'

describe('spaces are data', () => {
  test('bounds: one for all or one an element; infinite means none', () => {
    expect(box({ shape: [2], low: -1, high: [1, Number.POSITIVE_INFINITY] })).toEqual({
      type: 'box',
      shape: [2],
      low: [-1, -1],
      high: [1, null],
    })
    expect(box({ shape: [2, 3] }).low).toHaveLength(6)
  })

  test('the others', () => {
    expect(discrete({ n: 3 })).toEqual({ type: 'discrete', n: 3, start: 0 })
    expect(discrete({ n: 2, start: -1, labels: ['a', 'b'] })).toEqual({
      type: 'discrete',
      n: 2,
      start: -1,
      labels: ['a', 'b'],
    })
    expect(multiDiscrete({ nvec: [2, 3] })).toEqual({ type: 'multiDiscrete', nvec: [2, 3] })
    expect(text({ maxTokens: 8 })).toEqual({ type: 'text', maxTokens: 8, vocabulary: 4096 })
    const encoded = { type: 'text', encoder: 'minilm', vocabulary: 30522 }
    expect(text({ encoder: 'minilm' })).toEqual({ ...encoded, maxTokens: 128 })
    expect(text({ encoder: 'minilm', maxTokens: 256 })).toEqual({ ...encoded, maxTokens: 256 })
    const both = dict({ b: discrete({ n: 2 }), a: text({ maxTokens: 1, vocabulary: 9 }) })
    expect(both.entries.map(({ name }) => name)).toEqual(['b', 'a'])
  })

  test('they are frozen to the leaves, and do not hold the arrays they were made from', () => {
    const shape = [2]
    const space = box({ shape })
    shape[0] = 3
    expect(space.shape).toEqual([2])
    expect([space, space.shape, space.low].every(Object.isFrozen)).toBe(true)
    const nested = dict({ a: dict({ b: multiDiscrete({ nvec: [2] }) }) })
    const inner = nested.entries[0].space
    expect(inner.type === 'dict' && inner.entries.every(Object.isFrozen)).toBe(true)
  })
})

describe('mistakes say what, where and how to mend it', () => {
  const wrong: [() => unknown, string][] = [
    [() => box({ shape: [] }), 'box.shape: must have 1 to 8 entries, has 0'],
    [() => box({ shape: [0] }), 'box.shape[0]: must be an integer from 1 to 1048576, got 0'],
    [() => box({ shape: [1.5] }), 'box.shape[0]: must be an integer from 1 to 1048576, got 1.5'],
    [() => box({ shape: [2048, 2048] }), 'box.shape: has 4194304 elements; at most 1048576'],
    [() => box({ shape: 4 as never }), 'box.shape: must be an array of positive integers, got 4'],
    [() => box({} as never), 'box.shape: must be an array of positive integers, got undefined'],
    [() => box(undefined as never), 'box({ shape: [4] }): the argument must be an object'],
    [() => box({ shape: [1], low: 2, high: 1 }), 'box: low[0] = 2 lies above high[0] = 1'],
    [() => box({ shape: [1], low: Number.NaN }), 'box.low[0]: must be a number, got NaN'],
    [() => box({ shape: [1], high: 1e39 }), 'box.high[0]: 1e+39 does not fit float32; use Infinity for "no bound"'],
    [() => box({ shape: [2], low: [0] }), 'box.low: must have one number an element, 2, has 1'],
    [() => box({ shape: [1], low: '0' as never }), 'box.low: must be an array of 1 numbers, got the string "0"'],
    [() => discrete({ n: 0 }), 'discrete.n: must be an integer from 1 to 65536, got 0'],
    [() => discrete({ n: 2, start: 0.5 }), 'discrete.start: must be an integer from -1e9 to 1e9, got 0.5'],
    [() => discrete({ n: 2, labels: ['a'] }), 'discrete.labels: must have 2 entries (n), has 1'],
    [
      () => discrete({ n: 1, labels: [''] }),
      'discrete.labels[0]: must be a string of 1 to 200 characters, got the string ""',
    ],
    [() => multiDiscrete({ nvec: [] }), 'multiDiscrete.nvec: must have 1 to 1048576 entries, has 0'],
    [() => multiDiscrete({ nvec: [2, 0] }), 'multiDiscrete.nvec[1]: must be an integer from 1 to 65536, got 0'],
    [() => text({ maxTokens: 0 }), 'text.maxTokens: must be an integer from 1 to 1048576, got 0'],
    [() => text({ encoder: 'e5' as 'minilm' }), 'text.encoder: must be "minilm", got the string "e5"'],
    [() => text({ encoder: 'minilm', maxTokens: 257 }), 'text.maxTokens: must be an integer from 1 to 256, got 257'],
    [
      () => text({ encoder: 'minilm', maxTokens: 2 }),
      'text.maxTokens: must be at least 3: two tokens mark the beginning and the end of a text',
    ],
    [
      () => text({ encoder: 'minilm', vocabulary: 9 } as { encoder: 'minilm' }),
      'text.vocabulary: the encoder has its own vocabulary, of 30522 word pieces: leave it out',
    ],
    [() => text({ maxTokens: 4, vocabulary: 1 }), 'text.vocabulary: must be at least 2: id 0 is padding'],
    [() => dict({}), 'dict: must have 1 to 256 entries'],
    [
      () => dict({ 'a.b': discrete({ n: 2 }) }),
      'dict: the string "a.b" is not a name: a letter, then letters, digits, _ or -, at most 64 in all',
    ],
    [
      () => dict({ a: 5 as never }),
      'dict.a: must be a space made by box, discrete, multiDiscrete, text, list or dict, got 5',
    ],
    [
      () => dict({ a: {} as never }),
      'dict.a: is not a space; make it with box, discrete, multiDiscrete, text, list or dict',
    ],
    [() => deep(9), 'dict.a.a.a.a.a.a.a.a: dicts are nested deeper than 8'],
  ]
  test.each(wrong)('%#', (make, message) => {
    expect(make).toThrow(definitionError(message))
  })

  function deep(levels: number): Space {
    let space: Space = discrete({ n: 2 })
    for (let i = 0; i < levels; i += 1) space = dict({ a: space })
    return space
  }
})

describe('leaves are the layout of the flat rows', () => {
  test('of a space that is no dict', () => {
    expect(observationLeaves(description(box({ shape: [2, 3] })))).toEqual([
      { name: 'obs', kind: 'box', offset: 0, size: 6, counts: [], shape: [2, 3] },
    ])
    expect(actionLeaves(description(discrete({ n: 3, start: 2 })))).toEqual([
      {
        ...{ name: 'action', kind: 'discrete', offset: 0, size: 1, counts: [3], distributionOffset: 0, maskOffset: 0 },
        ...{ logStdOffset: 0, low: [], high: [], center: [], scale: [], start: 2 },
      },
    ])
  })

  test('of a dict: dotted names, offsets of rows, distributions, masks and deviations', () => {
    const space = dict({
      gain: box({ shape: [2], low: [-1, 0], high: [3, Number.POSITIVE_INFINITY] }),
      tool: discrete({ n: 3 }),
      knobs: dict({ pair: multiDiscrete({ nvec: [2, 4] }), turn: box({ shape: [1], low: -2, high: 2 }) }),
    })
    const leaves = actionLeaves(description(space))
    const columns = leaves.map((leaf) => [leaf.name, leaf.offset, leaf.size, leaf.distributionOffset, leaf.maskOffset])
    expect(columns).toEqual([
      ['gain', 0, 2, 0, 0],
      ['tool', 2, 1, 2, 0],
      ['knobs.pair', 3, 2, 5, 3],
      ['knobs.turn', 5, 1, 11, 9],
    ])
    expect(leaves.map((leaf) => leaf.logStdOffset)).toEqual([0, 2, 2, 2])
    expect([leaves[0].center, leaves[0].scale]).toEqual([
      [1, 0],
      [2, 1],
    ])
    const observed = observationLeaves(description(dict({ said: text({ maxTokens: 4 }), at: discrete({ n: 9 }) })))
    expect(observed.map((leaf) => [leaf.name, leaf.offset, leaf.size, leaf.counts[0]])).toEqual([
      ['said', 0, 4, 4096],
      ['at', 4, 1, 9],
    ])
    const encoded = observationLeaves(description(dict({ said: text({ encoder: 'minilm' }), at: discrete({ n: 9 }) })))
    expect(encoded.map((leaf) => [leaf.offset, leaf.size, leaf.encoder])).toEqual([
      [0, 384, { name: 'minilm', maxTokens: 128 }],
      [384, 1, undefined],
    ])
  })

  function description(space: Space): SpaceDescription {
    return structuredClone(space) as SpaceDescription
  }
})

test('encodeObservation writes what the engine writes, also from a description that was JSON', () => {
  const space = dict({ b: discrete({ n: 4, start: 1 }), a: box({ shape: [2] }) })
  const row = new Float32Array(5)
  expect(encodeObservation(space, { a: [0.1, 2], b: 3 }, row, 1)).toBe(3)
  expect(Array.from(row)).toEqual([0, 2, Math.fround(0.1), 2, 0])
  const again = new Float32Array(3)
  encodeObservation(JSON.parse(JSON.stringify(space)), { a: [0.1, 2], b: 3 }, again)
  expect(Array.from(again)).toEqual(Array.from(row.subarray(1, 4)))
  expect(() => encodeObservation(space, { a: [0, Number.NaN], b: 3 }, row)).toThrow(/observation "a"\[1\] is NaN/)
  expect(() => encodeObservation(space, { a: [0, 0], b: 3 }, row, 3)).toThrow(/no room/)
})

test('an image whose channels are the last axis is a row of channels first', () => {
  const image = { ...box({ shape: [2, 3, 2], low: 0, high: 12 }), channels: 'last' } as unknown as Space
  expect(observationLeaves(structuredClone(image) as SpaceDescription)[0]).toMatchObject({ size: 12, shape: [2, 2, 3] })
  const row = new Float32Array(13)
  encodeObservation(
    dict({ at: discrete({ n: 2 }), image }),
    { at: 1, image: Array.from({ length: 12 }, (_, i) => i) },
    row,
  )
  expect(Array.from(row)).toEqual([1, 0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11])
  const flat = { ...box({ shape: [12] }), channels: 'last' } as unknown as Space
  expect(() => encodeObservation(flat, [], row)).toThrow(/\[height, width, channels\]/)
})

test('every box sample in float32 range is kept to the bit', () => {
  fc.assert(
    fc.property(
      fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 20 }),
      (sample) => {
        const row = new Float32Array(sample.length)
        encodeObservation(box({ shape: [sample.length] }), sample, row)
        expect(Array.from(row)).toEqual(sample)
      },
    ),
  )
})

test('types follow the spaces', () => {
  const action = dict({ tool: discrete({ n: 2 }), pair: multiDiscrete({ nvec: [2] }), gain: box({ shape: [1] }) })
  type Action = ActionOf<typeof action>
  expectTypeOf<Action['tool']>().toEqualTypeOf<number>()
  expectTypeOf<Action['pair']>().toEqualTypeOf<number[]>()
  expectTypeOf<Action['gain']>().toEqualTypeOf<Float32Array>()
  type Mask = ActionMaskOf<typeof action>
  expectTypeOf<keyof Mask>().toEqualTypeOf<'tool' | 'pair'>()
  expectTypeOf<Mask['pair']>().toEqualTypeOf<readonly (readonly boolean[])[]>()
  const observation = dict({ said: text({ maxTokens: 2 }), at: discrete({ n: 2 }) })
  expectTypeOf<SampleOf<typeof observation>>().toEqualTypeOf<{ readonly said: string; readonly at: number }>()
})

test('encodeObservation refuses a text that a sentence encoder reads: only the runtime has it', () => {
  const row = new Float32Array(384)
  expect(() => encodeObservation(text({ encoder: 'minilm' }), 'Where is it?', row)).toThrow(
    /read by the encoder "minilm"/,
  )
})
