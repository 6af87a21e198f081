// @module-tag full
import assert from 'node:assert'
import type { SpaceDescription } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { buildPolicySpec, type NetworkSettings } from '../policy/policy-spec.ts'
import { policyCases, randomWeights, testRandom } from '../policy/testing/policy-cases.ts'
import { kinkDistance } from '../policy/testing/reference-forward.ts'
import { createLearner } from './learner.ts'
import type { Learner, Minibatch } from './learner-types.ts'
import { grpoUpdate } from './testing/grpo-cases.ts'
import { distance, ppoUpdate, randomMinibatch } from './testing/ppo-cases.ts'
import { nearPolicy, referenceLoss } from './testing/reference-loss.ts'

const SEED = 20261128

const learnerOf = (spec: Parameters<typeof createLearner>[0], threads = 1) =>
  createLearner(spec, { seed: SEED, device: 'cpu', threads, path: 'fused' })

describe('autograd agrees with finite differences of an independent loss', () => {
  const updates = [
    ppoUpdate(),
    ppoUpdate({ clipRangeValue: 0.3, normalizeAdvantage: false, entropyCoefficient: 0.1 }),
    ppoUpdate({ clipRange: null, normalizeAdvantage: false }),
    grpoUpdate({ entropyCoefficient: 0.1 }),
    grpoUpdate({ klCoefficient: 0.3 }),
  ]

  test.each(policyCases())('$name', ({ spec, masked }) => {
    const random = testRandom(SEED)
    const weights = randomWeights(spec, random)
    const minibatch = nearPolicy(spec, weights, randomMinibatch(spec, 12, random, masked), random)
    const learner = learnerOf(spec)
    learner.setWeights(weights)
    const { trainableSize } = parameterLayout(spec)
    for (const update of updates) {
      const gradient = learner.gradient(minibatch, update, 'autograd')
      const largest = gradient.reduce((a, b) => Math.max(a, Math.abs(b)), 0)
      for (let i = 0; i < (spec.convolution === undefined ? 40 : 15); i++) {
        const at = Math.floor(random() * trainableSize)
        const [above, below] = [weights.slice(), weights.slice()]
        above[at] += 2 ** -13
        below[at] -= 2 ** -13
        const difference = referenceLoss(spec, above, minibatch, update) - referenceLoss(spec, below, minibatch, update)
        expect(Math.abs(difference / (above[at] - below[at]) - gradient[at])).toBeLessThan(1e-4 * largest + 1e-6)
      }
    }
    learner.dispose()
  })
})

function forwardOf(learner: Learner, { observations, size, sequences }: Minibatch) {
  return sequences === undefined
    ? learner.forward(observations, size)
    : learner.forwardSequences(observations, size, sequences)
}

/** Spaces, networks and minibatches of every shape that the fused kernels treat differently. */
const box = (columns: number) =>
  fc.integer({ min: 1, max: columns }).map((n): SpaceDescription => {
    const none = Array.from({ length: n }, () => null)
    return { type: 'box', shape: [n], low: none, high: none }
  })
const bounded = fc
  .array(fc.constantFrom([-1, 1], [-0.01, 0.01], [2, null], [null, 2], [-1e6, 1e6]), { minLength: 1, maxLength: 4 })
  .map(
    (bounds): SpaceDescription => ({
      type: 'box',
      shape: [bounds.length],
      low: bounds.map(([low]) => low),
      high: bounds.map(([, high]) => high),
    }),
  )
const categorical: fc.Arbitrary<SpaceDescription> = fc.oneof(
  fc.integer({ min: 1, max: 20 }).map((n): SpaceDescription => ({ type: 'discrete', n, start: 0 })),
  fc
    .array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 })
    .map((nvec): SpaceDescription => ({ type: 'multiDiscrete', nvec })),
)
const text = fc
  .record({ maxTokens: fc.integer({ min: 1, max: 9 }), vocabulary: fc.integer({ min: 2, max: 30 }) })
  .map((sizes): SpaceDescription => ({ type: 'text', ...sizes }))
const image = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 7, max: 8 }), fc.constantFrom(7, 17))
  .map((shape): SpaceDescription => {
    const none = Array.from({ length: shape[0] * shape[1] * shape[2] }, () => null)
    return { type: 'box', shape, low: none, high: none }
  })
