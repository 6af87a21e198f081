import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SpaceDescription } from '../space-description.ts'
import { errorFrameSchema, fieldsOf, openFrameSchema, type VectorField, type VectorLayout } from './vector.ts'
import {
  countEnded,
  decodeReply,
  decodeRequest,
  encodeReply,
  encodeReset,
  encodeStep,
  type FieldValues,
  type VectorReply,
} from './vector-frames.ts'

const shape = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 })
const fieldOf = fc.record({
  name: fc.string({ minLength: 1, maxLength: 8 }),
  dtype: fc.constantFrom('float32' as const, 'int32' as const, 'uint8' as const, 'text' as const),
  shape,
})
const textless = fieldOf.filter(({ dtype }) => dtype !== 'text')
const field = fieldOf.map((each): VectorField => (each.dtype === 'text' ? { ...each, shape: [] } : each))

const layouts: fc.Arbitrary<VectorLayout> = fc.record({
  environments: fc.integer({ min: 1, max: 9 }),
  autoreset: fc.constantFrom('same_step' as const, 'next_step' as const, 'disabled' as const),
  fields: fc.record({
    observation: fc.array(field, { minLength: 1, maxLength: 4 }),
    action: fc.array(textless, { minLength: 1, maxLength: 4 }),
  }),
  mask: fc.integer({ min: 0, max: 5 }),
})

const flags = (length: number) => fc.uint8Array({ minLength: length, maxLength: length, max: 1 })
const float64 = (length: number) => fc.float64Array({ minLength: length, maxLength: length })

function valuesOf({ dtype, shape }: VectorField, rows: number): fc.Arbitrary<FieldValues> {
  const length = shape.reduce((product, each) => product * each, rows)
  const exactly = { minLength: length, maxLength: length }
  switch (dtype) {
    case 'float32':
      return fc.float32Array(exactly)
    case 'int32':
      return fc.int32Array(exactly)
    case 'uint8':
      return fc.uint8Array(exactly)
    case 'text':
      return fc.array(fc.string({ unit: 'grapheme' }), exactly)
  }
}

const rowsOf = (fields: readonly VectorField[], rows: number) => fc.tuple(...fields.map((each) => valuesOf(each, rows)))
const request = fc.integer({ min: 0, max: 2 ** 32 - 1 })

function replyOf({ environments, autoreset, fields, mask }: VectorLayout): fc.Arbitrary<VectorReply> {
  const names = fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 5 }), { maxLength: 3 })
  return fc.record({ terminated: flags(environments), truncated: flags(environments), names }).chain((ends) => {
    const { terminated, truncated, names } = ends
    const ended = countEnded(terminated, truncated)
    return fc.record({
      request,
      observations: rowsOf(fields.observation, environments),
      rewards: float64(environments),
      terminated: fc.constant(terminated),
      truncated: fc.constant(truncated),
      masks: mask > 0 ? flags(environments * mask) : fc.constant(null),
      final: autoreset === 'same_step' ? rowsOf(fields.observation, ended) : fc.constant([]),
      metrics: fc.record({ names: fc.constant(names), values: float64(ended * names.length) }),
    })
  })
}

/** At any place in memory, as sockets deliver frames. */
function placed(bytes: Uint8Array, offset: number): Uint8Array {
  const memory = new Uint8Array(offset + bytes.length)
  memory.set(bytes, offset)
  return memory.subarray(offset)
}

