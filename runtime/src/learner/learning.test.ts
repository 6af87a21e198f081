import type { PolicySpec, SpaceDescription } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { testRandom } from '../policy/testing/policy-cases.ts'
import { createLearner } from './learner.ts'
import type { Learner, RolloutSegment } from './learner-types.ts'
import { ppoUpdate } from './testing/ppo-cases.ts'

/** One-step episodes: the reward of an action depends on the observation and on nothing before. */
type Bandit = {
  spec: PolicySpec
  observe(random: () => number): number[]
  /** Action and its log-probability under a distribution row. */
  sample(row: Float32Array, learner: Learner, random: () => number): { action: number; logProbability: number }
  reward(observation: number[], action: number): number
}

const network = { hidden: [32], activation: 'tanh', embedding: 8, normalizeObservation: false } as const
const policy = (observation: SpaceDescription, action: SpaceDescription) =>
  buildPolicySpec({ observation, action }, { ...network, hidden: [...network.hidden] })

const sampleCategorical: Bandit['sample'] = (row, _learner, random) => {
  const weights = row.map(Math.exp)
  const total = weights.reduce((a, b) => a + b, 0)
  let left = random() * total
  let action = 0
  while (action < weights.length - 1 && left >= weights[action]) left -= weights[action++]
  return { action, logProbability: Math.log(weights[action] / total) }
}

/** A word decides which of three actions pays; texts hold it among words that mean nothing. */
const words: Bandit = {
  spec: policy({ type: 'text', maxTokens: 4, vocabulary: 9 }, { type: 'discrete', n: 3, start: 0 }),
  observe: (random) => [4 + Math.floor(random() * 5), 1 + Math.floor(random() * 3), 4 + Math.floor(random() * 5), 0],
  sample: sampleCategorical,
  reward: (observation, action) => (observation[1] - 1 === action ? 1 : 0),
}

/** Pays by nearness to a target that the observation gives (20 + 6x, x uniform in ±1), in an action space of odd bounds. */
const target: Bandit = {
  spec: policy({ type: 'box', shape: [1], low: [-1], high: [1] }, { type: 'box', shape: [1], low: [10], high: [30] }),
  observe: (random) => [random() * 2 - 1],
  sample: (row, learner, random) => {
    const logStd = learner.weights().at(-4) ?? 0 // before normalizer.mean, normalizer.variance and value.scale
    const z = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    const deviation = 10 * Math.exp(logStd)
    return {
      action: row[0] + deviation * z,
      logProbability: -0.5 * z * z - Math.log(deviation) - 0.5 * Math.log(2 * Math.PI),
    }
  },
  reward: (observation, action) => -(((action - (20 + 6 * observation[0])) / 10) ** 2),
}

function play(bandit: Bandit, learner: Learner, environments: number, random: () => number): RolloutSegment {
  const observed = Array.from({ length: environments }, () => bandit.observe(random))
  const observations = Float32Array.from([...observed, ...observed].flat())
  const { distribution } = learner.forward(observations.slice(0, observations.length / 2), environments)
  const columns = distribution.length / environments
  const choices = observed.map((_, i) =>
    bandit.sample(distribution.subarray(i * columns, (i + 1) * columns), learner, random),
  )
  return {
    steps: 1,
    environments,
    observations,
    finalObservations: observations.slice(0, observations.length / 2),
    actions: Float32Array.from(choices, ({ action }) => action),
    logProbabilities: Float32Array.from(choices, ({ logProbability }) => logProbability),
    rewards: Float32Array.from(choices, ({ action }, i) => bandit.reward(observed[i], action)),
    flags: new Uint8Array(environments).fill(1),
    masks: null,
    lengths: null,
    states: null,
  }
}

describe.each(['autograd', 'fused'] as const)('PPO learns, %s', (path) => {
  // Thresholds are what no policy reaches that ignores its observation, with room for the last bits of a processor: 1/3 by
  // naming one action, -Var(6x) / 100 = -0.12 by aiming at the mean target.
  test.each([
    ['which action a word asks for', words, 0.9],
    ['where a continuous target lies', target, -0.12],
  ] as const)('%s', async (_name, bandit, threshold) => {
    const random = testRandom(2)
    const learner = createLearner(bandit.spec, { seed: 2, device: 'cpu', threads: 1, path })
    const update = ppoUpdate({ epochs: 8, minibatchSize: 64, learningRate: 0.01, entropyCoefficient: 0 })
    for (let i = 0; i < 40; i++) await learner.update([play(bandit, learner, 256, random)], { ...update, seed: i })
    const { rewards } = play(bandit, learner, 1000, random)
    expect(rewards.reduce((a, b) => a + b, 0) / rewards.length).toBeGreaterThan(threshold)
  })
})
