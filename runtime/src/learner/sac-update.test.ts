import { describe, expect, test } from 'vitest'
import { squashedGaussianCases, testRandom } from '../policy/testing/policy-cases.ts'
import { createLearner } from './learner.ts'
import type { Learner, LearnerOptions, RolloutSegment } from './learner-types.ts'
import { rolloutOf } from './testing/dqn-cases.ts'
import { randomRollout } from './testing/ppo-cases.ts'
import { linearGaussian, sacUpdate } from './testing/sac-cases.ts'

const SEED = 11
const TERMINATED = 1
const TRUNCATED = 2

const learnerOf = (spec = linearGaussian(), options: Partial<LearnerOptions> = {}) =>
  createLearner(spec, { seed: SEED, device: 'cpu', threads: 1, path: 'fused', ...options })
const mixed = (squashedGaussianCases().find(({ name }) => name.startsWith('dict to')) ?? squashedGaussianCases()[0])
  .spec

const remember = (learner: Learner, rollout: RolloutSegment, capacity = 100) =>
  learner.remember([rollout], { capacity, normalizeObservation: false })

/** Mean and variance of the observation, after the trainable weights. */
const statistics = [0, 1]

/** Weights of both critics' [observation, action] and bias: Q₁ = 2x + c₁ a, Q₂ = 3x + c₂ a. */
const values = (first: number, second: number) => Float32Array.of(2, first, 0, 3, second, 0, ...statistics)

/** The actor's mean of u, for every observation, and its smallest deviation, e^-5. */
const actor = (mean: number) => Float32Array.of(0, 0, mean, -50, ...statistics)

const steps = [
  { x: 1, reward: 10 },
  { x: 2, reward: 20, flags: TRUNCATED, final: -30 },
  { x: 3, reward: 30, flags: TERMINATED, final: 99 },
  { x: 4, reward: 40, flags: TERMINATED | TRUNCATED, final: 99 },
  { x: 5, reward: 50 },
]

describe('targets', () => {
  test('take the smaller critic of the next observation, the true last one after a truncation, nothing after an end', () => {
    const learner = learnerOf()
    learner.setCriticWeights(values(0, 0))
    remember(learner, rolloutOf(steps, 6))
    const targets = learner.targets(sacUpdate({ entropyCoefficient: 0 }))
    const expected = [10 + 0.9 * 4, 20 - 0.9 * 90, 30, 40, 50 + 0.9 * 12]
    for (const [i, target] of expected.entries()) expect(targets[i]).toBeCloseTo(target, 4)
  })

  test('value the action that the actor draws next, and its entropy', () => {
    const learner = learnerOf()
    learner.setWeights(actor(0.7))
    learner.setCriticWeights(values(1, 1))
    remember(learner, rolloutOf(steps, 6))
    const plain = learner.targets(sacUpdate({ entropyCoefficient: 0 }))
    expect(plain[0]).toBeCloseTo(10 + 0.9 * (4 + Math.tanh(0.7)), 1)
    const bonus = learner.targets(sacUpdate({ entropyCoefficient: 2 })).map((target, i) => target - plain[i])
    // -log π of a normal of deviation e^-5 is -4.08 on average, and that of its tanh 2 log cosh 0.7 less.
    const likeliest = -5 + 0.5 * Math.log(2 * Math.PI) - 2 * Math.log(Math.cosh(0.7))
    for (const i of [0, 1, 4]) {
      expect(bonus[i] / 1.8).toBeGreaterThan(likeliest - 0.05)
      expect(bonus[i] / 1.8).toBeLessThan(likeliest + 8)
    }
    expect(Array.from(bonus.slice(2, 4))).toEqual([0, 0])
  })
})

describe('one gradient step', () => {
  const after = async (changes: Parameters<typeof sacUpdate>[0]) => {
    const learner = learnerOf()
    learner.setWeights(actor(0))
    learner.setCriticWeights(values(1, 2))
    remember(learner, rolloutOf(steps, 6))
    const metrics = await learner.update([], sacUpdate({ learningRate: 0.1, ...changes }))
    return { learner, metrics }
  }

  test('moves the target critics by tau', async () => {
    const before = await after({ tau: 1e-12 })
    const whole = await after({ tau: 1 })
    const part = await after({ tau: 0.25 })
    const [from, to, moved] = [before, whole, part].map(
      ({ learner }) => learner.targets(sacUpdate({ entropyCoefficient: 0, seed: 1 }))[0],
    )
    expect(Math.abs(to - from)).toBeGreaterThan(0.1)
    expect(moved).toBeCloseTo(from + 0.25 * (to - from), 3)
  })

  test('moves the actor toward what the critics value', async () => {
    const { learner, metrics } = await after({ entropyCoefficient: 0, learnEntropyCoefficient: false })
    expect(learner.forward(Float32Array.of(0), 1).distribution[0]).toBeGreaterThan(0.05)
    expect(metrics).toMatchObject({ entropyCoefficient: 0, minibatchesRun: 1, approximateKl: null, clipFraction: null })
  })

  test('raises the entropy coefficient where the policy has less entropy than it should, and lowers it where more', async () => {
    const raised = (await after({ targetEntropy: 0 })).metrics
    expect(raised.entropy).toBeLessThan(0)
    expect(raised.entropyCoefficient).toBeCloseTo(0.3 * Math.exp(0.1), 3)
    expect((await after({ targetEntropy: -100 })).metrics.entropyCoefficient).toBeCloseTo(0.3 * Math.exp(-0.1), 3)
    expect((await after({ learnEntropyCoefficient: false })).metrics.entropyCoefficient).toBe(0.3)
  })
})

