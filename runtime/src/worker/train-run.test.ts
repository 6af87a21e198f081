// @module-tag full
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '@agentgym/agent/engine'
import { integrityOf } from '@agentgym/client'
import { isLong } from '@agentgym/testkit/tier'
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { decodeCheckpoint } from '../training/checkpoint.ts'
import { recordedTraining } from '../training/testing/recorded-training.ts'
import { readWarmStart, warmStartPlan } from '../training/warm-start.ts'
import { agentFiles, unpackPackage } from './tarball.ts'
import {
  addTraining,
  agentOf,
  type PackedScenario,
  packedScenario,
  slowly,
  startWorker,
  trainersOf,
  workThrough,
} from './testing/fixture-job.ts'
import { type Disturbance, JobServer } from './testing/job-server.ts'
import type { StoredJob } from './testing/stored-job.ts'

let server: JobServer
let quick: PackedScenario
let slow: PackedScenario
beforeAll(async () => {
  quick = await packedScenario()
  slow = await packedScenario(slowly)
})
beforeEach(async () => {
  server = await JobServer.start()
})
afterEach(async () => {
  await server.close()
  expect(server.violations).toEqual([])
  expect(trainersOf()).toEqual([])
})

/** Far longer than any test. */
const endless = { steps: 1_000_000_000 }
/** What must come out the same, however often the run was interrupted. */
async function essence(job: StoredJob) {
  const { model_hash, evaluation, steps } = await agentOf(job)
  return { model_hash, evaluation, steps, curve: curveOf(job), evaluations: [...job.evaluations] }
}
function curveOf(job: StoredJob) {
  return [...job.points.values()].map(({ iteration, steps, episodes_total, return_mean, length_mean, learner }) => ({
    ...{ iteration, steps, episodes_total, return_mean, length_mean, learner },
  }))
}
/** An agent of this server: as a job names it, and unpacked. */
async function trainedAgent(publish: { name: string; version: string }) {
  const job = addTraining(server, quick, { publish, settings: { hidden: [8, 8] } })
  await workThrough(server)
  const { model_hash } = await agentOf(job)
  const tarball = job.agent ?? new Uint8Array()
  const from = { ...publish, model_hash, integrity: await integrityOf(tarball), tarball_url: server.file(tarball) }
  const folder = mkdtempSync(join(tmpdir(), 'agentgym-parent-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await unpackPackage(tarball, folder, agentFiles)
  return { from, folder }
}
const iterations = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('a run', { timeout: 240_000 }, () => {
  it('is reported iteration by iteration, and comes to an agent under the name that it was given', async () => {
    const job = addTraining(server, quick, {
      publish: { name: '@acme/walker', version: '2.3.4' },
      trajectories_every: 4,
      settings: { checkpoint_every: 240, evaluate_every: 480, stop_at_success: false },
    })
    const events = await workThrough(server)
    expect(job.outcome).toMatchObject({ state: 'completed', steps: 960, evaluation: { episodes: 4 } })
    expect([...job.points.keys()]).toEqual(iterations(12))
    expect([...job.evaluations.keys()]).toEqual([6, 12])
    expect([...job.trajectories.keys()]).toEqual(['1 0', '5 0', '9 0'])
    expect([...job.episodes.values()].map(({ iteration, steps }) => [iteration, steps])).toEqual([
      [6, 480],
      [12, 960],
    ])
    for (const sampled of job.episodes.values()) {
      const rewards = sampled.episode.steps.map(({ reward }) => reward)
      expect(sampled.episode).toMatchObject({ policy: 'agent', view: null })
      expect(rewards).toHaveLength(sampled.length)
      expect(rewards.reduce((sum, reward) => sum + reward, 0)).toBeCloseTo(sampled.return, 3)
    }
    expect(job.checkpoints.length).toBeGreaterThan(0)
    const agent = await agentOf(job)
    expect(agent.package).toMatchObject({ name: '@acme/walker', version: '2.3.4', agentgym: { kind: 'agent' } })
    expect(agent.scenario).toMatchObject({ name: '@t/walk', version: '1.2.3', hash: quick.scenario.hash })
    expect(agent.settings).toMatchObject({ rollout_workers: 1, learner_threads: 1 })
    expect(job.metered[0]).toBeGreaterThan(0)
    const named = events.filter((event) => 'job' in event)
    expect(named.every((event) => event.job === job.id && event.run === job.id)).toBe(true)
    expect(named.map(({ event }) => event)).toEqual(expect.arrayContaining(['leased', 'progress', 'ended']))
  })

  it('fails with the error of its scenario, which names no folder of this machine', async () => {
    const broken = await packedScenario('if (state.t === 3) throw new Error("lost at sea")')
    const job = addTraining(server, broken)
    const events = await workThrough(server)
    expect(job.outcome).toMatchObject({ state: 'failed', error: { code: 'scenario_threw' } })
    expect(JSON.stringify(job.outcome)).toContain('lost at sea')
    // The author's file and line, without the code, which the run's user may not have a right to.
    const { message, data } = (job.outcome as { error: { message: string; data: Record<string, unknown> } }).error
    expect(message).toContain('src/index.js:7: step threw')
    expect(data).toMatchObject({ file: 'src/index.js', line: 7 })
    expect(data).not.toHaveProperty('frame')
    expect(JSON.stringify(job.outcome)).not.toContain(process.cwd())
    expect(events.find(({ event }) => event === 'ended')).toMatchObject({ state: 'failed' })
  })

  it('starts from an agent with the weights that the same run on this machine would have', async () => {
    const publish = { name: '@acme/walker', version: '1.0.0' }
    const { from, folder } = await trainedAgent(publish)
    const start = await readWarmStart(folder)
    const set = { steps: '960', environments: '4', rollout_steps: '20', evaluation_episodes: '4' }
    const plan = warmStartPlan(quick.scenario, { set }, start)
    expect(plan.settings).toMatchObject({ hidden: [8, 8] })
    const { success } = quick.scenario.package.agentgym
    const local = await recordedTraining(quick.scenario, { plan, start, success, seed: 5 })
    const job = addTraining(server, quick, { from, settings: plan.settings })
    await workThrough(server)
    const agent = await agentOf(job)
    expect(agent.model_hash).toBe(sha256(local.outcome?.model ?? new Uint8Array()))
    expect(agent.parent).toEqual({ ...publish, model_hash: from.model_hash, license: 'UNLICENSED' })
    // Played beside the training, for it takes no evaluations.
    expect(job.episodes.get(1)).toMatchObject({ steps: 80, episode: { policy: 'agent' } })
    // The agent as it is, before the first step.
    expect(job.evaluations.get(0)).toEqual(local.evaluations[0][0])
  })

  it('does not start from an agent with another model than the one that was fixed at submission', async () => {
    const { from } = await trainedAgent({ name: '@acme/walker', version: '1.0.0' })
    const job = addTraining(server, quick, { from: { ...from, model_hash: 'a'.repeat(64) } })
    const worker = startWorker(server)
    expect(await worker.until('failed')).toMatchObject({ error: { code: 'integrity_mismatch' }, run: job.id })
    worker.stop()
    await worker.ended
    expect(job).toMatchObject({ state: 'leased', outcome: null, points: new Map() })
  })

  it('pauses at its steps with an evaluation, and goes on from there bit for bit', async () => {
    const settings = { stop_at_success: false }
    const straight = addTraining(server, quick, { settings })
    const paused = addTraining(server, quick, { settings, pause_at: 300 })
    await workThrough(server)
    expect(paused.outcome).toEqual({ state: 'paused' })
    // Of 80 steps an iteration.
    expect([...paused.points.keys()]).toEqual(iterations(4))
    expect([...paused.evaluations.keys()]).toEqual([4])
    expect(paused.checkpoints.at(-1)).toMatchObject({ iteration: 4, steps: 320 })
    const resumed = addTraining(server, quick, { settings })
    resumed.checkpoints.push(...paused.checkpoints)
    for (const [iteration, point] of paused.points) resumed.points.set(iteration, point)
    // A pause that is behind the checkpoint: it has paused already.
    const again = addTraining(server, quick, { settings, pause_at: 310 })
    again.checkpoints.push(...paused.checkpoints)
    await workThrough(server)
    expect(await essence(resumed)).toEqual(await essence(straight))
    expect(again).toMatchObject({ outcome: { state: 'paused' }, points: new Map() })
  })

  it('fails with settings that nobody can train with', async () => {
    const job = addTraining(server, quick)
    if (job.job.kind === 'train') job.job.run.settings = { ...job.job.run.settings, clip_range: -1 }
    await workThrough(server)
    expect(job.outcome).toMatchObject({
      state: 'failed',
      error: { code: 'config_invalid', data: { field: 'clip_range' } },
    })
  })

  it('is left to its next attempt where what was downloaded is not what was recorded', async () => {
    const job = addTraining(server, { ...quick, tarball: slow.tarball })
    const worker = startWorker(server)
    expect(await worker.until('failed')).toMatchObject({ error: { code: 'integrity_mismatch' }, run: job.id })
    worker.stop()
    await worker.ended
    expect(job).toMatchObject({ state: 'leased', outcome: null, releases: [] })
  })
})

describe('a server in trouble', { timeout: 240_000 }, () => {
  it('doubles and loses nothing', async () => {
    const settings = { checkpoint_every: 240, evaluate_every: 240, stop_at_success: false }
    const undisturbed = addTraining(server, quick, { settings, trajectories_every: 3 })
    await workThrough(server)
    const troubles: Disturbance[] = ['lost', 'answer_lost', 'trouble']
    let next = 0
    server.disturb = ({ job, action, count }) =>
      job !== undefined && action !== 'outcome' && count <= 5 ? troubles[next++ % 4] : undefined
    const disturbed = addTraining(server, quick, { settings, trajectories_every: 3 })
    await workThrough(server)
    expect(await essence(disturbed)).toEqual(await essence(undisturbed))
    expect([...disturbed.points.keys()]).toEqual(iterations(12))
    expect([...disturbed.trajectories]).toEqual([...undisturbed.trajectories])
    expect(disturbed.outcome).toMatchObject({ state: 'completed' })
  })

  it('that has taken an outcome and lost the answer has one outcome', async () => {
    const job = addTraining(server, quick)
    server.disturb = ({ action, count }) => (action === 'outcome' && count === 1 ? 'answer_lost' : undefined)
    const events = await workThrough(server)
    expect(job.outcome).toMatchObject({ state: 'completed' })
    expect(events.at(-2)).toMatchObject({ event: 'lost', run: job.id })
  })

  it('that refuses what it is told ends the run with that', async () => {
    const job = addTraining(server, slow, { settings: endless })
    server.disturb = ({ action }) => (action === 'progress' ? 'refused' : undefined)
    await workThrough(server)
    expect(job.outcome).toMatchObject({ state: 'failed', error: { code: 'request_too_large' } })
  })

  it('that is silent for longer than the lease has no trainer running any more', async () => {
    server.leaseMs = 6_000
    const job = addTraining(server, slow, { settings: endless })
    const worker = startWorker(server, { heartbeatMs: 200 })
    await worker.until('progress')
    expect(trainersOf()).toHaveLength(1)
    server.disturb = ({ job }) => (job === undefined ? undefined : 'lost')
    await worker.until('lost')
    expect(trainersOf()).toEqual([])
    expect(job.outcome).toBeNull()
    worker.stop()
    await worker.ended
  })
})

/** Weights, moments and episodes under way, of a checkpoint beyond `after` that both runs came to. */
function sameCheckpoint(one: StoredJob, other: StoredJob, after: number) {
  const common = one.checkpoints.find(
    ({ iteration }) => iteration > after && other.checkpoints.some((each) => each.iteration === iteration),
  )
  return (
    common &&
    [one, other].map(({ checkpoints }) => {
      const { bytes } = checkpoints.find(({ iteration }) => iteration === common.iteration) ?? common
      const { weights, learnerState, episodes, iteration, episodesTotal } = decodeCheckpoint(bytes, 'of a test')
      return { weights, learnerState, episodes, iteration, episodesTotal }
    })
  )
}

describe('a run that is interrupted', { timeout: 240_000 }, () => {
  const settings = { ...endless, checkpoint_every: 800 }

  /** Goes on until both have a checkpoint of one iteration, and compares them, and the curves up to there. */
  async function expectTheSame(interrupted: StoredJob) {
    const after = interrupted.points.size
    const whole = addTraining(server, slow, { settings })
    const worker = startWorker(server, { slots: 2 })
    await server.until(() => sameCheckpoint(whole, interrupted, after) !== undefined)
    whole.stop = interrupted.stop = 'cancel'
    await server.until(() => whole.outcome !== null && interrupted.outcome !== null)
    worker.stop()
    await worker.ended
    const [one, other] = sameCheckpoint(whole, interrupted, after) ?? []
    expect(one).toEqual(other)
    const upTo = (job: StoredJob) => curveOf(job).slice(0, one?.iteration)
    expect(upTo(interrupted)).toEqual(upTo(whole))
    expect(interrupted.outcome).toEqual({ state: 'cancelled' })
    expect([...interrupted.points.keys()]).toEqual(iterations(interrupted.points.size))
  }

  it('is handed over by a worker that stops, and goes on bit for bit', async () => {
    const job = addTraining(server, slow, { settings })
    const first = startWorker(server)
    await server.until(() => job.points.size > 0)
    first.stop()
    await first.ended
    expect(first.events.at(-1)).toMatchObject({ event: 'released', run: job.id })
    expect(job).toMatchObject({ state: 'queued', releases: ['the worker stops'] })
    // Nothing that was trained is lost.
    expect(job.checkpoints.at(-1)?.iteration).toBe(job.points.size)
    await expectTheSame(job)
    expect(job.attempt).toBe(2)
  })

  it('goes on from its checkpoint where its trainer was killed, with the same lease', async () => {
    const job = addTraining(server, slow, { settings })
    const worker = startWorker(server)
    await server.until(() => job.checkpoints.length > 0)
    for (const pid of trainersOf()) process.kill(pid, 'SIGKILL')
    expect(await worker.until('restarted')).toMatchObject({ iteration: job.checkpoints.at(-1)?.iteration })
    worker.stop()
    await worker.ended
    await expectTheSame(job)
    expect(job.attempt).toBe(2)
  })

  it('goes on from its last checkpoint where its worker is gone', async () => {
    const job = addTraining(server, slow, { settings })
    const first = startWorker(server)
    await server.until(() => job.checkpoints.length > 0)
    first.abandon()
    await first.ended
    expect(trainersOf()).toEqual([])
    expect(job.releases).toEqual([])
    server.expire(job)
    await expectTheSame(job)
  })
})

describe('a trainer', { timeout: 240_000 }, () => {
  it('that is killed again and again fails the run in the end', async () => {
    const job = addTraining(server, slow, { settings: endless })
    const worker = startWorker(server)
    const killing = setInterval(() => {
      for (const pid of trainersOf()) process.kill(pid, 'SIGKILL')
    }, 50)
    onTestFinished(() => clearInterval(killing))
    await server.until(() => job.outcome !== null)
    clearInterval(killing)
    worker.stop()
    await worker.ended
    expect(job.outcome).toMatchObject({
      state: 'failed',
      error: { code: expect.stringMatching(/^(training_failed|scenario_out_of_memory)$/) },
    })
    expect(worker.events.filter(({ event }) => event === 'restarted').length).toBeGreaterThanOrEqual(4)
  })

  it.each(['cancel', 'budget'] as const)('is stopped with a checkpoint: %s', async (reason) => {
    const job = addTraining(server, slow, { settings: endless })
    const worker = startWorker(server, { heartbeatMs: 100 })
    await server.until(() => job.points.size > 0)
    job.stop = reason
    await server.until(() => job.outcome !== null)
    worker.stop()
    await worker.ended
    expect(job.outcome).toEqual({ state: reason === 'cancel' ? 'cancelled' : 'budget_exceeded' })
    expect(job.checkpoints.at(-1)?.iteration).toBe(job.points.size)
  })

  it('is stopped by its worker at the iteration that used up the budget', async () => {
    const budget = { budget_minor: 1, price_milliseconds: 0, price_minor_per_hour: 3_600_000 }
    const job = addTraining(server, quick, { settings: endless, budget })
    await workThrough(server)
    expect(job.outcome).toEqual({ state: 'budget_exceeded' })
    expect(job.checkpoints.at(-1)?.iteration).toBe(job.points.size)
  })

  it('is not started where the budget is used up already', async () => {
    const budget = { budget_minor: 5, price_milliseconds: 5 * 3_600_000, price_minor_per_hour: 100 }
    const job = addTraining(server, quick, { settings: endless, budget })
    await workThrough(server)
    expect(job).toMatchObject({ outcome: { state: 'budget_exceeded' }, metered: [0], checkpoints: [] })
  })
})

describe('a lease that is lost', { timeout: 240_000 }, () => {
  const requests: [action: string, count: number][] = [
    ['heartbeat', 1],
    ['progress', 2],
    ['checkpoint', 1],
    ['outcome', 1],
  ]
  if (isLong) requests.push(['progress', 1], ['trajectories', 1], ['agent', 1])

  it.each(requests)('at %s %i ends the trainer, and nothing is written any more', async (action, count) => {
    const ending = ['agent', 'outcome'].includes(action)
    const settings = ending ? {} : { ...endless, checkpoint_every: 240 }
    const job = addTraining(server, ending ? quick : slow, { settings, trajectories_every: ending ? 0 : 5 })
    server.disturb = (request) => (request.action === action && request.count === count ? 'fenced' : undefined)
    const worker = startWorker(server, { heartbeatMs: 100 })
    expect(await worker.until('lost')).toMatchObject({ run: job.id })
    expect(trainersOf()).toEqual([])
    worker.stop()
    await worker.ended
    expect(job.outcome).toBeNull()
    // What was on its way when the first refusal came may have been refused too; then there is silence.
    const refused = server.refusals.filter((id) => id === job.id)
    expect(refused.length).toBeGreaterThanOrEqual(1)
    expect(refused.length).toBeLessThanOrEqual(3)
  })
})
