// @module-tag full

import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { resolveTrainingPlan } from '@agentgym/contract'
import { freePort } from '@agentgym/testkit/ports'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failureOf, removeFixtures, scenarioOf } from '../../test/scenario-fixture.ts'
import { relativeDistance } from '../learner/testing/ppo-cases.ts'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { decodeCheckpoint } from './checkpoint.ts'
import type { RunTrainingOptions } from './run-training.ts'
import { checkpointOf, recordedTraining } from './testing/recorded-training.ts'

afterAll(removeFixtures)

let scenario: BuiltScenario
beforeAll(async () => {
  scenario = await scenarioOf(`
    observation: box({ shape: [2] }), action: discrete({ n: 2 }), maxSteps: 9,
    reset({ rng }) { return { x: rng.normal(), t: 0 } },
    step(state, action, { rng }) {
      state.t += 1
      state.x += action - 0.5
      return { reward: -Math.abs(state.x), terminated: rng() < 0.1 }
    },
    observe(state) { return [state.x, state.t / 9] },`)
})

// Few steps: a rounding error that changes an action would make two runs of one.
const settings = { steps: 320, environments: 5, rollout_steps: 16, evaluation_episodes: 4, checkpoint_every: 160 }
const plan = resolveTrainingPlan({}, { settings: { ...settings, hidden: [8] } })
const together = (processes: number) => ({ together: { processes } })

const run = (changes: Partial<RunTrainingOptions> = {}) => recordedTraining(scenario, { plan, ...changes })

describe('a run of several processes', { timeout: 120_000 }, () => {
  let one: Awaited<ReturnType<typeof run>>
  beforeAll(async () => {
    one = await run(together(2))
  }, 120_000)

  it('is the run of one but for rounding, the same bits each time, and resumes with another number', async () => {
    const alone = await run()
    expect(one.outcome?.steps).toBe(320)
    expect(one.progress.map(({ steps }) => steps)).toEqual([80, 160, 240, 320])
    expect(one.progress.map(({ episodes }) => episodes)).toEqual(alone.progress.map(({ episodes }) => episodes))
    expect(one.defaults.map(({ settings }) => settings)).toEqual(alone.defaults.map(({ settings }) => settings))
    const weights = one.outcome?.weights ?? new Float32Array(0)
    const near = alone.outcome?.weights ?? new Float32Array(0)
    expect(relativeDistance(weights, near)).toBeLessThan(1e-4)
    const [checkpoint] = checkpointOf(one.checkpoints, 2)
    const states = [checkpoint, checkpointOf(alone.checkpoints, 2)[0]].map((bytes) => decodeCheckpoint(bytes, 'test'))
    expect(states[0].episodes).toEqual(states[1].episodes)
    const [resumed, fewer] = [await run({ checkpoint, ...together(2) }), await run({ checkpoint })]
    expect(resumed.outcome?.weights).toEqual(weights)
    expect(relativeDistance(fewer.outcome?.weights ?? new Float32Array(0), weights)).toBeLessThan(1e-4)
  })

  it('ends with a checkpoint when a process is killed, and goes on with those that are left', async () => {
    const checkpoints: [Uint8Array, number][] = []
    const long = resolveTrainingPlan({}, { settings: { ...settings, steps: 80_000, checkpoint_every: 0, hidden: [8] } })
    const ended = run({
      plan: long,
      ...together(2),
      onProgress: ({ iteration }) => {
        // The first of them, which speaks for all.
        if (iteration === 3) process.kill(Math.min(...trainers()), 'SIGKILL')
      },
      onCheckpoint: (bytes, { steps }) => void checkpoints.push([bytes, steps]),
    })
    const failure = await failureOf(ended)
    expect(failure.message).toMatch(/SIGKILL/)
    expect(checkpoints).toHaveLength(1)
    const [[checkpoint, steps]] = checkpoints
    expect(steps).toBeGreaterThanOrEqual(240)
    expect(decodeCheckpoint(checkpoint, 'test').episodes.map(({ environment }) => environment)).toEqual([0, 1, 2, 3, 4])
    const shorter = { ...long, settings: { ...long.settings, steps: steps + 160 } } as typeof long
    const { outcome } = await run({ plan: shorter, checkpoint })
    expect(outcome?.steps).toBeGreaterThan(steps)
  })

  it('meets at a rendezvous, with the bits of as many processes on one machine', async () => {
    const rendezvous = { address: '127.0.0.1', port: await freePort(), hosts: 2 }
    const hosts = [0, 1].map((host) => run({ together: { processes: 1, rendezvous: { ...rendezvous, host } } }))
    const [first, second] = await Promise.all(hosts)
    expect(first.outcome?.weights).toEqual(one.outcome?.weights)
    expect(second.outcome?.weights).toEqual(one.outcome?.weights)
    expect(second.outcome?.evaluation).toEqual(first.outcome?.evaluation)
  })

  it('does not meet who does not know its secret', async () => {
    const rendezvous = { address: '127.0.0.1', port: await freePort(), hosts: 2, timeoutSeconds: 2 }
    const hosts = ['ours', 'theirs'].map((secret, host) =>
      failureOf(run({ together: { processes: 1, rendezvous: { ...rendezvous, host, secret } } })),
    )
    expect((await Promise.all(hosts)).map(({ code }) => code)).toEqual(['rank_lost', 'rank_lost'])
  })

  it('refuses another run at its rendezvous', async () => {
    const rendezvous = { address: '127.0.0.1', port: await freePort(), hosts: 2 }
    const hosts = [0, 1].map((host) =>
      failureOf(run({ seed: host, together: { processes: 1, rendezvous: { ...rendezvous, host } } })),
    )
    expect((await Promise.all(hosts)).map(({ message }) => message)).toEqual([
      'node 1 runs with another seed than node 0',
      'node 0 runs with another seed than node 1',
    ])
  })

  it('needs an algorithm that can, and an environment for each process', async () => {
    const dqn = resolveTrainingPlan({}, { algorithm: 'dqn' })
    await expect(run({ plan: dqn, ...together(2) })).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'dqn learns in one process',
    })
    await expect(run(together(6))).rejects.toMatchObject({
      code: 'config_invalid',
      message: '5 environments cannot be shared by 6 processes',
    })
  })
})

/** Processes below this one that train. */
function trainers(): number[] {
  const isOurs = (pid: number): boolean => {
    const parent = Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    )
    return parent === process.pid || (parent > 1 && isOurs(parent))
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/comm`, 'utf8') !== 'bwrap\n' &&
          /training\.process/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')) &&
          isOurs(pid)
        )
      } catch {
        return false
      }
    })
}

/** Below the range from which systems take ports for others. */