const dict = (leaf: fc.Arbitrary<SpaceDescription>) =>
  fc.array(leaf, { minLength: 1, maxLength: 3 }).map(
    (leaves): SpaceDescription => ({
      type: 'dict',
      entries: leaves.map((space, i) => ({ name: `part${i}`, space })),
    }),
  )
const policy = fc.record({
  observation: dict(fc.oneof(box(40), categorical, text)),
  action: dict(fc.oneof(box(4), bounded, categorical)),
  network: fc.record({
    hidden: fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(16, 64, 100)), { maxLength: 3 }),
    activation: fc.constantFrom('tanh' as const, 'relu' as const),
    embedding: fc.integer({ min: 1, max: 20 }),
    normalizeObservation: fc.boolean(),
    boxActions: fc.constantFrom('squashed' as const, 'clipped' as const),
  }),
})
const imagePolicy = fc
  .record({
    policy,
    image,
    kind: fc.constantFrom('small' as const, 'residual' as const),
    filters: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constantFrom(8, 17)),
  })
  .map(({ policy: { observation, action, network }, image, ...convolution }) => ({
    observation: {
      type: 'dict' as const,
      entries: [
        { name: 'rest', space: observation },
        { name: 'image', space: image },
      ],
    },
    action,
    network: { ...network, convolution },
  }))

const memoryPolicy = fc
  .record({ policy: fc.oneof({ weight: 4, arbitrary: policy }, imagePolicy), units: fc.integer({ min: 1, max: 20 }) })
  .map(({ policy, units }) => ({ ...policy, network: { ...policy.network, memory: { kind: 'gru' as const, units } } }))

const toolPolicy = fc
  .record({
    policy,
    slots: fc.integer({ min: 1, max: 9 }),
    features: fc.integer({ min: 1, max: 5 }),
    remembers: fc.boolean(),
  })
  .map(({ policy, slots, features, remembers }) => {
    const parameters = (policy.action as { entries: { name: string; space: SpaceDescription }[] }).entries
    const item: SpaceDescription = { type: 'discrete', n: slots, start: 0, list: 'items' }
    const pair = [1, 2].map((i) => ({ name: `item${i}`, space: item }))
    return {
      observation: {
        type: 'dict' as const,
        entries: [
          { name: 'rest', space: policy.observation },
          { name: 'items', space: { type: 'list' as const, slots, features } },
        ],
      },
      action: {
        type: 'dict' as const,
        choice: 'tool',
        entries: [
          { name: 'tool', space: { type: 'discrete' as const, n: 3, start: 0, labels: ['none', 'some', 'pair'] } },
          { name: 'some', space: { type: 'dict' as const, entries: parameters } },
          { name: 'pair', space: { type: 'dict' as const, entries: pair } },
        ],
      },
      network: { ...policy.network, ...(remembers ? { memory: { kind: 'gru' as const, units: 7 } } : {}) },
    }
  })

/** The float32 values moved by one unit in the last place, each up or down at random. */
function moved(values: Float32Array, random: () => number): Float32Array {
  const result = values.slice()
  const bits = new Int32Array(result.buffer)
  for (let i = 0; i < bits.length; i++) if (result[i] !== 0) bits[i] += random() < 0.5 ? 1 : -1
  return result
}

function movedMinibatch(minibatch: Minibatch, random: () => number): Minibatch {
  const { logProbabilities, advantages, returns, values, referenceLogProbabilities } = minibatch
  return {
    ...minibatch,
    logProbabilities: moved(logProbabilities, random),
    advantages: moved(advantages, random),
    returns: moved(returns, random),
    values: moved(values, random),
    referenceLogProbabilities: referenceLogProbabilities && moved(referenceLogProbabilities, random),
  }
}

