import type { PolicySpec } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { policyCases, testRandom } from '../policy/testing/policy-cases.ts'
import { createLearner } from './learner.ts'
import type { GrpoUpdate, LearnerOptions, RolloutSegment } from './learner-types.ts'
import { cutSegments, grpoUpdate, randomEpisodes } from './testing/grpo-cases.ts'
import { expectSameMetrics, relativeDistance } from './testing/ppo-cases.ts'

const SEED = 11
const paths = ['autograd', 'fused'] as const
const lengths = [3, 9, 1, 5, 9, 2, 7, 4]

const learnerOf = (spec: PolicySpec, options: Partial<LearnerOptions> = {}) =>
  createLearner(spec, { seed: SEED, device: 'cpu', threads: 1, path: 'fused', ...options })
/** One of the cases leaves the policy no choice: nothing moves it. */
const choosingCases = policyCases().filter(({ spec }) =>
  spec.action.some(({ kind, counts }) => kind === 'box' || counts[0] > 1),
)
const finite = (values: Float32Array) => values.every(Number.isFinite)
const update = (changes: Partial<GrpoUpdate> = {}) =>
  grpoUpdate({ groupSize: 4, epochs: 3, minibatchSize: 16, ...changes })
const rolloutOf = (spec: PolicySpec, seed = SEED) => [randomEpisodes(spec, lengths, testRandom(seed))]

describe.each(choosingCases)('GRPO on $name', ({ spec }) => {
  test('both paths learn the same, with and without a reference policy', async () => {
    for (const klCoefficient of [0, 0.1]) {
      const [autograd, fused] = await Promise.all(
        paths.map(async (path) => {
          const learner = learnerOf(spec, { path })
          learner.setReference(learnerOf(spec, { seed: 5 }).weights())
          const metrics = await learner.update(rolloutOf(spec), update({ klCoefficient, entropyCoefficient: 0.01 }))
          return { weights: learner.weights(), metrics }
        }),
      )
      expect(finite(fused.weights)).toBe(true)
      expect(relativeDistance(fused.weights, autograd.weights)).toBeLessThan(1e-4)
      expectSameMetrics(fused.metrics, autograd.metrics)
      expect(fused.metrics).toMatchObject({ valueLoss: null, explainedVariance: null, zeroVarianceGroups: 0 })
      if (klCoefficient === 0) expect(fused.metrics.klToReference).toBeNull()
      else expect(fused.metrics.klToReference).toBeGreaterThan(0)
    }
  })

  test('leaves the critic alone', async () => {
    for (const path of paths) {
      const learner = learnerOf(spec, { path })
      const before = learner.weights()
      await learner.update(rolloutOf(spec), update())
      const after = learner.weights()
      for (const { name, offset, size } of parameterLayout(spec).parameters) {
        const [was, is] = [before, after].map((weights) => weights.slice(offset, offset + size))
        if (name.startsWith('critic.') || name === 'value.scale') expect(is, name).toEqual(was)
        if (name === 'actor.out.weight') expect(is, name).not.toEqual(was)
      }
    }
  })
})

