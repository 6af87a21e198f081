import { describe, expect, test } from 'vitest'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { testRandom, valueCases } from '../policy/testing/policy-cases.ts'
import { createLearner } from './learner.ts'
import type { Learner, LearnerOptions } from './learner-types.ts'
import { dqnUpdate, linearQ, rolloutOf } from './testing/dqn-cases.ts'
import { randomRollout } from './testing/ppo-cases.ts'

const SEED = 11
const TERMINATED = 1
const TRUNCATED = 2

const learnerOf = (spec = linearQ(), options: Partial<LearnerOptions> = {}) =>
  createLearner(spec, { seed: SEED, device: 'cpu', threads: 1, path: 'fused', ...options })
const mixed = (valueCases().find(({ name }) => name === 'dict, dueling_q') ?? valueCases()[0]).spec

const remember = (learner: Learner, rollout: ReturnType<typeof rolloutOf>, capacity = 100) =>
  learner.remember([rollout], { capacity, normalizeObservation: false })

/** Q(x, a) = w_a x. */
const slopes = (first: number, second: number) => Float32Array.of(first, second, 0, 0, 0, 1)

/** Q(x, 0) = x and Q(x, 1) = 2x, for both networks. */
function valued(): Learner {
  const learner = learnerOf()
  learner.setWeights(slopes(1, 2))
  return learner
}

const expectTargets = (actual: Float32Array, expected: number[]) => {
  expect(actual.length).toBe(expected.length)
  expected.forEach((value, i) => {
    expect(actual[i], `target ${i}`).toBeCloseTo(value, 3)
  })
}

describe('targets', () => {
  test('bootstrap from the next observation, from the true last one after a truncation, and from nothing after an end', () => {
    const learner = valued()
    const steps = [
      { x: 1, reward: 10 },
      { x: 2, reward: 20, flags: TRUNCATED, final: 30 },
      { x: 3, reward: 30, flags: TERMINATED, final: 99 },
      { x: 4, reward: 40, flags: TERMINATED | TRUNCATED, final: 99 },
      { x: 5, reward: 50 },
    ]
    remember(learner, rolloutOf(steps, 6))
    expectTargets(learner.targets(dqnUpdate()), [10 + 0.9 * 4, 20 + 0.9 * 60, 30, 40, 50 + 0.9 * 12])
  })

  test('of n steps stop at an episode’s end, and at the end of what is known', () => {
    const learner = valued()
    const steps = [
      { x: 1, reward: 1 },
      { x: 2, reward: 2 },
      { x: 3, reward: 3, flags: TRUNCATED, final: 7 },
      { x: 4, reward: 4 },
      { x: 5, reward: 5, flags: TERMINATED },
      { x: 6, reward: 6 },
    ]
    remember(learner, rolloutOf(steps, 8))
    const expected = [
      1 + 0.9 * 2 + 0.81 * 3 + 0.729 * 14,
      2 + 0.9 * 3 + 0.81 * 14,
      3 + 0.9 * 14,
      4 + 0.9 * 5,
      5,
      6 + 0.9 * 16,
    ]
    expectTargets(learner.targets(dqnUpdate({ nStep: 3 })), expected)
    // The next rollout completes the last one.
    remember(learner, rolloutOf([{ x: 8, reward: 8 }], 9))
    expectTargets(learner.targets(dqnUpdate({ nStep: 3 })).slice(5), [6 + 0.9 * 8 + 0.81 * 18, 8 + 0.9 * 18])
  })

  test('go around the ring, oldest first, with the last observations that belong to them', () => {
    const learner = valued()
    let oldest = 0
    for (let i = 0; i < 9; i++) {
      const x = 10 * i
      const steps = [
        { x, reward: x, flags: TRUNCATED, final: x + 5 },
        { x: x + 1, reward: x + 1 },
        { x: x + 2, reward: x + 2, flags: TERMINATED },
      ]
      remember(learner, rolloutOf(steps, x + 10), 7)
      const kept = Math.min(7, 3 * (i + 1))
      expect(learner.remembered().steps).toBe(kept)
      const targets = (j: number) => [10 * j + 0.9 * (20 * j + 10), 10 * j + 1 + 0.9 * (20 * j + 4), 10 * j + 2]
      const all = Array.from({ length: i + 1 }, (_, j) => targets(j)).flat()
      oldest = all.length - kept
      expectTargets(learner.targets(dqnUpdate()), all.slice(oldest))
    }
  })

  test('take the best legal action; where its mask is not known, that of the step before holds', () => {
    const learner = valued()
    const steps = [
      { x: 1, reward: 0, mask: [1, 1] as [number, number] },
      { x: 2, reward: 0, mask: [1, 0] as [number, number], flags: TRUNCATED, final: 50 },
      { x: 3, reward: 0, mask: [1, 1] as [number, number] },
    ]
    remember(learner, rolloutOf(steps, 4))
    expectTargets(learner.targets(dqnUpdate({ gamma: 1 })), [2, 50, 8])
  })

  test('of double Q-learning: the network chooses, the target network values', async () => {
    const learner = valued()
    remember(learner, rolloutOf([{ x: 1, reward: 0 }], 1))
    await learner.update([], dqnUpdate()) // makes the target network
    learner.setWeights(slopes(5, 3))
    expectTargets(learner.targets(dqnUpdate({ gamma: 1 })), [1])
    expectTargets(learner.targets(dqnUpdate({ gamma: 1, doubleQ: false })), [2])
  })
})

