import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { describe, expect, test } from 'vitest'
import { createPolicySession } from '../policy/policy-session.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { randomWeights, testRandom } from '../policy/testing/policy-cases.ts'
import { allocateSegment, RolloutCollector } from './collect-rollout.ts'
import { EpisodeColumns, type EpisodeRecord } from './episodes.ts'
import { countingScenario, steeringScenario } from './testing/counting-scenario.ts'
import { createNativeEnvironment } from './testing/native-environment.ts'

const SEED = 5
const network = { hidden: [8], activation: 'tanh', embedding: 4, normalizeObservation: false } as const

function start(
  scenario: unknown,
  options: { environments: number; steps: number; firstEnvironment?: number; seed?: number },
) {
  const { environments, steps, firstEnvironment = 0, seed = SEED } = options
  const environment = createNativeEnvironment(scenario, {
    environments,
    seed,
    plan: { split: 'train' },
    firstEnvironment,
  })
  const spec = buildPolicySpec(environment.description, { ...network, hidden: [...network.hidden] })
  const weights = randomWeights(spec, testRandom(SEED))
  const session = createPolicySession(spec, { batch: environments })
  session.setWeights(weights)
  const segment = allocateSegment(environment.description, spec, { steps, environments })
  const collector = new RolloutCollector({ environment, session, segment, seed, firstEnvironment })
  environment.reset()
  return { environment, collector, segment, spec, weights }
}

const rowsOf = (array: ArrayLike<number>, size: number): number[][] =>
  Array.from({ length: array.length / size }, (_, i) => Array.from({ length: size }, (_, k) => array[i * size + k]))

describe('a rollout', () => {
  const N = 6
  const T = 20
  const { collector, segment, environment } = start(countingScenario, { environments: N, steps: T })

  test('holds what the environments did, step by step, over several rollouts', () => {
    let carried = rowsOf(environment.buffers.observations, 3)
    const ended: EpisodeRecord[] = []
    for (let rollout = 0; rollout < 3; rollout++) {
      const episodes = EpisodeColumns.unpack(collector.collect(rollout * T * N).pack())
      ended.push(...episodes)
      const observations = rowsOf(segment.observations, 3)
      const finals = rowsOf(segment.finalObservations, 3)
      expect(observations.slice(0, N)).toEqual(carried)
      let endings = 0
      for (let i = 0; i < T * N; i++) {
        const [from, next, action] = [observations[i], observations[i + N], segment.actions[i]]
        expect(Array.from(segment.masks?.subarray(i * 3, i * 3 + 3) ?? [])).toEqual([
          from[1] % 2 === 0 ? 1 : 0,
          1,
          from[1] % 3 !== 1 ? 1 : 0,
        ])
        expect(segment.masks?.[i * 3 + action]).toBe(1)
        expect(segment.rewards[i]).toBeCloseTo(action - from[0], 6)
        expect(segment.logProbabilities[i]).toBeLessThanOrEqual(0)
        const last = [from[0], from[1] + 1, from[2] + action]
        if (segment.flags[i] === 0) expect(next).toEqual(last)
        else {
          endings += 1
          expect(finals[i]).toEqual(last)
          expect(next.slice(1)).toEqual([0, 0])
          expect(next[0]).not.toBe(from[0])
          expect(segment.flags[i] & TRUNCATED).toBe(segment.flags[i] === TERMINATED ? 0 : TRUNCATED)
          if (last[1] < 7) expect(segment.flags[i]).toBe(TERMINATED)
        }
      }
      expect(episodes.length).toBe(endings)
      expect(segment.flags.includes(TRUNCATED)).toBe(true)
      carried = observations.slice(T * N)
    }
    for (let environment = 0; environment < N; environment++) {
      const own = ended.filter((record) => record.environment === environment)
      expect(own.map(({ episode }) => episode)).toEqual(own.map((_, i) => i))
    }
    for (const { length, metrics } of ended) {
      expect(length).toBeLessThanOrEqual(7)
      expect(Object.keys(metrics)).toEqual(['sum'])
    }
  })
})

test('the learner gets numbers as sampled, the environment gets them clipped', () => {
  const { collector, segment, environment } = start(steeringScenario, { environments: 16, steps: 4 })
  collector.collect(0)
  const sampled = rowsOf(segment.actions, 2).map(([, wheel]) => wheel)
  expect(sampled.some((wheel) => Math.abs(wheel) > 0.5)).toBe(true)
  segment.rewards.forEach((reward, i) => {
    expect(reward).toBe(Math.min(0.5, Math.max(-0.5, sampled[i])))
  })
  expect(segment.masks).toBeNull()
  expect(environment.description.masked).toBe(false)
})

test('an environment does the same whatever stands beside it', () => {
  const whole = start(countingScenario, { environments: 7, steps: 30 })
  const part = start(countingScenario, { environments: 3, steps: 30, firstEnvironment: 4 })
  whole.collector.collect(1000)
  part.collector.collect(1000)
  const column = (array: Float32Array, width: number, environments: number, i: number) =>
    rowsOf(array, width).filter((_, row) => row % environments === i)
  for (let i = 0; i < 3; i++) {
    expect(column(part.segment.actions, 1, 3, i)).toEqual(column(whole.segment.actions, 1, 7, i + 4))
    expect(column(part.segment.observations, 3, 3, i)).toEqual(column(whole.segment.observations, 3, 7, i + 4))
  }
})

test('snapshots rebuild the running episodes: the next rollout is bit for bit the same', () => {
  for (const scenario of [countingScenario, steeringScenario]) {
    const first = start(scenario, { environments: 5, steps: 13 })
    first.collector.collect(0)
    first.collector.collect(65)
    const snapshots = first.collector.recorder.snapshot(0)
    first.collector.collect(130)

    const second = start(scenario, { environments: 5, steps: 13 })
    for (const { environment, episode, actions } of snapshots) second.environment.restore(environment, episode, actions)
    second.collector.recorder.restore(snapshots)
    expect(second.collector.recorder.snapshot(0)).toEqual(snapshots)
    second.collector.collect(130)
    for (const name of ['observations', 'actions', 'logProbabilities', 'rewards', 'flags', 'masks'] as const) {
      expect(second.segment[name]).toEqual(first.segment[name])
    }
    expect(second.collector.recorder.snapshot(0)).toEqual(first.collector.recorder.snapshot(0))
  }
})

test('another seed or step gives other actions', () => {
  const actions = (seed: number, step: number) => {
    const { collector, segment } = start(countingScenario, { environments: 8, steps: 10, seed })
    collector.collect(step)
    return Array.from(segment.actions)
  }
  expect(actions(1, 0)).toEqual(actions(1, 0))
  expect(actions(1, 0)).not.toEqual(actions(2, 0))
  expect(actions(1, 0)).not.toEqual(actions(1, 1))
})
