import { createRng, type Rng } from '@agentgym/scenario'
import { fullTier } from '@agentgym/testkit/tier'
import { beforeAll, describe, expect, it } from 'vitest'
import { estimatePolicy, type LoggedTrajectory, type PolicyEstimate } from './estimate-policy.ts'
import { effectiveSampleSize, weightedDoublyRobust, weightedImportanceSampling } from './importance-sampling.ts'

const once = (n: number) => new Uint32Array(n).fill(1)
const episode = (
  ratios: number[],
  rewards: number[],
  actionValues = rewards.map(() => 0),
  stateValues = actionValues,
) => ({
  ratios: Float64Array.from(ratios),
  rewards: Float64Array.from(rewards),
  actionValues: Float64Array.from(actionValues),
  stateValues: Float64Array.from(stateValues),
})

describe('by hand', () => {
  it('weighted importance sampling normalizes each step by the weights of all episodes', () => {
    // Step 0: (2·1 + 0.5·3) / 2.5. Step 1: the first has ended and keeps its 2; (4·... none) second (1·5) / (2 + 1).
    const episodes = [episode([2], [1]), episode([0.5, 1], [3, 5])]
    expect(weightedImportanceSampling(episodes, once(2))).toBeCloseTo(3.5 / 2.5 + 5 / 3, 12)
    expect(effectiveSampleSize(episodes)).toBeCloseTo(9 / 5, 12)
  })

  it('doubly robust corrects the model by its weighted errors', () => {
    const episodes = [episode([2], [1], [0.5], [0.8]), episode([0.5, 1], [3, 5], [2, 4], [1, 6])]
    // Step 0: errors (2·0.5 + 0.5·1) / 2.5, values (0.8 + 1) / 2. Step 1: error 1·1 / 3, value 0.5·6 / 2.5.
    expect(weightedDoublyRobust(episodes, once(2))).toBeCloseTo(1.5 / 2.5 + 0.9 + 1 / 3 + 3 / 2.5, 12)
  })

  it('a perfect model needs no correction, and none is importance sampling', () => {
    const perfect = [episode([2], [1], [1], [1]), episode([0.1], [3], [3], [3])]
    expect(weightedDoublyRobust(perfect, once(2))).toBeCloseTo(2, 12)
    const without = [episode([2, 4], [1, 2]), episode([0.5, 1], [3, 5])]
    expect(weightedDoublyRobust(without, once(2))).toBeCloseTo(weightedImportanceSampling(without, once(2)), 12)
  })

  it('an episode that a sample drew twice counts twice', () => {
    const [a, b] = [episode([2], [1]), episode([0.5], [3])]
    expect(weightedImportanceSampling([a, b], Uint32Array.of(2, 1))).toBeCloseTo(
      weightedImportanceSampling([a, a, b], once(3)),
      12,
    )
  })
})

/**
 * Three steps. The state is 0 or 1, drawn anew at each step; action 1 pays 1 in state 1 and action 0 pays 0.4 in state 0, with noise.
 */
const payment = [
  [0.4, 0],
  [0, 1],
]
const STEPS = 3
const labels = ['left', 'right']
type Policy = readonly [right0: number, right1: number]

function trueValue(policy: Policy): number {
  const inState = (state: 0 | 1) => (1 - policy[state]) * payment[state][0] + policy[state] * payment[state][1]
  return STEPS * (0.5 * inState(0) + 0.5 * inState(1))
}

function play(n: number, logged: Policy, estimated: Policy, rng: Rng): LoggedTrajectory[] {
  return Array.from({ length: n }, () => ({
    rewarded: true,
    decisions: Array.from({ length: STEPS }, () => {
      const state = rng.int(2)
      const action = rng() < logged[state] ? 1 : 0
      const chance = (policy: Policy) => [1 - policy[state], policy[state]]
      return {
        features: Float64Array.of(state),
        action,
        probability: chance(logged)[action],
        policy: Float64Array.from(chance(estimated)),
        reward: payment[state][action] + 0.3 * rng.normal(),
      }
    }),
  }))
}

