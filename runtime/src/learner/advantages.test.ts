import { describe, expect, test } from 'vitest'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { policyCases, randomWeights, testRandom } from '../policy/testing/policy-cases.ts'
import { referenceForward } from '../policy/testing/reference-forward.ts'
import { createLearner } from './learner.ts'
import type { RolloutSegment } from './learner-types.ts'
import { ppoUpdate, randomRollout } from './testing/ppo-cases.ts'

/** No hidden layer, so that the critic is value = 1 · observation + 0 and every value can be read off. */
const spec = buildPolicySpec(
  {
    observation: { type: 'box', shape: [1], low: [null], high: [null] },
    action: { type: 'discrete', n: 2, start: 0 },
  },
  { hidden: [], activation: 'tanh', embedding: 1, normalizeObservation: false },
)

function identityCritic(path: 'autograd' | 'fused') {
  const learner = createLearner(spec, { seed: 1, device: 'cpu', threads: 1, path })
  const weights = learner.weights().fill(0)
  weights[4] = 1 // after the actor's [2, 1] and [2]: critic.out.weight
  weights[weights.length - 1] = 1 // value.scale
  learner.setWeights(weights)
  return learner
}

function segment(environments: number, rewards: number[], values: number[], flags: number[], finals: number[] = []) {
  const rows = rewards.length
  return {
    steps: rows / environments,
    environments,
    observations: Float32Array.from(values),
    finalObservations: Float32Array.from({ length: rows }, (_, i) => finals[i] ?? Number.NaN),
    actions: new Float32Array(rows),
    logProbabilities: new Float32Array(rows).fill(-Math.LN2),
    rewards: Float32Array.from(rewards),
    flags: Uint8Array.from(flags),
    masks: null,
    lengths: null,
    states: null,
  } satisfies RolloutSegment
}

const half = ppoUpdate({ gamma: 0.5, gaeLambda: 0.5 })

describe.each(['autograd', 'fused'] as const)('advantages, %s', (path) => {
  const learner = identityCritic(path)
  const advantages = (...rollout: RolloutSegment[]) => learner.advantages(rollout, half)

  test('within an episode: delta_t plus γλ times the next', () => {
    const { values, advantages: a, returns } = advantages(segment(1, [1, 2, 3], [4, 6, 8, 2], [0, 0, 0]))
    // deltas: 1 + ½·6 - 4 = 0; 2 + ½·8 - 6 = 0; 3 + ½·2 - 8 = -4
    expect([...values]).toEqual([4, 6, 8])
    expect([...a]).toEqual([-0.25, -1, -4])
    expect([...returns]).toEqual([3.75, 5, 4])
  })

  test('termination: no value beyond, no advantage from beyond', () => {
    const { advantages: a } = advantages(segment(1, [1, 2, 3], [4, 6, 8, 2], [0, 1, 0]))
    // deltas: 0; 2 - 6 = -4; -4
    expect([...a]).toEqual([-1, -4, -4])
  })

  test('truncation: the value of the true last observation, and still no advantage from beyond', () => {
    const { advantages: a } = advantages(segment(1, [1, 2, 3], [4, 6, 8, 2], [0, 2, 0], [Number.NaN, 10]))
    // deltas: 0; 2 + ½·10 - 6 = 1; -4
    expect([...a]).toEqual([0.25, 1, -4])
  })

  test('terminated and truncated at once is terminated', () => {
    const both = advantages(segment(1, [1, 2, 3], [4, 6, 8, 2], [0, 3, 0], [Number.NaN, 10]))
    expect([...both.advantages]).toEqual([-1, -4, -4])
  })

  test('environments and segments do not mix', () => {
    const first = segment(2, [1, 10, 2, 20], [4, 1, 6, 2, 8, 3], [0, 1, 0, 0])
    const second = segment(1, [5], [1, 4], [2], [2])
    const { advantages: a } = advantages(first, second)
    // environment 0: 1 + 3 - 4 = 0, 2 + 4 - 6 = 0; environment 1: 10 - 1 = 9 (ends), 20 + 1.5 - 2 = 19.5; alone: 5 + 1 - 1
    expect([...a]).toEqual([0, 9, 0, 19.5, 5])
  })
})

test('reward 1, ten steps and γ = 0.9: a fixed point of 10 by truncation, of less by termination', () => {
  const learner = identityCritic('fused')
  const lastReturn = (flag: number, value: number) => {
    const steps = 10
    const flags = Array.from({ length: steps }, (_, i) => (i === steps - 1 ? flag : 0))
    const observations = new Array(steps + 1).fill(value)
    const rollout = segment(1, new Array(steps).fill(1), observations, flags, new Array(steps).fill(value))
    return learner.advantages([rollout], ppoUpdate({ gamma: 0.9, gaeLambda: 1 })).returns
  }
  for (const target of lastReturn(2, 10)) expect(target).toBeCloseTo(10, 4)
  expect(lastReturn(1, 10)[0]).toBeCloseTo((1 - 0.9 ** 10) / 0.1, 4)
})

