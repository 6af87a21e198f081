import type { SpaceDescription } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { policyCases, randomWeights, testRandom } from '../policy/testing/policy-cases.ts'
import { createLearner } from './learner.ts'
import { grpoUpdate } from './testing/grpo-cases.ts'
import { ppoUpdate, randomMinibatch, relativeDistance } from './testing/ppo-cases.ts'
import { nearPolicy, referenceLoss } from './testing/reference-loss.ts'

const SEED = 20261128

const learnerOf = (spec: Parameters<typeof createLearner>[0], threads = 1) =>
  createLearner(spec, { seed: SEED, device: 'cpu', threads, path: 'fused' })

describe('autograd agrees with finite differences of an independent loss', () => {
  const updates = [
    ppoUpdate(),
    ppoUpdate({ clipRangeValue: 0.3, normalizeAdvantage: false, entropyCoefficient: 0.1 }),
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
      for (let i = 0; i < 40; i++) {
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

/** Spaces, networks and minibatches of every shape that the fused kernels treat differently. */
const box = (columns: number) =>
  fc.integer({ min: 1, max: columns }).map((n): SpaceDescription => {
    const none = Array.from({ length: n }, () => null)
    return { type: 'box', shape: [n], low: none, high: none }
  })
const categorical: fc.Arbitrary<SpaceDescription> = fc.oneof(
  fc.integer({ min: 1, max: 20 }).map((n): SpaceDescription => ({ type: 'discrete', n, start: 0 })),
  fc
    .array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 })
    .map((nvec): SpaceDescription => ({ type: 'multiDiscrete', nvec })),
)
const text = fc
  .record({ maxTokens: fc.integer({ min: 1, max: 9 }), vocabulary: fc.integer({ min: 2, max: 30 }) })
  .map((sizes): SpaceDescription => ({ type: 'text', ...sizes }))
const dict = (leaf: fc.Arbitrary<SpaceDescription>) =>
  fc.array(leaf, { minLength: 1, maxLength: 3 }).map(
    (leaves): SpaceDescription => ({
      type: 'dict',
      entries: leaves.map((space, i) => ({ name: `part${i}`, space })),
    }),
  )
const policy = fc.record({
  observation: dict(fc.oneof(box(40), categorical, text)),
  // A few Gaussians only: the log-probability of many is so large a number that float32 has no 1e-5 left for its ratio.
  action: dict(fc.oneof(box(4), categorical)),
  network: fc.record({
    hidden: fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(16, 64, 100)), { maxLength: 3 }),
    activation: fc.constantFrom('tanh' as const, 'relu' as const),
    embedding: fc.integer({ min: 1, max: 20 }),
    normalizeObservation: fc.boolean(),
  }),
})

describe('the fused path agrees with autograd within 1e-5', () => {
  test('for any spaces, network, settings, masks and minibatch size', () => {
    const cases = fc.record({
      policy,
      size: fc.integer({ min: 1, max: 300 }),
      seed: fc.integer({ min: 0, max: 2 ** 31 }),
      masked: fc.boolean(),
      threads: fc.integer({ min: 1, max: 3 }),
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
        const learner = learnerOf(spec, threads)
        learner.setWeights(weights)
        const any = randomMinibatch(spec, size, random, masked)
        const minibatch = nearPolicy(spec, weights, any, random, learner.forward(any.observations, size))
        const { entropyCoefficient } = settings
        const update = klCoefficient === null ? ppoUpdate(settings) : grpoUpdate({ entropyCoefficient, klCoefficient })
        const fused = learner.gradient(minibatch, update, 'fused')
        const autograd = learner.gradient(minibatch, update, 'autograd')
        learner.dispose()
        expect(relativeDistance(fused, autograd)).toBeLessThan(1e-5)
      }),
      { numRuns: 300, seed: SEED },
    )
  })

  test('to the last bit the same for any number of threads', () => {
    const { spec } = policyCases()[0]
    const random = testRandom(SEED)
    const minibatch = randomMinibatch(spec, 3000, random, false)
    const gradients = [1, 2, 3].map((threads) => learnerOf(spec, threads).gradient(minibatch, ppoUpdate(), 'fused'))
    expect(gradients[1]).toEqual(gradients[0])
    expect(gradients[2]).toEqual(gradients[0])
  })
})
