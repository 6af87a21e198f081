import type { PolicySpec } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { policyCases, testRandom, toolSpaces } from '../policy/testing/policy-cases.ts'
import { createLearner } from './learner.ts'
import type { Learner, LearnerOptions, Minibatch, PpoUpdate, RolloutSegment } from './learner-types.ts'
import { expectSameMetrics, ppoUpdate, randomRollout, relativeDistance } from './testing/ppo-cases.ts'

const SEED = 11
const paths = ['autograd', 'fused'] as const

const caseNamed = (name: string): PolicySpec => {
  const found = policyCases().find((candidate) => candidate.name === name)
  if (!found) throw new Error(`no policy case "${name}"`)
  return found.spec
}
const simple = caseNamed('box to discrete, relu')
const mixed = caseNamed('dict to dict, tanh, normalised')

const learnerOf = (spec: PolicySpec, options: Partial<LearnerOptions> = {}) =>
  createLearner(spec, { seed: SEED, device: 'cpu', threads: 1, path: 'fused', ...options })
const finite = (values: Float32Array) => values.every(Number.isFinite)
const small = (seed = SEED, spec = simple) => [
  randomRollout(spec, { steps: 16, environments: 4 }, testRandom(seed)),
  randomRollout(spec, { steps: 16, environments: 2 }, testRandom(seed + 1)),
]

describe('the same seed gives the same bits', () => {
  const update = ppoUpdate({ epochs: 3, minibatchSize: 20, normalizeReward: true, normalizeObservation: true })

  test.each(paths)('twice over, %s', async (path) => {
    for (const threads of [1, 2]) {
      const runs = await Promise.all(
        [0, 1].map(async () => {
          const learner = learnerOf(mixed, { path, threads })
          await learner.update(small(SEED, mixed), update)
          return learner.weights()
        }),
      )
      expect(runs[1]).toEqual(runs[0])
      expect(finite(runs[0])).toBe(true)
    }
  })

  test('for one thread or two, on the fused path', async () => {
    const rollout = [randomRollout(simple, { steps: 64, environments: 32 }, testRandom(SEED))]
    const [one, two] = await Promise.all(
      [1, 2].map(async (threads) => {
        const learner = learnerOf(simple, { threads })
        await learner.update(rollout, ppoUpdate({ epochs: 2, minibatchSize: 512 }))
        return learner.weights()
      }),
    )
    expect(two).toEqual(one)
  })

  test('other seeds shuffle otherwise, and make other weights', async () => {
    const [a, b, c] = [learnerOf(simple), learnerOf(simple), learnerOf(simple, { seed: SEED + 1 })]
    expect(a.weights()).toEqual(b.weights())
    expect(a.weights()).not.toEqual(c.weights())
    await a.update(small(), { ...update, seed: 1 })
    await b.update(small(), { ...update, seed: 2 })
    expect(a.weights()).not.toEqual(b.weights())
  })

  test.each(paths)('with state() and weights() taken over into another learner, %s', async (path) => {
    const whole = learnerOf(mixed, { path })
    await whole.update(small(1, mixed), update)
    const resumed = learnerOf(mixed, { path, seed: 99 })
    resumed.setWeights(whole.weights())
    resumed.setState(whole.state())
    for (const learner of [whole, resumed]) await learner.update(small(2, mixed), { ...update, seed: 5 })
    expect(resumed.weights()).toEqual(whole.weights())
    expect(resumed.state()).toEqual(whole.state())
  })
})

