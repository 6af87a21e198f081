import { IDLE, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { afterEach, describe, expect, test } from 'vitest'
import type { RolloutSegment } from '../learner/learner-types.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { randomWeights, testRandom } from '../policy/testing/policy-cases.ts'
import { harnessSource, type ScenarioCode } from '../sandbox/scenario-code.ts'
import { allocateSegment } from './collect-rollout.ts'
import { RolloutPool } from './rollout-pool.ts'

const pools: RolloutPool[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

const MAX_STEPS = 12

/** Every source of randomness, masks, and episodes that end at any step, by termination or by the time limit. */
async function code(): Promise<ScenarioCode> {
  const source = `module.exports = { default: {
    observation: { type: 'box', shape: [5], low: Array(5).fill(null), high: Array(5).fill(null) },
    action: { type: 'discrete', n: 3, start: 0 },
    maxSteps: ${MAX_STEPS},
    tasks: { train: 1000 },
    reset({ rng, task }) { return { task: task.index, start: rng(), noise: Math.random(), sum: 0, steps: 0 } },
    step(state, action, { rng }) {
      state.noise = Math.random()
      state.sum += action * rng()
      state.steps += 1
      return { reward: action - state.start, terminated: state.sum > 2.5 }
    },
    observe(state) { return [state.task / 1000, state.start, state.noise, state.sum, state.steps] },
    actionMask(state) { return [state.steps % 2 === 0, true, state.steps % 3 !== 1] },
    metrics(state) { return { task: state.task } },
  } }`
  const identity = { name: 'grouped', version: '1.0.0', hash: '0'.repeat(64) }
  return { source, identity, harness: await harnessSource() }
}

async function start(options: { workers: number; environments: number; groupSize: number; seed?: number }) {
  const { workers, environments, groupSize, seed = 3 } = options
  const pool = await RolloutPool.spawn(workers)
  pools.push(pool)
  const description = await pool.open({ scenario: await code(), environments, groupSize, seed })
  const network = { hidden: [16], activation: 'tanh', embedding: 4, normalizeObservation: false } as const
  const spec = buildPolicySpec(description, { ...network, hidden: [...network.hidden] })
  await pool.configure({ spec, rolloutSteps: description.maxSteps })
  return { pool, weights: randomWeights(spec, testRandom(9)) }
}

/** What each environment's samples are, in order of the environments, whatever segments they lie in. */
function episodesOf(segments: RolloutSegment[]) {
  return segments.flatMap((segment) => {
    const { environments, lengths } = segment
    const cut = (array: Float32Array | Uint8Array | null, row: number, size: number) =>
      Array.from(array?.subarray(row * size, (row + 1) * size) ?? [])
    return Array.from(lengths ?? [], (length, i) =>
      Array.from({ length }, (_, t) => {
        const row = t * environments + i
        return {
          observation: cut(segment.observations, row, 5),
          mask: cut(segment.masks, row, 3),
          action: segment.actions[row],
          logProbability: segment.logProbabilities[row],
          reward: segment.rewards[row],
          flags: segment.flags[row],
        }
      }),
    )
  })
}

describe('episodes of groups', () => {
  test('begin alike within a group, are sampled apart, and end once', async () => {
    const { pool, weights } = await start({ workers: 1, environments: 12, groupSize: 4 })
    const { segments, episodes } = await pool.collectEpisodes(weights, 0)
    const played = episodesOf(segments)
    expect(played.map((steps) => steps[0].observation.join())).toEqual(
      played.map((_, i) => played[i - (i % 4)][0].observation.join()),
    )
    expect(new Set(played.map((steps) => steps[0].observation.join())).size).toBe(3)
    expect(new Set(played.map((steps) => steps.map(({ action }) => action).join())).size).toBeGreaterThan(6)
    for (const steps of played) {
      const flags = steps.map(({ flags }) => flags)
      expect(flags.slice(0, -1).every((flag) => flag === 0)).toBe(true)
      expect(flags.at(-1)).toBe(steps.length === MAX_STEPS && flags.at(-1) !== TERMINATED ? TRUNCATED : TERMINATED)
    }
    expect(new Set(played.map((steps) => steps.length)).size).toBeGreaterThan(2)
    expect(episodes.map(({ environment }) => environment).sort((a, b) => a - b)).toEqual(played.map((_, i) => i))
    for (const { environment, episode, length, metrics, return: sum } of episodes) {
      expect(episode).toBe(0)
      expect(length).toBe(played[environment].length)
      expect(sum).toBeCloseTo(
        played[environment].reduce((total, { reward }) => total + reward, 0),
        4,
      )
      expect(metrics.task).toBe(Math.round(played[environment][0].observation[0] * 1000))
    }
  })

  test('an environment that is done waits: nothing of it is played on', async () => {
    const { pool, weights } = await start({ workers: 1, environments: 8, groupSize: 2 })
    const { segments } = await pool.collectEpisodes(weights, 1)
    const [{ flags, rewards, lengths }] = segments
    const longest = Math.max(...(lengths ?? []))
    for (let i = 0; i < 8; i++) {
      for (let t = lengths?.[i] ?? 0; t < longest; t++) {
        expect(flags[t * 8 + i]).toBe(IDLE)
        expect(rewards[t * 8 + i]).toBe(0)
      }
    }
  })

  test('are the same bits for any number of workers, also where one splits a group or has one environment', async () => {
    const runs = []
    for (const workers of [1, 2, 5, 10]) {
      const { pool, weights } = await start({ workers, environments: 10, groupSize: 5 })
      const run = []
      for (const episode of [0, 1, 2]) {
        const { segments, episodes } = await pool.collectEpisodes(weights, episode)
        const sorted = episodes.sort((a, b) => a.environment - b.environment)
        run.push({ played: episodesOf(segments), sorted })
      }
      runs.push(run)
    }
    for (const run of runs.slice(1)) expect(run).toEqual(runs[0])
  })

  test('depend on seed, number of the episode and weights, and on nothing that was played before', async () => {
    const { pool, weights } = await start({ workers: 2, environments: 6, groupSize: 3 })
    const play = async (episode: number) => episodesOf((await pool.collectEpisodes(weights, episode)).segments)
    const seventh = await play(7)
    expect(await play(8)).not.toEqual(seventh)
    expect(await play(7)).toEqual(seventh)
    const other = await start({ workers: 2, environments: 6, groupSize: 3, seed: 4 })
    expect(episodesOf((await other.pool.collectEpisodes(weights, 7)).segments)).not.toEqual(seventh)
  })
})

test('a rollout that no process could hold is refused before its memory is asked for', () => {
  const spec = { action: [{ size: 1 }] } as unknown as Parameters<typeof allocateSegment>[1]
  const description = { sizes: { observation: 100, action: 1, mask: 0, text: 0 }, masked: false }
  const allocate = () => allocateSegment(description, spec, { steps: 1e6, environments: 4096, episodes: true })
  expect(allocate).toThrow(expect.objectContaining({ code: 'config_invalid' }))
})