describe('GRPO', () => {
  const { spec } = policyCases()[0]

  test('gives the same bits for any threads and any cut of the rollout into segments', async () => {
    const run = async (threads: number, cut: number[]) => {
      const learner = learnerOf(spec, { threads })
      learner.setReference(learner.weights())
      const [whole] = rolloutOf(spec)
      await learner.update(cutSegments(whole, cut), update({ klCoefficient: 0.1, normalizeObservation: true }))
      return [learner.weights(), learner.state()]
    }
    const one = await run(1, [8])
    expect(await run(2, [8])).toEqual(one)
    expect(await run(1, [3, 5])).toEqual(one)
    expect(await run(3, [1, 6, 1])).toEqual(one)
  })

  test('continues from weights, state and reference', async () => {
    const whole = learnerOf(spec)
    const reference = whole.weights()
    whole.setReference(reference)
    await whole.update(rolloutOf(spec, 1), update({ klCoefficient: 0.5 }))
    const resumed = learnerOf(spec, { seed: 99 })
    resumed.setReference(reference)
    resumed.setWeights(whole.weights())
    resumed.setState(whole.state())
    for (const learner of [whole, resumed]) await learner.update(rolloutOf(spec, 2), update({ klCoefficient: 0.5 }))
    expect(resumed.weights()).toEqual(whole.weights())
  })

  test('is at no distance from its reference before the first step', async () => {
    const learner = learnerOf(spec)
    learner.setReference(learner.weights())
    const metrics = await learner.update(rolloutOf(spec), update({ klCoefficient: 1, epochs: 1, minibatchSize: 1000 }))
    expect(metrics.klToReference).toBeCloseTo(0, 6)
    const later = await learner.update(rolloutOf(spec), update({ klCoefficient: 1, epochs: 1, minibatchSize: 1000 }))
    expect(later.klToReference).toBeGreaterThan(0)
  })

  test('asks for a reference where it is to be penalised', async () => {
    const learner = learnerOf(spec)
    await expect(learner.update(rolloutOf(spec), update({ klCoefficient: 0.1 }))).rejects.toThrow('reference policy')
  })

  test('refuses what cannot be learned from, and changes nothing; rows beyond an end are not read', async () => {
    const learner = learnerOf(spec)
    await learner.update(rolloutOf(spec), update())
    const before = [learner.weights(), learner.state()]
    const broken: [string, (segment: RolloutSegment) => void][] = [
      ['reward_not_finite', (segment) => segment.rewards.fill(Number.NaN, 4, 5)],
      ['observation_invalid', (segment) => segment.observations.fill(Number.POSITIVE_INFINITY, 0, 1)],
    ]
    for (const [code, change] of broken) {
      const rollout = rolloutOf(spec)
      change(rollout[0])
      await expect(learner.update(rollout, update())).rejects.toMatchObject({ name: 'AgentGymError', code })
      expect([learner.weights(), learner.state()]).toEqual(before)
    }
    const wild = update({ learningRate: 1e39 })
    await expect(learner.update(rolloutOf(spec), wild)).rejects.toMatchObject({ code: 'training_diverged' })
    expect([learner.weights(), learner.state()]).toEqual(before)
  })
})

describe('B12: every episode of every group has the same return', () => {
  const equal = (spec: PolicySpec) => {
    const rollout = rolloutOf(spec)
    for (const { rewards, lengths, environments } of rollout) {
      rewards.fill(0)
      lengths?.forEach((length, i) => {
        rewards[(length - 1) * environments + i] = 1
      })
    }
    return rollout
  }

  test.each(paths)('without a KL term: the gradient is 0, the weights stay, the share is 1, %s', async (path) => {
    for (const { spec } of policyCases()) {
      const learner = learnerOf(spec, { path })
      const before = learner.weights()
      const metrics = await learner.update(equal(spec), update())
      expect(learner.weights()).toEqual(before)
      expect(metrics).toMatchObject({ zeroVarianceGroups: 1, gradientNorm: 0, policyLoss: 0 })
      expect(metrics.entropy).not.toBeNull()
    }
  })

  test.each(paths)('with one: finite, and towards the reference, %s', async (path) => {
    for (const { spec } of choosingCases) {
      const learner = learnerOf(spec, { path })
      learner.setReference(learnerOf(spec, { seed: 5 }).weights())
      const penalised = update({ klCoefficient: 0.5, epochs: 1, minibatchSize: 1000, learningRate: 1e-5 })
      const metrics = await learner.update(equal(spec), penalised)
      expect(metrics.zeroVarianceGroups).toBe(1)
      expect(finite(learner.weights())).toBe(true)
      const after = await learner.update(equal(spec), penalised)
      expect(after.klToReference).toBeLessThan(metrics.klToReference ?? 0)
    }
  })

  test('a share between 0 and 1 where some groups differ', async () => {
    const { spec } = policyCases()[0]
    const rollout = equal(spec)
    rollout[0].rewards[0] += 1
    expect((await learnerOf(spec).update(rollout, update())).zeroVarianceGroups).toBe(0.5)
  })
})