describe('normalised rewards', () => {
  const update = ppoUpdate({ gamma: 0.5, normalizeReward: true, learningRate: 1e-12 })

  test('are divided by the deviation of the running discounted return, which carries on from rollout to rollout', async () => {
    const learner = identityCritic('fused')
    const zeros = [0, 0, 0]
    await learner.update([segment(1, [4, 2], zeros, [0, 0])], update) // returns 4, 4
    const weights = learner.weights()
    expect(weights[weights.length - 1]).toBe(1) // no variance yet says nothing about a scale
    const next = segment(1, [2, 6], zeros, [1, 0]) // returns 4 and, in a new episode, 6
    const { returns } = learner.advantages([next], { ...update, gaeLambda: 0 })
    const scale = Math.sqrt(0.75 + 1e-8) // variance of 4, 4, 4, 6
    expect(returns[0]).toBeCloseTo(2 / scale, 5)
    expect(returns[1]).toBeCloseTo(6 / scale, 5)
    expect(learner.weights()).toEqual(weights) // asking changes nothing
    await learner.update([next], update)
    expect(learner.weights().at(-1)).toBeCloseTo(scale, 6)
    // The critic's 1 · observation comes out in the reward's own units.
    expect(learner.forward(Float32Array.of(3), 1).values[0]).toBeCloseTo(3 * scale, 4)
  })

  test('are clipped to ±10', () => {
    const rewards = [...new Array(499).fill(0), 1000]
    const rollout = segment(1, rewards, new Array(501).fill(0), new Array(500).fill(0))
    const { returns } = identityCritic('fused').advantages([rollout], { ...update, gamma: 0 })
    expect(returns[499]).toBe(10)
  })
})

test('a policy of every kind gives the same advantages by either path', () => {
  for (const { spec } of policyCases()) {
    const random = testRandom(5)
    const rollout = [randomRollout(spec, { steps: 5, environments: 3 }, random)]
    const [autograd, fused] = (['autograd', 'fused'] as const).map((path) =>
      createLearner(spec, { seed: 3, device: 'cpu', threads: 1, path }).advantages(rollout, ppoUpdate()),
    )
    for (let i = 0; i < 15; i++) expect(fused.advantages[i]).toBeCloseTo(autograd.advantages[i], 5)
  }
})

test('a policy with memory: values go on from the states of rollout and critic, beyond no end of an episode', async () => {
  const { spec } = policyCases().find(({ name }) => name === 'a GRU') ?? policyCases()[0]
  const SEED = 5
  const units = spec.memory?.units ?? 0
  const random = testRandom(SEED)
  const learner = createLearner(spec, { seed: SEED, device: 'cpu', threads: 1 })
  const weights = randomWeights(spec, random)
  learner.setWeights(weights)
  const rollouts = [0, 1].map(() => randomRollout(spec, { steps: 9, environments: 3, ends: 0.2 }, random))
  const update = ppoUpdate({ gamma: 0.9, gaeLambda: 0.8, epochs: 1, learningRate: 1e-30 })
  const row = rollouts[0].observations.length / (10 * 3)
  const scale = weights[weights.length - 1]
  const critic = [0, 1, 2].map(() => new Array<number>(units).fill(0))
  for (const rollout of rollouts) {
    const { values, advantages, returns } = learner.advantages([rollout], update)
    // Environment by environment, in plain loops.
    for (let environment = 0; environment < 3; environment++) {
      let state = critic[environment]
      const value = (rows: Float32Array, i: number, keep: boolean) => {
        const states = [[...new Array<number>(units).fill(0), ...state]]
        const one = referenceForward(spec, weights, rows.subarray(i * row, (i + 1) * row), 1, states)
        if (keep) state = one.states[0].slice(units)
        return one.values[0] / scale
      }
      const steps = Array.from({ length: 9 }, (_, step) => {
        const at = step * 3 + environment
        const now = value(rollout.observations, at, true)
        const flags = rollout.flags[at]
        const next = (flags & 1) !== 0 ? 0 : (flags & 2) !== 0 ? value(rollout.finalObservations, at, false) : null
        if (flags !== 0) state = new Array<number>(units).fill(0)
        return { at, now, next }
      })
      const last = value(rollout.observations, 27 + environment, false)
      let chain = 0
      for (let step = 8; step >= 0; step--) {
        const { at, now, next } = steps[step]
        const following = next ?? steps[step + 1]?.now ?? last
        chain = rollout.rewards[at] + 0.9 * following - now + 0.9 * 0.8 * (next === null ? chain : 0)
        expect(values[environment * 9 + step]).toBeCloseTo(now, 4)
        expect(advantages[environment * 9 + step]).toBeCloseTo(chain, 4)
        expect(returns[environment * 9 + step]).toBeCloseTo(chain + now, 4)
      }
      critic[environment] = state
    }
    await learner.update([rollout], update)
  }
})
