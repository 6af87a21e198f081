import { setTimeout as sleep } from 'node:timers/promises'
import type { PolicySpec } from '@agentgym/contract'
import { afterEach, describe, expect, test } from 'vitest'
import { policyCases, testRandom } from '../policy/testing/policy-cases.ts'
import { createLearner } from './learner.ts'
import type { LearnerOptions, RolloutSegment, Update, UpdateMetrics } from './learner-types.ts'
import { RankHub, Ranks } from './ranks.ts'
import { cutSegments, grpoUpdate, randomEpisodes } from './testing/grpo-cases.ts'
import { ppoUpdate, randomRollout, relativeDistance } from './testing/ppo-cases.ts'

const SEED = 11
const paths = ['autograd', 'fused'] as const

const caseNamed = (name: string): PolicySpec => {
  const found = policyCases().find((candidate) => candidate.name === name)
  if (!found) throw new Error(`no policy case "${name}"`)
  return found.spec
}

const hubs: RankHub[] = []
afterEach(() => {
  for (const hub of hubs.splice(0)) hub.close()
})

/** The processes of a run, all in this one, each with its share of the environments. */
function makeRanks(shares: number[]): { hub: RankHub; ranks: Ranks[] } {
  const hub = new RankHub(shares.length, { severalHosts: false })
  hubs.push(hub)
  const allEnvironments = shares.reduce((sum, share) => sum + share)
  let firstEnvironment = 0
  const ranks = shares.map((environments, rank) => {
    const place = { local: rank, rank, size: shares.length, firstEnvironment, environments, allEnvironments }
    firstEnvironment += environments
    return new Ranks(hub.descriptor, place)
  })
  return { hub, ranks }
}

type Run = { spec: PolicySpec; path?: LearnerOptions['path']; rollouts: RolloutSegment[]; update: Update }
type Learned = { before: Float32Array; weights: Float32Array; metrics: UpdateMetrics }

/** Updates from one rollout after the other; `parts` gives what this process has of each. */
async function learn({ spec, path = 'fused', rollouts, update }: Run, rank: number, shares?: number[], ranks?: Ranks) {
  const learner = createLearner(spec, { seed: SEED, device: 'cpu', threads: 1, path, ranks: ranks?.native })
  const before = learner.weights()
  let metrics: UpdateMetrics | undefined
  for (const rollout of rollouts) {
    const part = shares === undefined ? [rollout] : [cutSegments(rollout, shares)[rank]]
    metrics = await learner.update(part, update)
  }
  if (metrics === undefined) throw new Error('nothing was learned')
  return { before, weights: learner.weights(), metrics } satisfies Learned
}

const learnTogether = (run: Run, shares: number[]) =>
  Promise.all(makeRanks(shares).ranks.map((ranks, rank) => learn(run, rank, shares, ranks)))

/** One step so long that what it adds to the weights is the gradient, but for a factor and the last bits of a float. */
const oneStep = { optimizer: 'rmsprop', learningRate: 1e3, maxGradientNorm: 1e9, minibatchSize: 1_000_000 } as const

const stepOf = ({ before, weights }: Learned) => weights.map((weight, i) => weight - before[i])

const rolloutsOf = (spec: PolicySpec, count = 1, masked = false) =>
  Array.from({ length: count }, (_, i) =>
    randomRollout(spec, { steps: 12, environments: 7, masked }, testRandom(SEED + i)),
  )

describe('the gradient of several processes is that of one on the joined batch', () => {
  // float32 sums in another order: 1e-5 of the gradient's length.
  const cases = [
    'box to discrete, relu',
    'dict to dict, tanh, normalised',
    'text to discrete, relu',
    'a board beside numbers, normalised',
    'a GRU after every encoder',
  ]
  test.each(cases.flatMap((name) => paths.map((path) => [name, path] as const)))('%s, %s', async (name, path) => {
    const spec = caseNamed(name)
    const update = ppoUpdate({ ...oneStep, normalizeReward: true, normalizeObservation: spec.normalizeObservation })
    const run = { spec, path, rollouts: rolloutsOf(spec), update }
    const alone = await learn(run, 0)
    for (const learned of await learnTogether(run, [4, 2, 1])) {
      expect(relativeDistance(stepOf(learned), stepOf(alone))).toBeLessThan(1e-5)
    }
  })

  test('episodes of GRPO, of any length, with a bonus for entropy', async () => {
    const spec = caseNamed('box to discrete, tanh, normalised')
    const episodes = randomEpisodes(spec, [3, 9, 1, 4, 7, 2], testRandom(SEED))
    const update = grpoUpdate({ ...oneStep, entropyCoefficient: 0.01, normalizeObservation: true })
    const run = { spec, rollouts: [episodes], update }
    const alone = await learn(run, 0)
    for (const learned of await learnTogether(run, [4, 2])) {
      expect(relativeDistance(stepOf(learned), stepOf(alone))).toBeLessThan(1e-5)
      expect(learned.metrics.zeroVarianceGroups).toBeCloseTo(alone.metrics.zeroVarianceGroups ?? Number.NaN, 10)
    }
  })
})

