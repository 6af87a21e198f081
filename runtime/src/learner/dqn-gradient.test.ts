import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { randomWeights, testRandom, valueCases } from '../policy/testing/policy-cases.ts'
import { kinkDistance } from '../policy/testing/reference-forward.ts'
import { createLearner } from './learner.ts'
import { dqnUpdate, referenceHuber } from './testing/dqn-cases.ts'
import { distance, randomMinibatch } from './testing/ppo-cases.ts'

const SEED = 20261129

describe.each(valueCases())('the gradient of DQN, $name', ({ spec, masked }) => {
  const learner = createLearner(spec, { seed: SEED, device: 'cpu', threads: 1, path: 'fused' })
  const update = dqnUpdate()

  test('autograd agrees with finite differences of plain loops', () => {
    const random = testRandom(SEED)
    const weights = randomWeights(spec, random)
    const minibatch = randomMinibatch(spec, 12, random, masked)
    learner.setWeights(weights)
    const gradient = learner.gradient(minibatch, update, 'autograd')
    const largest = gradient.reduce((a, b) => Math.max(a, Math.abs(b)), 0)
    for (let i = 0; i < 40; i++) {
      const at = Math.floor(random() * parameterLayout(spec).trainableSize)
      const [above, below] = [weights.slice(), weights.slice()]
      above[at] += 2 ** -13
      below[at] -= 2 ** -13
      const difference = referenceHuber(spec, above, minibatch) - referenceHuber(spec, below, minibatch)
      expect(Math.abs(difference / (above[at] - below[at]) - gradient[at])).toBeLessThan(1e-4 * largest + 1e-6)
    }
  })

  test('the fused path is as near to float64 as float32 autograd, for any size', () => {
    const cases = fc.record({ size: fc.integer({ min: 1, max: 200 }), seed: fc.integer({ min: 0, max: 2 ** 31 }) })
    fc.assert(
      fc.property(cases, ({ size, seed }) => {
        const random = testRandom(seed)
        const weights = randomWeights(spec, random)
        const minibatch = randomMinibatch(spec, size, random, masked)
        fc.pre(kinkDistance(spec, weights, minibatch.observations, size) > 2 ** -18)
        learner.setWeights(weights)
        const exact = learner.gradient(minibatch, update, 'float64')
        const autograd = distance(learner.gradient(minibatch, update, 'autograd'), exact)
        const norm = distance(exact, new Float32Array(exact.length))
        // Rounded inputs and targets alone move a gradient by a few 2^-24 of its terms.
        const allowed = 4 * autograd + 2 ** -20 * Math.max(norm, 1)
        expect(distance(learner.gradient(minibatch, update, 'fused'), exact)).toBeLessThanOrEqual(allowed)
      }),
      { numRuns: 30, seed: SEED },
    )
  })
})