describe('the fused path', () => {
  // A float32 gradient has two errors that no implementation avoids. Its inputs are rounded: moving them by one unit in
  // the last place and computing in float64 shows what that alone does, however ill-conditioned the case. And each
  // operation rounds its result: autograd's own distance from float64 shows how much. Both grow with the same terms in
  // both implementations, whatever the processor's registers and order of addition. The fused kernels may have four times
  // as much, because their tanh is the one operation that is less exact than libtorch's: 2e-7, or 3.4 roundings of 2^-24.
  test.each([
    ['any spaces', policy, { runs: 300, size: 300 }],
    ['boards and images', imagePolicy, { runs: 30, size: 70 }],
    ['tools with arguments', toolPolicy, { runs: 60, size: 120 }],
    ['sequences of policies with memory', memoryPolicy, { runs: 60, size: 120 }],
  ] as const)('is as near to float64 as float32 autograd, for %s, settings, masks and sizes', (_, policies, most) => {
    const cases = fc.record({
      policy: policies as fc.Arbitrary<{
        observation: SpaceDescription
        action: SpaceDescription
        network: NetworkSettings
      }>,
      size: fc.integer({ min: 1, max: most.size }),
      seed: fc.integer({ min: 0, max: 2 ** 31 }),
      masked: fc.boolean(),
      threads: fc.integer({ min: 1, max: 3 }),
      clipRange: fc.constantFrom(null, 0.2),
      clipRangeValue: fc.constantFrom(null, 0.2),
      normalizeAdvantage: fc.boolean(),
      entropyCoefficient: fc.constantFrom(0, 0.01),
      klCoefficient: fc.constantFrom(null, 0, 0.04, 1),
    })
    fc.assert(
      fc.property(cases, ({ policy, size, seed, masked, threads, klCoefficient, ...settings }) => {
        const spec = buildPolicySpec(policy, policy.network)
        const random = testRandom(seed)
        const weights = randomWeights(spec, random)
        const any = randomMinibatch(spec, size, random, masked)
        // Rounding moves a sum by some 2^-22 of its terms. A unit that it can switch on or off has no gradient to compare.
        fc.pre(kinkDistance(spec, weights, any.observations, size) > 2 ** -18)
        const learner = learnerOf(spec, threads)
        learner.setWeights(weights)
        const minibatch = nearPolicy(spec, weights, any, random, forwardOf(learner, any))
        const { entropyCoefficient } = settings
        const update = klCoefficient === null ? ppoUpdate(settings) : grpoUpdate({ entropyCoefficient, klCoefficient })

        const exact = learner.gradient(minibatch, update, 'float64')
        const fusedError = distance(learner.gradient(minibatch, update, 'fused'), exact)
        const autogradError = distance(learner.gradient(minibatch, update, 'autograd'), exact)
        const inputErrors = [1, 2, 3, 4].map(() => {
          learner.setWeights(moved(weights, random))
          return distance(learner.gradient(movedMinibatch(minibatch, random), update, 'float64'), exact)
        })
        learner.dispose()
        expect(fusedError).toBeLessThanOrEqual(4 * (autogradError + Math.max(...inputErrors)))
      }),
      { numRuns: most.runs, seed: SEED },
    )
  })

  test('takes layers as large as the cache in larger tiles: as near to float64, and the same bits for any threads', () => {
    const [observation, action] = [box(40), categorical].map((space) => fc.sample(space, { numRuns: 1, seed: SEED })[0])
    const network = { hidden: [256, 257], activation: 'tanh', embedding: 1, normalizeObservation: false } as const
    const spec = buildPolicySpec({ observation, action }, { ...network, hidden: [...network.hidden] })
    const minibatch = randomMinibatch(spec, 700, testRandom(SEED), false)
    const learner = learnerOf(spec)
    const gradients = [1, 2, 3].map((threads) => learnerOf(spec, threads).gradient(minibatch, ppoUpdate(), 'fused'))
    expect(gradients[1]).toEqual(gradients[0])
    expect(gradients[2]).toEqual(gradients[0])
    const exact = learner.gradient(minibatch, ppoUpdate(), 'float64')
    const autogradError = distance(learner.gradient(minibatch, ppoUpdate(), 'autograd'), exact)
    expect(distance(gradients[0], exact)).toBeLessThanOrEqual(4 * autogradError)
  })

  test.each(['box to discrete, tanh, normalised', 'residual, normalised', 'a GRU after every encoder'])(
    'gives the same bits for any number of threads: %s',
    (name) => {
      const spec = policyCases().find((one) => one.name === name)?.spec
      assert(spec)
      const random = testRandom(SEED)
      const minibatch = randomMinibatch(spec, 3000, random, false)
      const gradients = [1, 2, 3].map((threads) => learnerOf(spec, threads).gradient(minibatch, ppoUpdate(), 'fused'))
      expect(gradients[1]).toEqual(gradients[0])
      expect(gradients[2]).toEqual(gradients[0])
    },
  )
})