test('a token that no longer occurs goes on by its moments, and one that never did stays, as in dense Adam', async () => {
  const spec = buildPolicySpec(
    { observation: { type: 'text', maxTokens: 4, vocabulary: 60 }, action: { type: 'discrete', n: 3, start: 0 } },
    { hidden: [8], activation: 'tanh', embedding: 20, normalizeObservation: false },
  )
  const rolloutOf = (first: number, seed: number) => {
    const rollout = randomRollout(spec, { steps: 16, environments: 4 }, testRandom(seed))
    for (const rows of [rollout.observations, rollout.finalObservations]) rows.set(rows.map((_, i) => first + (i % 9)))
    return [rollout]
  }
  const [autograd, fused] = await Promise.all(
    paths.map(async (path) => {
      const learner = learnerOf(spec, { path })
      const start = learner.weights()
      await learner.update(rolloutOf(1, 1), ppoUpdate({ epochs: 2, minibatchSize: 16 }))
      const between = learner.weights()
      await learner.update(rolloutOf(20, 2), ppoUpdate({ epochs: 2, minibatchSize: 16 }))
      return { start, between, end: learner.weights() }
    }),
  )
  const table = parameterLayout(spec).parameters.find(
    ({ name }) => name.startsWith('actor') && name.includes('embedding'),
  )
  if (!table) throw new Error('no table of embeddings')
  const row = (weights: Float32Array, token: number) =>
    weights.subarray(table.offset + token * 20, table.offset + token * 20 + 20)
  expect(row(fused.end, 3)).not.toEqual(row(fused.between, 3))
  expect(row(fused.end, 50)).toEqual(row(fused.start, 50))
  expect(relativeDistance(fused.end, autograd.end)).toBeLessThan(1e-4)
})

test('both paths learn the same', async () => {
  for (const spec of [simple, mixed]) {
    const [autograd, fused] = await Promise.all(
      paths.map(async (path) => {
        const learner = learnerOf(spec, { path })
        const metrics = await learner.update(small(SEED, spec), ppoUpdate({ epochs: 4, minibatchSize: 32 }))
        return { weights: learner.weights(), metrics }
      }),
    )
    expect(relativeDistance(fused.weights, autograd.weights)).toBeLessThan(1e-4)
    expectSameMetrics(fused.metrics, autograd.metrics)
  }
})

test.each(paths)('clips the gradient and steps as Adam does, %s', async (path) => {
  const learner = learnerOf(simple, { path })
  const update = ppoUpdate({ learningRate: 0.01, maxGradientNorm: 0.1 })
  const { trainableSize } = parameterLayout(simple)
  const [first, second] = [new Float64Array(trainableSize), new Float64Array(trainableSize)]
  for (let step = 1; step <= 3; step++) {
    const rollout = [randomRollout(simple, { steps: 8, environments: 3 }, testRandom(step))]
    const gradient = learner.gradient(minibatchOf(rollout, learner, update), update, path)
    const norm = Math.hypot(...gradient)
    const before = learner.weights()
    const metrics = await learner.update(rollout, update)
    expect(metrics.gradientNorm).toBeCloseTo(norm, 4)
    expect(norm).toBeGreaterThan(0.1)
    const after = learner.weights()
    for (let i = 0; i < trainableSize; i++) {
      const g = gradient[i] * (0.1 / (norm + 1e-6))
      first[i] = 0.9 * first[i] + 0.1 * g
      second[i] = 0.999 * second[i] + 0.001 * g * g
      const corrected = Math.sqrt(second[i] / (1 - 0.999 ** step)) + 1e-5
      const expected = before[i] - (0.01 * (first[i] / (1 - 0.9 ** step))) / corrected
      expect(Math.abs(after[i] - expected)).toBeLessThan(2e-6)
    }
  }
})