describe('an update', () => {
  const filled = (options: Partial<LearnerOptions> = {}) => {
    const learner = learnerOf(mixed, options)
    for (const seed of [1, 2, 3]) {
      const shape = { steps: 12, environments: 2 }
      const rollout = [0, 1].map((part) => randomRollout(mixed, shape, testRandom(seed + 10 * part)))
      learner.remember(rollout, { capacity: 100, normalizeObservation: true })
    }
    return learner
  }
  const update = sacUpdate({ gradientSteps: 20, minibatchSize: 150 })

  test('gives the same bits for the same seed and any number of threads, and others for another seed', async () => {
    const [a, b, c] = await Promise.all(
      [
        { seed: 1, threads: 1 },
        { seed: 1, threads: 3 },
        { seed: 2, threads: 1 },
      ].map(async ({ seed, threads }) => {
        const learner = filled({ threads })
        await learner.update([], { ...update, seed })
        return [...learner.weights(), ...learner.criticWeights()]
      }),
    )
    expect(b).toEqual(a)
    expect(c).not.toEqual(a)
  })

  test('makes nearly the same weights by autograd', async () => {
    const [fused, autograd] = await Promise.all(
      (['fused', 'autograd'] as const).map(async (path) => {
        const learner = filled({ path })
        const metrics = await learner.update([], update)
        return { weights: [...learner.weights(), ...learner.criticWeights()], metrics }
      }),
    )
    fused.weights.forEach((weight, i) => {
      expect(Math.abs(weight - autograd.weights[i])).toBeLessThan(5e-4)
    })
    for (const name of ['policyLoss', 'valueLoss', 'entropy', 'valueMean', 'entropyCoefficient'] as const) {
      expect(fused.metrics[name], name).toBeCloseTo(autograd.metrics[name] ?? Number.NaN, 3)
    }
  })

  test('goes on with weights and state in another learner, to the same bits', async () => {
    const whole = filled()
    await whole.update([], update)
    const resumed = learnerOf(mixed, { seed: 99 })
    resumed.setWeights(whole.weights())
    resumed.setState(whole.state())
    expect(resumed.remembered()).toEqual(whole.remembered())
    expect(resumed.state()).toEqual(whole.state())
    const next = [0, 1].map((part) => randomRollout(mixed, { steps: 5, environments: 2 }, testRandom(70 + part)))
    const metrics = []
    for (const learner of [whole, resumed]) {
      learner.remember(next, { capacity: 100, normalizeObservation: true })
      metrics.push(await learner.update([], { ...update, seed: 5 }))
    }
    expect(metrics[1]).toEqual(metrics[0])
    expect(resumed.weights()).toEqual(whole.weights())
    expect(resumed.criticWeights()).toEqual(whole.criticWeights())
    expect(resumed.targets(update)).toEqual(whole.targets(update))
  })

  test('goes on without the replay buffer, with critics and entropy coefficient', async () => {
    const whole = filled()
    await whole.update([], update)
    const resumed = learnerOf(mixed)
    resumed.setWeights(whole.weights())
    resumed.setState(whole.state({ replay: false }))
    expect(resumed.criticWeights()).toEqual(whole.criticWeights())
    expect(resumed.remembered()).toEqual({ steps: 0, bytes: 0 })
    await expect(resumed.update([], update)).rejects.toThrow('the replay buffer is empty')
  })

  test('refuses the state of another policy, and what is cut short', () => {
    const state = filled().state()
    for (const bytes of [state.slice(0, -1), state.slice(0, 40)]) {
      expect(() => learnerOf(mixed).setState(bytes)).toThrow(expect.objectContaining({ code: 'checkpoint_invalid' }))
    }
    expect(() => learnerOf().setState(state)).toThrow(expect.objectContaining({ code: 'checkpoint_invalid' }))
  })

  test('fails where it diverges, and keeps all that was learned', async () => {
    const learner = filled()
    await learner.update([], update)
    const before = { state: learner.state(), weights: learner.weights() }
    await expect(learner.update([], { ...update, learningRate: 3e38 })).rejects.toMatchObject({
      code: 'training_diverged',
    })
    expect(learner.weights()).toEqual(before.weights)
    expect(learner.state()).toEqual(before.state)
  })
})