describe('the target network', () => {
  const steps = [
    { x: 1, action: 1, reward: 3, flags: TERMINATED },
    { x: 1, action: 1, reward: 0 },
  ]
  const after = async (changes: Parameters<typeof dqnUpdate>[0]) => {
    const learner = valued()
    remember(learner, rolloutOf(steps, 1))
    await learner.update([], dqnUpdate({ learningRate: 0.1, ...changes }))
    const [, target] = learner.targets(dqnUpdate({ gamma: 1, doubleQ: false }))
    return { target, best: Math.max(...learner.forward(Float32Array.of(1), 1).distribution) }
  }

  test('stays until its interval has passed, then becomes the network', async () => {
    expect((await after({ gradientSteps: 4, targetInterval: 5 })).target).toBe(2)
    const moved = await after({ gradientSteps: 4, targetInterval: 4 })
    expect(moved.target).toBeCloseTo(moved.best, 6)
    expect(moved.target).not.toBe(2)
  })

  test('moves by tau', async () => {
    const { target, best } = await after({ gradientSteps: 1, targetInterval: 1, tau: 0.25 })
    expect(target).toBeCloseTo(2 + 0.25 * (best - 2), 5)
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
  const update = dqnUpdate({ gradientSteps: 20, targetInterval: 7, nStep: 2 })

  test('gives the same bits for the same seed, and others for another', async () => {
    const [a, b, c] = await Promise.all(
      [1, 1, 2].map(async (seed) => {
        const learner = filled()
        await learner.update([], { ...update, seed })
        return learner.weights()
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
        return { weights: learner.weights(), metrics }
      }),
    )
    for (let i = 0; i < fused.weights.length; i++)
      expect(Math.abs(fused.weights[i] - autograd.weights[i])).toBeLessThan(2e-4)
    expect(fused.metrics.valueLoss).toBeCloseTo(autograd.metrics.valueLoss ?? Number.NaN, 4)
    expect(fused.metrics.valueMean).toBeCloseTo(autograd.metrics.valueMean ?? Number.NaN, 4)
    expect(fused.metrics).toMatchObject({ policyLoss: null, entropy: null, minibatchesRun: 20 })
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
    for (const learner of [whole, resumed]) {
      learner.remember(next, { capacity: 100, normalizeObservation: true })
      await learner.update([], { ...update, seed: 5 })
    }
    expect(resumed.weights()).toEqual(whole.weights())
    expect(resumed.targets(update)).toEqual(whole.targets(update))
  })

  test('goes on without the replay buffer: the target network stays, the buffer fills anew', async () => {
    const whole = filled()
    await whole.update([], update)
    const resumed = learnerOf(mixed)
    resumed.setWeights(whole.weights())
    resumed.setState(whole.state({ replay: false }))
    expect(resumed.remembered()).toEqual({ steps: 0, bytes: 0 })
    await expect(resumed.update([], update)).rejects.toThrow('the replay buffer is empty')
    expect(whole.state().length - whole.state({ replay: false }).length).toBeGreaterThan(whole.remembered().bytes / 2)
  })

  test('refuses the state of another policy, and what is cut short', () => {
    const state = filled().state()
    for (const bytes of [state.slice(0, -1), state.slice(0, 40)]) {
      expect(() => learnerOf(mixed).setState(bytes)).toThrow(expect.objectContaining({ code: 'checkpoint_invalid' }))
    }
    expect(() => learnerOf().setState(state)).toThrow(expect.objectContaining({ code: 'checkpoint_invalid' }))
  })

  test('fails where it diverges, and keeps the weights', async () => {
    const learner = valued()
    remember(learner, rolloutOf([{ x: 1, reward: 1 }], 1))
    const before = learner.weights()
    const wild = dqnUpdate({ gradientSteps: 5, learningRate: 3e38, maxGradientNorm: 1e30 })
    await expect(learner.update([], wild)).rejects.toMatchObject({ code: 'training_diverged' })
    expect(learner.weights()).toEqual(before)
  })
})

test('the network is one: nothing of a critic is stored', () => {
  const names = parameterLayout(linearQ()).parameters.map(({ name }) => name)
  expect(names).toEqual(['q.out.weight', 'q.out.bias', 'normalizer.mean', 'normalizer.variance'])
})