describe('frames of the vector protocol', () => {
  it('are read as they were written, wherever they lie in memory', () => {
    const replies = layouts.chain((layout) => fc.tuple(fc.constant(layout), replyOf(layout), fc.nat({ max: 9 })))
    fc.assert(
      fc.property(replies, ([layout, reply, offset]) => {
        expect(decodeReply(layout, placed(encodeReply(layout, reply), offset))).toEqual(reply)
      }),
    )
    const steps = layouts.chain((layout) =>
      fc.tuple(fc.constant(layout), request, rowsOf(layout.fields.action, layout.environments), fc.nat({ max: 9 })),
    )
    fc.assert(
      fc.property(steps, ([layout, request, actions, offset]) => {
        const bytes = placed(encodeStep(layout, { request, actions }), offset)
        expect(decodeRequest(layout, bytes)).toEqual({ operation: 'step', request, actions })
      }),
    )
    const resets = layouts.chain((layout) => {
      const exactly = { minLength: layout.environments, maxLength: layout.environments }
      return fc.tuple(fc.constant(layout), flags(layout.environments), fc.bigInt64Array(exactly))
    })
    fc.assert(
      fc.property(resets, ([layout, mask, seeds]) => {
        const bytes = encodeReset({ request: 7, mask, seeds })
        expect(decodeRequest(layout, bytes)).toEqual({ operation: 'reset', request: 7, mask, seeds })
      }),
    )
  })

  it('are refused when they are cut, longer, or of other bytes: never read past their end', () => {
    const cases = layouts.chain((layout) => fc.tuple(fc.constant(layout), replyOf(layout), fc.nat(), fc.uint8Array()))
    fc.assert(
      fc.property(cases, ([layout, reply, at, noise]) => {
        const whole = encodeReply(layout, reply)
        expect(() => decodeReply(layout, whole.subarray(0, at % whole.length))).toThrow('malformed')
        expect(() => decodeReply(layout, Uint8Array.from([...whole, ...Array(8).fill(0)]))).toThrow('malformed')
        for (const bytes of [noise, Uint8Array.from([...whole.subarray(0, 16), ...noise])]) {
          try {
            decodeReply(layout, bytes)
          } catch (error) {
            expect(error).toMatchObject({ code: 'frame_invalid' })
          }
        }
      }),
    )
  })

  it('have exactly the bytes that the specification shows', () => {
    const layout: VectorLayout = {
      environments: 2,
      autoreset: 'same_step',
      fields: {
        observation: [{ name: 'obs', dtype: 'float32', shape: [1] }],
        action: [{ name: 'action', dtype: 'int32', shape: [] }],
      },
      mask: 0,
    }
    const hex = (bytes: Uint8Array) =>
      Buffer.from(bytes)
        .toString('hex')
        .replaceAll(/.{16}(?!$)/g, '$& ')
    expect(hex(encodeStep(layout, { request: 5, actions: [Int32Array.of(1, 0)] }))).toBe(
      '0200000005000000 0100000000000000',
    )
    const reply: VectorReply = {
      request: 5,
      observations: [Float32Array.of(0.5, 0.25)],
      rewards: Float64Array.of(1, 2),
      terminated: Uint8Array.of(0, 1),
      truncated: Uint8Array.of(0, 0),
      masks: null,
      final: [Float32Array.of(-1)],
      metrics: { names: ['won'], values: Float64Array.of(1) },
    }
    const lines = [
      ['0300000005000000 0100000001000000', 'header: reply, request 5, one episode ended, one metric'],
      ['0000003f0000803e', 'observations'],
      ['000000000000f03f 0000000000000040', 'rewards'],
      ['0001000000000000', 'terminated'],
      ['0000000000000000', 'truncated'],
      ['000080bf00000000', 'final observations'],
      ['0300000000000000 776f6e0000000000', 'names of metrics: lengths, UTF-8'],
      ['000000000000f03f', 'metrics'],
    ]
    expect(hex(encodeReply(layout, reply))).toBe(lines.map(([bytes]) => bytes).join(' '))
  })
})

describe('text frames', () => {
  it('open with defaults, and refuse what no version knows', () => {
    const opened = openFrameSchema.parse({ type: 'open', protocol: 1, environments: 4 })
    expect(opened).toMatchObject({ seed: 0, split: 'train', autoreset: 'next_step', first_environment: 0 })
    expect(openFrameSchema.safeParse({ type: 'open', protocol: 2, environments: 4 }).success).toBe(false)
    expect(openFrameSchema.safeParse({ type: 'open', protocol: 1, environments: 0 }).success).toBe(false)
  })

  it('keep an error of a code that this version does not know', () => {
    const error = { code: 'gone_fishing', message: 'No.', data: { environment: 3 } }
    expect(errorFrameSchema.parse({ type: 'error', request: 9, fatal: true, error })).toMatchObject({
      error: { ...error, code: 'environment_failed' },
    })
  })

  it('name one field a leaf, in order', () => {
    const space: SpaceDescription = {
      type: 'dict',
      entries: [
        { name: '9', space: { type: 'box', shape: [2, 3], low: Array(6).fill(null), high: Array(6).fill(null) } },
        {
          name: 'in',
          space: { type: 'dict', entries: [{ name: 'kind', space: { type: 'discrete', n: 3, start: 1 } }] },
        },
        { name: 'words', space: { type: 'text', maxTokens: 8, vocabulary: 64 } },
        { name: 'items', space: { type: 'list', slots: 4, features: 2 } },
      ],
    }
    expect(fieldsOf(space, 'obs')).toEqual([
      { name: '9', dtype: 'float32', shape: [2, 3] },
      { name: 'in.kind', dtype: 'int32', shape: [] },
      { name: 'words', dtype: 'text', shape: [] },
      { name: 'items', dtype: 'float32', shape: [4, 3] },
    ])
    expect(fieldsOf({ type: 'multiDiscrete', nvec: [3, 4] }, 'action')).toEqual([
      { name: 'action', dtype: 'int32', shape: [2] },
    ])
  })
})