describe('against a known value', { tags: fullTier, timeout: 300_000 }, () => {
  const logged: Policy = [0.5, 0.4]
  const estimated: Policy = [0.25, 0.8]
  const value = trueValue(estimated)
  let runs: PolicyEstimate[] = []
  beforeAll(() => {
    runs = Array.from({ length: 300 }, (_, seed) =>
      estimatePolicy(play(150, logged, estimated, createRng(seed)), labels, { seed, replicates: 400 }),
    )
  }, 300_000)
  const covered = (of: (run: PolicyEstimate) => { low: number; high: number }, truth: number) =>
    runs.filter((run) => of(run).low <= truth && truth <= of(run).high).length / runs.length
  const mean = (of: (run: PolicyEstimate) => number) => runs.reduce((sum, run) => sum + of(run), 0) / runs.length

  it.each(['weighted_importance_sampling', 'doubly_robust'] as const)(
    'the interval of %s holds it in about 95%% of runs',
    (name) => {
      // The standard error of a share of 0.95 over 300 runs is 0.0126.
      expect(covered((run) => run[name], value)).toBeGreaterThan(0.91)
      expect(covered((run) => run[name], value)).toBeLessThan(0.985)
      expect(mean((run) => run[name].mean)).toBeCloseTo(value, 1)
    },
  )

  it('so do those of the logged policy and of the difference', () => {
    expect(covered((run) => run.logged, trueValue(logged))).toBeGreaterThan(0.91)
    expect(covered((run) => run.improvement, value - trueValue(logged))).toBeGreaterThan(0.91)
  })

  it('the doubly robust interval is narrower', () => {
    const width = (name: 'weighted_importance_sampling' | 'doubly_robust') =>
      mean((run) => run[name].high - run[name].low)
    expect(width('doubly_robust')).toBeLessThan(0.9 * width('weighted_importance_sampling'))
  })

  it('a policy that always takes one action, which the log took at times', () => {
    const greedy: Policy = [0, 1]
    const hits = Array.from({ length: 60 }, (_, seed) =>
      estimatePolicy(play(800, logged, greedy, createRng(seed)), labels, { replicates: 300 }),
    )
    const held = hits.filter(
      ({ doubly_robust: { low, high } }) => low <= trueValue(greedy) && trueValue(greedy) <= high,
    )
    expect(held.length).toBeGreaterThanOrEqual(52)
  })
})

describe('where nearly every episode that counts succeeds', { tags: fullTier, timeout: 300_000 }, () => {
  /** One decision; it succeeds with these chances after `left` and after `right`, which the log takes equally often. */
  const log = (n: number, chances: readonly [number, number], rng: Rng): LoggedTrajectory[] =>
    Array.from({ length: n }, () => {
      const action = rng.int(2)
      const reward = Number(rng() < chances[action])
      const decision = { features: Float64Array.of(1), action, probability: 0.5, policy: Float64Array.of(0, 1), reward }
      return { rewarded: true, decisions: [decision] }
    })

  it.each([
    [0.97, 120],
    [0.01, 120],
    [0.995, 200],
  ])('the intervals for a share of %s of %i episodes hold it', (share, n) => {
    const runs = Array.from({ length: 200 }, (_, seed) =>
      estimatePolicy(log(n, [0.5, share], createRng(seed)), labels, { seed, replicates: 200 }),
    )
    const held = (of: (run: PolicyEstimate) => { low: number; high: number }, truth: number) =>
      runs.filter((run) => of(run).low <= truth && truth <= of(run).high).length / runs.length
    // Of the episodes that count, none fails in a sixth of the logs for 0.97, and in more than half for the others.
    expect(held((run) => run.weighted_importance_sampling, share)).toBeGreaterThan(0.95)
    expect(held((run) => run.doubly_robust, share)).toBeGreaterThan(0.95)
    expect(held((run) => run.improvement, share - (0.5 + share) / 2)).toBeGreaterThan(0.91)
    // No weighted share is above 1 or below 0.
    for (const { weighted_importance_sampling } of runs) {
      expect(weighted_importance_sampling.high).toBeLessThan(1 + 1e-9)
      expect(weighted_importance_sampling.low).toBeGreaterThan(-1e-9)
    }
  })
})

describe('refusals', () => {
  const good = play(200, [0.5, 0.5], [0.4, 0.6], createRng(1))
  const edit = (change: (decision: LoggedTrajectory['decisions'][number]) => object): LoggedTrajectory[] =>
    good.map(({ decisions, ...rest }) => ({
      ...rest,
      decisions: decisions.map((each) => ({ ...each, ...change(each) })),
    }))
  const refused = (log: readonly LoggedTrajectory[], reason: string, message: RegExp) =>
    expect(() => estimatePolicy(log, labels)).toThrow(
      expect.objectContaining({ code: 'estimate_refused', data: { reason }, message: expect.stringMatching(message) }),
    )

  it('none for a log that can carry it', () => expect(estimatePolicy(good, labels).episodes).toBe(200))
  it('too few episodes', () => refused(good.slice(0, 49), 'too_few_episodes', /has 49 episodes/))
  it('no outcomes', () =>
    refused(
      good.map((each) => ({ ...each, rewarded: false })),
      'no_outcomes',
      /200 of 200/,
    ))
  it('no probabilities', () =>
    refused(
      edit(() => ({ probability: null })),
      'no_probabilities',
      /600 of 600/,
    ))
  it('a probability of 0', () =>
    refused(
      edit(() => ({ probability: 0 })),
      'probabilities_invalid',
      /probability 0$/,
    ))
  it('tools that the log never tried', () =>
    refused(
      edit(() => ({ action: 0, policy: Float64Array.of(0.5, 0.5) })),
      'support',
      /never tried: right \(50.0%/,
    ))
  it('choices that had no chance', () =>
    refused(
      edit(() => ({ probability: 1 })),
      'support',
      /probability 0 in the log/,
    ))
  it('choices whose logged probability is 0', () =>
    refused(
      edit(({ action }) => ({ probabilities: action === 0 ? [1, 0] : [0, 1] })),
      'support',
      /probability 0 in the log/,
    ))
  it('a policy too unlike the log', () =>
    refused(play(60, [0.5, 0.5], [0.999, 0.001], createRng(2)), 'effective_sample_size', /say as much as \d/))
})
