import { checkPolicySpaces, outputNames } from '@agentgym/agent/engine'
import { policySpecSchema, type SpaceDescription } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { convolutionLayers } from './convolution.ts'
import { buildPolicySpec } from './policy-spec.ts'

const network = { hidden: [64, 64], activation: 'tanh', embedding: 8, normalizeObservation: false } as const
const cart: SpaceDescription = {
  type: 'box',
  shape: [4],
  low: [null, null, null, null],
  high: [null, null, null, null],
}
const build = (observation: SpaceDescription, action: SpaceDescription) =>
  buildPolicySpec({ observation, action }, { ...network, hidden: [...network.hidden] })

test('single leaves are named obs and action', () => {
  const spec = build(cart, { type: 'discrete', n: 2, start: 5 })
  expect(spec.observation).toEqual([{ name: 'obs', kind: 'box', offset: 0, size: 4, counts: [], shape: [4] }])
  expect(spec.action[0]).toMatchObject({ name: 'action', kind: 'discrete', counts: [2], start: 5 })
  expect(outputNames(spec.action)).toEqual(['logits', 'value'])
  expect(policySpecSchema.parse(spec)).toEqual(spec)
})

test('leaves of dicts lie one after the other in every row', () => {
  const spec = build(
    {
      type: 'dict',
      entries: [
        { name: 'text', space: { type: 'text', maxTokens: 3, vocabulary: 9 } },
        { name: 'in', space: { type: 'dict', entries: [{ name: 'x', space: cart }] } },
        { name: 'grid', space: { type: 'multiDiscrete', nvec: [2, 5] } },
      ],
    },
    {
      type: 'dict',
      entries: [
        { name: 'a', space: { type: 'multiDiscrete', nvec: [2, 3] } },
        { name: 'b', space: { type: 'box', shape: [2], low: [-1, 0], high: [3, null] } },
        { name: 'c', space: { type: 'discrete', n: 4, start: 0 } },
        { name: 'd', space: { type: 'box', shape: [1], low: [2], high: [2] } },
      ],
    },
  )
  expect(spec.observation.map(({ name, offset, size }) => [name, offset, size])).toEqual([
    ['text', 0, 3],
    ['in.x', 3, 4],
    ['grid', 7, 2],
  ])
  expect(spec.action.map((leaf) => [leaf.offset, leaf.distributionOffset, leaf.maskOffset, leaf.logStdOffset])).toEqual(
    [
      [0, 0, 0, 0],
      [2, 5, 5, 0],
      [4, 7, 5, 2],
      [5, 11, 9, 2],
    ],
  )
  expect(spec.action[1]).toMatchObject({ center: [1, 0], scale: [2, 1] })
  // An interval of one point keeps a Gaussian of width 1 around it.
  expect(spec.action[3]).toMatchObject({ center: [2], scale: [1] })
  expect(outputNames(spec.action)).toEqual([
    'a.logits',
    'b.mean',
    'b.log_std',
    'c.logits',
    'd.mean',
    'd.log_std',
    'value',
  ])
  expect(policySpecSchema.parse(spec)).toEqual(spec)
})

test('bounds as large as float32 count as none', () => {
  const spec = build(cart, { type: 'box', shape: [1], low: [-3.4e38], high: [3.4e38] })
  expect(spec.action[0]).toMatchObject({ center: [0], scale: [1] })
})

test('names stay unique and apart from the outputs', () => {
  const leaf: SpaceDescription = { type: 'discrete', n: 2, start: 0 }
  const spec = build(
    {
      type: 'dict',
      entries: [
        { name: 'value', space: leaf },
        { name: 'logits', space: leaf },
        { name: 'a.b', space: leaf },
        { name: 'a', space: { type: 'dict', entries: [{ name: 'b', space: leaf }] } },
        { name: '/actor.0', space: leaf },
      ],
    },
    leaf,
  )
  expect(spec.observation.map(({ name }) => name)).toEqual([
    'obs.value',
    'obs.logits',
    'a.b',
    'obs.a.b',
    'obs./actor.0',
  ])
})

test('only boards and images of 7 × 7 and more go through convolutions', () => {
  const none = (length: number) => Array.from({ length }, () => null)
  const box = (shape: number[]): SpaceDescription => {
    const size = shape.reduce((a, b) => a * b, 1)
    return { type: 'box', shape, low: none(size), high: none(size) }
  }
  const convolution = { kind: 'small', filters: 16 } as const
  const specOf = (shape: number[]) =>
    buildPolicySpec(
      { observation: box(shape), action: { type: 'discrete', n: 2, start: 0 } },
      { ...network, hidden: [64], convolution },
    )
  for (const shape of [[5], [4, 36], [3, 5, 5], [3, 6, 20], [2, 2, 8, 8]]) {
    expect(specOf(shape)).not.toHaveProperty('convolution')
  }
  expect(policySpecSchema.parse(specOf([3, 7, 7]))).toMatchObject({ convolution })
  const sizes = (shape: number[]) =>
    convolutionLayers(specOf(shape), specOf(shape).observation[0]).map(({ to, stride }) => [
      to.channels,
      to.height,
      to.width,
      stride,
    ])
  expect(sizes([4, 10, 10])).toEqual([[16, 8, 8, 1]])
  expect(sizes([3, 84, 84])).toEqual([
    [16, 42, 42, 2],
    [32, 21, 21, 2],
    [64, 11, 11, 2],
    [64, 9, 9, 1],
  ])
})

describe('a text that a sentence encoder reads', () => {
  const spaces = {
    observation: {
      type: 'dict',
      entries: [
        { name: 'ticket', space: { type: 'text', encoder: 'minilm', maxTokens: 64, vocabulary: 30522 } },
        { name: 'at', space: { type: 'discrete', n: 3, start: 0 } },
      ],
    },
    action: { type: 'discrete', n: 2, start: 0 },
  } satisfies Parameters<typeof checkPolicySpaces>[1]
  const policy = () => buildPolicySpec(spaces, { ...network, hidden: [4] })

  test('is a box of its numbers, and declares the encoder', () => {
    expect(policySpecSchema.parse(policy())).toEqual(policy())
    expect(policy().observation[0]).toEqual({
      name: 'ticket.embedding',
      kind: 'box',
      offset: 0,
      size: 384,
      counts: [],
      shape: [384],
      encoder: {
        name: 'minilm',
        model_sha256: '8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6',
        vocabulary_sha256: '07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3',
        max_tokens: 64,
        max_characters: 512,
        pooling: 'mean',
        normalized: true,
      },
    })
  })

  test.each(['model_sha256', 'vocabulary_sha256'] as const)('refuses an agent with another %s', (field) => {
    const other = policy()
    checkPolicySpaces(other, spaces)
    if (other.observation[0].encoder !== undefined) other.observation[0].encoder[field] = 'a'.repeat(64)
    expect(() => checkPolicySpaces(other, spaces)).toThrow(
      expect.objectContaining({ code: 'agent_invalid', message: expect.stringContaining(`${field} aaaaaaaaaaaa`) }),
    )
  })
})