test.each(paths)('steps as RMSprop does in TensorFlow, %s', async (path) => {
  const learner = learnerOf(simple, { path })
  const update = ppoUpdate({ optimizer: 'rmsprop', clipRange: null, learningRate: 0.01, maxGradientNorm: 0.1 })
  const { trainableSize } = parameterLayout(simple)
  const square = new Float64Array(trainableSize).fill(1)
  for (let step = 1; step <= 3; step++) {
    const rollout = [randomRollout(simple, { steps: 8, environments: 3 }, testRandom(step))]
    const gradient = learner.gradient(minibatchOf(rollout, learner, update), update, path)
    const norm = Math.hypot(...gradient)
    const before = learner.weights()
    await learner.update(rollout, update)
    const after = learner.weights()
    for (let i = 0; i < trainableSize; i++) {
      const g = gradient[i] * Math.min(1, 0.1 / (norm + 1e-6))
      square[i] = 0.99 * square[i] + 0.01 * g * g
      expect(Math.abs(after[i] - (before[i] - (0.01 * g) / Math.sqrt(square[i] + 1e-5)))).toBeLessThan(2e-6)
    }
  }
})

/** A rollout of 24 rows as the one minibatch that an update makes of it. */
function minibatchOf(rollout: RolloutSegment[], learner: Learner, update: PpoUpdate): Minibatch {
  const [segment] = rollout
  const observations = segment.observations.slice(0, 24 * 5)
  return { ...segment, size: 24, observations, ...learner.advantages(rollout, update), referenceLogProbabilities: null }
}

describe('sizes that leave one sample', () => {
  test.each([
    [65, 64],
    [1, 64],
    [1, 1],
    [3, 1],
  ])('rollout %i, minibatch %i: finite weights', async (steps, minibatchSize) => {
    for (const path of paths) {
      const learner = learnerOf(simple, { path })
      const before = learner.weights()
      const rollout = [randomRollout(simple, { steps, environments: 1 }, testRandom(SEED))]
      const changes = { epochs: 2, minibatchSize, normalizeReward: true, normalizeObservation: true }
      const metrics = await learner.update(rollout, ppoUpdate(changes))
      expect(finite(learner.weights())).toBe(true)
      expect(learner.weights()).not.toEqual(before)
      expect(metrics.minibatchesRun).toBe(2 * Math.ceil(steps / minibatchSize))
    }
  })
})

describe('target KL', () => {
  const changes = { epochs: 10, minibatchSize: 32, learningRate: 0.1, maxGradientNorm: 100 }

  test.each(paths)('ends the epochs once the policy went too far, %s', async (path) => {
    const free = await learnerOf(simple, { path }).update(small(), ppoUpdate(changes))
    expect(free).toMatchObject({ epochsRun: 10, minibatchesRun: 30 })
    const held = await learnerOf(simple, { path }).update(small(), ppoUpdate({ ...changes, targetKl: 0.01 }))
    expect(held.minibatchesRun).toBeLessThan(30)
  })

  test('does not learn from the minibatch that shows it', async () => {
    const learner = learnerOf(simple)
    const before = learner.weights()
    const [segment] = small()
    const far = { ...segment, logProbabilities: segment.logProbabilities.map(() => -5) }
    const metrics = await learner.update([far], ppoUpdate({ targetKl: 1e-3 }))
    expect(metrics).toMatchObject({ epochsRun: 1, minibatchesRun: 0 })
    expect(metrics.approximateKl).toBeGreaterThan(1)
    expect(learner.weights()).toEqual(before)
  })
})

describe('observation statistics', () => {
  test('are merged rollout by rollout, and keep a small signal on a large offset', async () => {
    const learner = learnerOf(mixed)
    const { parameters } = parameterLayout(mixed)
    const at = (name: string) => parameters.find((parameter) => parameter.name === name)?.offset ?? -1
    const [mean, variance] = [at('normalizer.mean'), at('normalizer.variance')]
    const seen: number[] = []
    for (let i = 0; i < 2; i++) {
      const [segment] = small(i, mixed)
      const row = segment.observations.length / (17 * 4)
      for (let j = 0; j < 64; j++) {
        segment.observations[j * row] = 10_000 + 0.01 * segment.observations[j * row]
        seen.push(segment.observations[j * row])
      }
      await learner.update([segment], ppoUpdate({ normalizeObservation: true }))
    }
    const expected = seen.reduce((a, b) => a + b, 0) / seen.length
    const weights = learner.weights()
    expect(weights[mean]).toBeCloseTo(expected, 2)
    expect(weights[variance] / (seen.reduce((sum, x) => sum + (x - expected) ** 2, 0) / seen.length)).toBeCloseTo(1, 4)
  })
})