describe('updates of several minibatches', () => {
  const update = ppoUpdate({
    epochs: 3,
    minibatchSize: 20,
    normalizeReward: true,
    normalizeObservation: true,
    learningRate: 1e-3,
  })
  const spec = caseNamed('dict to dict, tanh, normalised')

  test.each(paths)('end with the same bits in every process, twice over, %s', async (path) => {
    const run = { spec, path, rollouts: rolloutsOf(spec, 2), update }
    const [[one, other], [again]] = [await learnTogether(run, [4, 3]), await learnTogether(run, [4, 3])]
    expect(other.weights).toEqual(one.weights)
    expect(again.weights).toEqual(one.weights)
  })

  test('take the minibatches, statistics and metrics that one process takes', async () => {
    const run = { spec, rollouts: rolloutsOf(spec, 3), update }
    const [alone, [one]] = [await learn(run, 0), await learnTogether(run, [3, 3, 1])]
    expect(relativeDistance(one.weights, alone.weights)).toBeLessThan(1e-5)
    for (const name of ['policyLoss', 'valueLoss', 'entropy', 'approximateKl', 'explainedVariance'] as const) {
      expect(one.metrics[name], name).toBeCloseTo(alone.metrics[name] ?? Number.NaN, 4)
    }
    expect(one.metrics.minibatchesRun).toBe(alone.metrics.minibatchesRun)
  })

  test('stop early by the KL divergence in all processes at once, where one alone would', async () => {
    const run = { spec, rollouts: rolloutsOf(spec), update: { ...update, targetKl: 1e-3, learningRate: 0.01 } }
    const alone = await learn(run, 0)
    const together = await learnTogether(run, [5, 2])
    expect(alone.metrics.minibatchesRun).toBeLessThan(3 * Math.ceil((12 * 7) / 20))
    for (const { metrics } of together) expect(metrics.minibatchesRun).toBe(alone.metrics.minibatchesRun)
  })
})

test('values are shared by rank, however long they are', async () => {
  const { ranks } = makeRanks([1, 1, 1])
  const values = [{ text: 'ä', numbers: new Float32Array([1, 2]) }, 'x'.repeat(9 * 2 ** 20), null]
  const shared = await Promise.all(ranks.map((one, rank) => one.share(values[rank])))
  for (const seen of shared) expect(seen).toEqual(values)
  const asked: number[] = []
  const first = await Promise.all(
    ranks.map((one, rank) =>
      one.fromFirst(async () => {
        asked.push(rank)
        return 'decided'
      }),
    ),
  )
  expect(first).toEqual(['decided', 'decided', 'decided'])
  expect(asked).toEqual([0])
})

test('a process that is lost ends the wait of the others, whose weights are those before the update', async () => {
  const spec = caseNamed('box to discrete, relu')
  const { hub, ranks } = makeRanks([4, 3])
  const learner = createLearner(spec, { seed: SEED, device: 'cpu', threads: 1, ranks: ranks[0].native })
  const before = learner.weights()
  const [rollout] = cutSegments(rolloutsOf(spec)[0], [4, 3])
  const waiting = learner.update([rollout], ppoUpdate())
  await sleep(20)
  hub.abort('process 1 ended')
  await expect(waiting).rejects.toMatchObject({ code: 'rank_lost', message: 'process 1 ended' })
  await expect(ranks[0].share('anything')).rejects.toMatchObject({ code: 'rank_lost' })
  expect(learner.weights()).toEqual(before)
})
