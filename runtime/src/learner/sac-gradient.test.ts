import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { criticLayout, parameterLayout } from '../policy/parameter-layout.ts'
import { randomWeights, squashedGaussianCases, testRandom } from '../policy/testing/policy-cases.ts'
import { kinkDistance } from '../policy/testing/reference-forward.ts'
import { createLearner } from './learner.ts'
import { distance } from './testing/ppo-cases.ts'
import {
  noisyMinibatch,
  randomCriticWeights,
  referenceActorLoss,
  referenceCriticLoss,
  sacUpdate,
} from './testing/sac-cases.ts'

const SEED = 20261129

describe.each(squashedGaussianCases())('gradients of SAC, $name', ({ spec }) => {
  const learner = createLearner(spec, { seed: SEED, device: 'cpu', threads: 1, path: 'fused' })
  const update = sacUpdate()

  function drawn(seed: number, size: number) {
    const random = testRandom(seed)
    const weights = randomWeights(spec, random)
    const critics = randomCriticWeights(spec, random)
    learner.setWeights(weights)
    learner.setCriticWeights(critics)
    return { random, weights, critics, minibatch: noisyMinibatch(spec, size, random) }
  }

  /** Central differences of `loss` at a few weights against the gradient. */
  function expectSlopes(
    random: () => number,
    flat: Float32Array,
    size: number,
    gradient: Float32Array,
    loss: (flat: Float32Array) => number,
  ) {
    const largest = gradient.reduce((a, b) => Math.max(a, Math.abs(b)), 0)
    for (let i = 0; i < 25; i++) {
      const at = Math.floor(random() * size)
      const [above, below] = [flat.slice(), flat.slice()]
      above[at] += 2 ** -13
      below[at] -= 2 ** -13
      const slope = (loss(above) - loss(below)) / (above[at] - below[at])
      expect(Math.abs(slope - gradient[at])).toBeLessThan(2e-4 * largest + 1e-6)
    }
  }

  test('autograd agrees with finite differences of plain loops: critics, actor and entropy coefficient', () => {
    const { random, weights, critics, minibatch } = drawn(SEED, 12)
    const gradients = learner.sacGradients(minibatch, update, 'autograd')
    expectSlopes(random, critics, criticLayout(spec).trainableSize, gradients.critics, (flat) =>
      referenceCriticLoss(spec, flat, minibatch),
    )
    expectSlopes(
      random,
      weights,
      parameterLayout(spec).trainableSize,
      gradients.actor,
      (flat) => referenceActorLoss(spec, flat, critics, minibatch, update).loss,
    )
    const { entropy } = referenceActorLoss(spec, weights, critics, minibatch, update)
    // J_α = mean(-log α (log π + target)), so its slope by log α is the entropy less the target.
    expect(gradients.logEntropyCoefficient).toBeCloseTo(entropy - update.targetEntropy, 4)
  })

  test('the fused path is as near to float64 as float32 autograd, for any size', () => {
    const cases = fc.record({ size: fc.integer({ min: 1, max: 150 }), seed: fc.integer({ min: 0, max: 2 ** 31 }) })
    fc.assert(
      fc.property(cases, ({ size, seed }) => {
        const { weights, critics, minibatch } = drawn(seed, size)
        let nearest = kinkDistance(spec, weights, minibatch.observations, size)
        const onKink = (share: number) => {
          nearest = Math.min(nearest, share)
        }
        referenceActorLoss(spec, weights, critics, minibatch, update, onKink)
        referenceCriticLoss(spec, critics, minibatch, onKink)
        fc.pre(nearest > 2 ** -18)
        const [exact, autograd, fused] = (['float64', 'autograd', 'fused'] as const).map((path) =>
          learner.sacGradients(minibatch, update, path),
        )
        for (const part of ['critics', 'actor'] as const) {
          const norm = distance(exact[part], new Float32Array(exact[part].length))
          const allowed = 4 * distance(autograd[part], exact[part]) + 2 ** -20 * Math.max(norm, 1)
          expect(distance(fused[part], exact[part]), part).toBeLessThanOrEqual(allowed)
        }
        expect(fused.logEntropyCoefficient).toBeCloseTo(exact.logEntropyCoefficient, 4)
      }),
      { numRuns: 10, seed: SEED },
    )
  })
})