test('slots of a list share their statistics', async () => {
  const settings = { hidden: [4], activation: 'tanh', embedding: 3, normalizeObservation: true } as const
  const spec = buildPolicySpec(toolSpaces(), { ...settings, hidden: [4] })
  const learner = learnerOf(spec)
  const rollout = [0, 1].map((seed) => randomRollout(spec, { steps: 16, environments: 4 }, testRandom(seed)))
  const list = spec.observation.find(({ slots }) => slots !== undefined)
  const row = spec.observation.reduce((sum, { size }) => sum + size, 0)
  const seen: number[] = []
  for (const segment of rollout) {
    for (let i = 0; i < 64; i++) {
      for (let slot = 0; slot < 4; slot++) seen.push(segment.observations[i * row + (list?.offset ?? 0) + slot * 3 + 1])
    }
    await learner.update([segment], ppoUpdate({ normalizeObservation: true }))
  }
  const weights = learner.weights()
  const at = (name: string) =>
    parameterLayout(spec).parameters.find((parameter) => parameter.name === name)?.offset ?? -1
  const of = (name: string) => [0, 1, 2, 3].map((slot) => weights[at(name) + slot * 3 + 1])
  const mean = seen.reduce((a, b) => a + b, 0) / seen.length
  const variance = seen.reduce((sum, x) => sum + (x - mean) ** 2, 0) / seen.length
  for (const value of of('normalizer.mean')) expect(value).toBeCloseTo(mean, 5)
  for (const value of of('normalizer.variance')) expect(value).toBeCloseTo(variance, 4)
  learner.dispose()
})

describe('fixed statistics', () => {
  const columns = parameterLayout(mixed).parameters.find(({ name }) => name === 'normalizer.mean')?.size ?? 0
  const fixed = {
    fixed: Uint8Array.from({ length: columns }, (_, i) => (i === 0 ? 1 : 0)),
    mean: new Float32Array(columns).fill(3),
    variance: new Float32Array(columns).fill(4),
  }
  const statistics = (learner: Learner) =>
    ['normalizer.mean', 'normalizer.variance'].map((name) => {
      const { offset = 0 } = parameterLayout(mixed).parameters.find((parameter) => parameter.name === name) ?? {}
      return [...learner.weights().subarray(offset, offset + columns)]
    })

  test('stay, while the others follow the observations', async () => {
    const learner = learnerOf(mixed, { statistics: fixed })
    const before = statistics(learner)
    expect([before[0][0], before[1][0], before[0][1], before[1][1]]).toEqual([3, 4, 0, 1])
    await learner.update(small(1, mixed), ppoUpdate({ normalizeObservation: true }))
    const [mean, variance] = statistics(learner)
    expect([mean[0], variance[0]]).toEqual([3, 4])
    expect(mean[1]).not.toBe(0)
    expect(variance[1]).not.toBe(1)
  })

  test('have deviation 1 where a column never varied', async () => {
    const learner = learnerOf(mixed)
    const [segment] = small(1, mixed)
    const row = segment.observations.length / (17 * 4)
    for (let j = 0; j < 17 * 4; j++) segment.observations[j * row] = 5
    await learner.update([segment], ppoUpdate({ normalizeObservation: true }))
    const [mean, variance] = statistics(learner)
    expect([mean[0], variance[0]]).toEqual([5, 1])
  })
})

