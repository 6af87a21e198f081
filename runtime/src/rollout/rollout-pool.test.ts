import { fileURLToPath } from 'node:url'
import { AgentGymError } from '@agentgym/contract'
import { BOARD_CLOCK } from '@agentgym/scenario/engine'
import { afterEach, expect, test } from 'vitest'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { randomWeights, testRandom } from '../policy/testing/policy-cases.ts'
import { buildScenario, identityOf } from '../sandbox/build-scenario.ts'
import { harnessSource, type ScenarioCode } from '../sandbox/scenario-code.ts'
import { RolloutPool, splitEnvironments } from './rollout-pool.ts'

const network = { hidden: [16], activation: 'tanh', embedding: 4, normalizeObservation: false } as const
const cartPole = fileURLToPath(new URL('../../../plugins/cart-pole', import.meta.url))

const pools: RolloutPool[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

async function cartPoleCode(): Promise<ScenarioCode> {
  const built = await buildScenario(cartPole)
  return { source: built.source, identity: identityOf(built), harness: await harnessSource() }
}

/** A bundle as the author's build would give it: `body` fills in a definition of one number and two actions. */
async function bundle(body: string): Promise<ScenarioCode> {
  const source = `module.exports = { default: {
    observation: { type: 'box', shape: [1], low: [null], high: [null] },
    action: { type: 'discrete', n: 2, start: 0 },
    maxSteps: 10,
    reset() { return { steps: 0 } },
    step(state) { state.steps += 1; return { reward: 1, terminated: false } },
    observe(state) { return [state.steps] },
    ${body}
  } }`
  return {
    source,
    identity: { name: 'broken', version: '1.2.3', hash: '0'.repeat(64) },
    harness: await harnessSource(),
  }
}

async function start(scenario: ScenarioCode, options: { workers: number; environments: number; rolloutSteps: number }) {
  const boards = new Map<number, Int32Array>()
  const pool = await RolloutPool.spawn(options.workers, (worker, board) => boards.set(worker, board))
  pools.push(pool)
  const description = await pool.open({ scenario, environments: options.environments, seed: 3 })
  const spec = buildPolicySpec(description, { ...network, hidden: [...network.hidden] })
  await pool.configure({ spec, rolloutSteps: options.rolloutSteps })
  return { pool, spec, boards, weights: randomWeights(spec, testRandom(9)) }
}

test('environments are split into even, contiguous parts', () => {
  expect(splitEnvironments(10, 3)).toEqual([
    { firstEnvironment: 0, environments: 3 },
    { firstEnvironment: 3, environments: 3 },
    { firstEnvironment: 6, environments: 4 },
  ])
})

test('two workers play what one plays', async () => {
  const scenario = await cartPoleCode()
  const one = await start(scenario, { workers: 1, environments: 6, rolloutSteps: 50 })
  const two = await start(scenario, { workers: 2, environments: 6, rolloutSteps: 50 })
  for (let rollout = 0; rollout < 2; rollout++) {
    const whole = await one.pool.collect(one.weights, rollout * 300)
    const parts = await two.pool.collect(two.weights, rollout * 300)
    expect(parts.segments.map(({ environments }) => environments)).toEqual([3, 3])
    for (let t = 0; t < 50; t++) {
      const row = (name: 'actions' | 'rewards' | 'flags') => [
        Array.from(whole.segments[0][name].subarray(t * 6, (t + 1) * 6)),
        parts.segments.flatMap((segment) => Array.from(segment[name].subarray(t * 3, (t + 1) * 3))),
      ]
      for (const name of ['actions', 'rewards', 'flags'] as const) expect(row(name)[1]).toEqual(row(name)[0])
    }
    const byEnvironment = (rollout: typeof whole) =>
      rollout.episodes.toSorted((a, b) => a.environment - b.environment || a.episode - b.episode)
    expect(byEnvironment(parts)).toEqual(byEnvironment(whole))
    expect(whole.episodes.length).toBeGreaterThan(0)
  }
  expect([...two.boards.keys()].toSorted()).toEqual([0, 1])
  for (const board of two.boards.values()) expect(board[BOARD_CLOCK]).toBeGreaterThanOrEqual(100)
})

test('a snapshot goes on in another pool, with another number of workers', async () => {
  const scenario = await cartPoleCode()
  const first = await start(scenario, { workers: 2, environments: 5, rolloutSteps: 33 })
  await first.pool.collect(first.weights, 0)
  const snapshots = await first.pool.snapshot()
  expect(snapshots.map(({ environment }) => environment)).toEqual([0, 1, 2, 3, 4])
  await first.pool.collect(first.weights, 165)
  const expected = await first.pool.snapshot()

  const second = await start(scenario, { workers: 3, environments: 5, rolloutSteps: 33 })
  await second.pool.restore(snapshots)
  await second.pool.collect(second.weights, 165)
  expect(await second.pool.snapshot()).toEqual(expected)
})

test('a fault of the scenario rejects with its report', async () => {
  const scenario = await bundle(`step(state) { return { reward: state.steps++ === 4 ? NaN : 1, terminated: false } },`)
  const { pool, weights } = await start(scenario, { workers: 2, environments: 4, rolloutSteps: 8 })
  const error = await pool.collect(weights, 0).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(AgentGymError)
  expect(error).toMatchObject({ code: 'reward_not_finite', data: { scenario: 'broken', version: '1.2.3', step: 5 } })
})

test('a fault while loading or in the first reset rejects open or configure', async () => {
  const threw = expect.objectContaining({ code: 'scenario_threw' })
  const [opening, resetting] = [await RolloutPool.spawn(1), await RolloutPool.spawn(1)]
  pools.push(opening, resetting)
  const loads = await bundle('')
  const broken = { ...loads, source: `throw new Error('no'); ${loads.source}` }
  await expect(opening.open({ scenario: broken, environments: 1, seed: 1 })).rejects.toThrowError(threw)

  const scenario = await bundle(`reset() { throw new Error('no') },`)
  const description = await resetting.open({ scenario, environments: 1, seed: 1 })
  const spec = buildPolicySpec(description, { ...network, hidden: [] })
  await expect(resetting.configure({ spec, rolloutSteps: 4 })).rejects.toThrowError(threw)
})

test('there are never more threads at work than environments', async () => {
  const { pool, weights } = await start(await cartPoleCode(), { workers: 3, environments: 1, rolloutSteps: 4 })
  const { segments } = await pool.collect(weights, 0)
  expect(segments.length).toBe(1)
})