describe('the first rollout of a normalised run', () => {
  test.each(['fused', 'autograd'] as const)('gives its statistics before its own update (%s)', async (path) => {
    const rollout = small(0, mixed)
    const update = ppoUpdate({ normalizeObservation: true, normalizeReward: false, epochs: 1 })
    const learner = learnerOf(mixed, { path })
    const metrics = await learner.update(rollout, update)
    // One minibatch of all: the policy is compared with itself, whatever the actions were sampled with.
    expect(metrics.approximateKl).toBeCloseTo(0, 6)
    expect(metrics.clipFraction).toBe(0)

    // A learner that has these statistics already learns the same from samples scored under them.
    const { trainableSize } = parameterLayout(mixed)
    const informed = learnerOf(mixed, { path })
    const weights = informed.weights()
    weights.set(learner.weights().subarray(trainableSize), trainableSize)
    informed.setWeights(weights)
    const again = await informed.update(rollout, { ...update, normalizeObservation: false })
    expect(again.valueLoss).toBeCloseTo(metrics.valueLoss ?? Number.NaN, 4)
  })
})

describe('what cannot be learned from', () => {
  const broken = (change: (segment: RolloutSegment) => void) => {
    const rollout = small()
    change(rollout[1])
    return rollout
  }

  test.each([
    ['reward_not_finite', (segment: RolloutSegment) => segment.rewards.fill(Number.NaN, 3, 4)],
    ['observation_invalid', (segment: RolloutSegment) => segment.observations.fill(Number.POSITIVE_INFINITY, 15, 16)],
    ['no_legal_action', (segment: RolloutSegment) => Object.assign(segment, { masks: new Uint8Array(32 * 3) })],
    [
      'mask_invalid',
      (segment: RolloutSegment) => {
        segment.actions.fill(0)
        Object.assign(segment, { masks: new Uint8Array(32 * 3).map((_, i) => (i % 3 === 1 ? 1 : 0)) })
      },
    ],
  ])('is refused with %s, and changes nothing', async (code, change) => {
    const learner = learnerOf(simple)
    const before = [learner.weights(), learner.state()]
    await expect(learner.update(broken(change), ppoUpdate())).rejects.toMatchObject({ name: 'AgentGymError', code })
    expect([learner.weights(), learner.state()]).toEqual(before)
  })

  test.each(paths)(
    'training that diverges fails with training_diverged and keeps the weights before, %s',
    async (path) => {
      const learner = learnerOf(simple, { path })
      await learner.update(small(), ppoUpdate({ normalizeReward: true }))
      const before = [learner.weights(), learner.state()]
      const huge = broken((segment) => segment.rewards.fill(3e38))
      const update = ppoUpdate({ epochs: 2, minibatchSize: 16 })
      await expect(learner.update(huge, update)).rejects.toMatchObject({ code: 'training_diverged' })
      const wild = ppoUpdate({
        epochs: 2,
        minibatchSize: 16,
        learningRate: 1e35,
        maxGradientNorm: 1e30,
        normalizeReward: true,
      })
      await expect(learner.update(small(2), wild)).rejects.toMatchObject({ code: 'training_diverged' })
      expect([learner.weights(), learner.state()]).toEqual(before)
      await learner.update(small(3), ppoUpdate())
      expect(finite(learner.weights())).toBe(true)
    },
  )
})

test('the main thread goes on while an update runs, and nothing else may touch the learner', async () => {
  const learner = learnerOf(simple)
  const rollout = [randomRollout(simple, { steps: 256, environments: 64 }, testRandom(SEED))]
  let beats = 0
  const heart = setInterval(() => beats++, 1)
  const running = learner.update(rollout, ppoUpdate({ epochs: 10, minibatchSize: 64 }))
  expect(() => learner.weights()).toThrow('while an update runs')
  await expect(learner.update(rollout, ppoUpdate())).rejects.toThrow('while an update runs')
  await running
  clearInterval(heart)
  expect(beats).toBeGreaterThan(0)
  expect(finite(learner.weights())).toBe(true)
})
