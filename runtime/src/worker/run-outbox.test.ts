import { createClient, isRefusedByProxy, type RunEpisodeUpload } from '@agentgym/client'
import type { ProgressEvent, SampleEpisode, Trajectory } from '@agentgym/contract'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HeldLease } from './held-lease.ts'
import { RunMeter } from './run-meter.ts'
import { RunOutbox, type RunOutboxOptions } from './run-outbox.ts'
import { RunUploads } from './run-uploads.ts'
import { now } from './server-requests.ts'
import { addTraining, type PackedScenario, packedScenario } from './testing/fixture-job.ts'
import { JobServer } from './testing/job-server.ts'
import type { StoredJob } from './testing/stored-job.ts'

const never = 3_600_000
const usage = () => ({ cpu: null, memory: null, gpu: null })
let packed: PackedScenario
let server: JobServer
let job: StoredJob
let lease: HeldLease
beforeAll(async () => {
  packed = await packedScenario()
})
beforeEach(async () => {
  server = await JobServer.start()
  job = addTraining(server, packed)
  const leased = server.lease(['train'])
  if (leased === undefined) return expect.fail('there is a job')
  const client = createClient({ server: server.url })
  const { signal } = new AbortController()
  lease = new HeldLease({ client, job: leased, leaseMs: never, requestedAt: now(), heartbeatMs: never, usage, signal })
})
afterEach(async () => {
  await lease.end()
  await server.close()
  expect(server.violations).toEqual([])
})

function open(options: Partial<RunOutboxOptions> = {}): RunOutbox {
  const meter = new RunMeter({ budget_minor: null, price_milliseconds: 0, price_minor_per_hour: 0 })
  return new RunOutbox({ lease, uploads: new RunUploads(lease), meter, usage, everyMs: never, ...options })
}

const learner = {
  ...{ policy_loss: 0, value_loss: 0, entropy: 0, approximate_kl: 0, clip_fraction: 0, explained_variance: 0 },
  ...{ kl_to_reference: null, zero_variance_groups: null, gradient_norm: 0, learning_rate: 0 },
}
function point(iteration: number): ProgressEvent {
  return {
    ...{ event: 'progress', iteration, steps: iteration * 80, steps_total: 80_000, steps_per_second: 1, seconds: 1 },
    ...{ collect_seconds: 0, update_seconds: 0, episodes: 0, episodes_total: 0, return_mean: null, length_mean: null },
    ...{ metrics: {}, learner },
  }
}
const place = (iteration: number) => ({ iteration, steps: iteration * 80, seconds: iteration })
const bytes = (iteration: number) => new Uint8Array(100).fill(iteration)

function episode(iteration: number): RunEpisodeUpload {
  const leaf: SampleEpisode['observation'][number] = { name: '', kind: 'box', size: 1, shape: [1] }
  const seen = { observation: [iteration], texts: [] }
  return {
    ...{ iteration, steps: iteration * 80, return: 1, length: 1 },
    episode: {
      ...{ format: 1, policy: 'agent', view: null, observation: [leaf], action: [{ ...leaf, labels: [] }] },
      steps: [{ ...seen, action: [0], reward: 1 }],
      last: seen,
      end: 'truncated',
    },
  }
}

function trajectory(iteration: number, steps: number, width: number): Trajectory {
  const step = { action: [0], reward: 0, log_probability: 0, terminated: false, truncated: false }
  const observation = new Array(width).fill(0.5)
  return {
    ...{ iteration, environment: 0, return: 0, length: steps, partial: false },
    steps: Array.from({ length: steps }, () => ({ ...step, observation })),
  }
}

describe('what a run tells', () => {
  it('begins with its first iteration at once; what follows waits until it is due', async () => {
    const outbox = open()
    outbox.addPoint(point(1))
    await server.until(() => job.points.size === 1)
    for (let i = 2; i <= 1_300; i++) outbox.addPoint(point(i))
    expect(job.points.size).toBe(1)
    await outbox.drain()
    expect([...job.points.keys()]).toEqual(Array.from({ length: 1_300 }, (_, index) => index + 1))
    outbox.close()
  })

  it('thins sampled episodes that wait', async () => {
    const outbox = open()
    for (let i = 1; i <= 40; i++) {
      outbox.addPoint(point(i))
      outbox.addEpisode(episode(i))
    }
    await outbox.drain()
    const sent = [...job.episodes.keys()]
    expect(sent).toHaveLength(12)
    expect([sent[0], sent.at(-1)]).toEqual([1, 40])
    expect(job.points.size).toBe(40)
    outbox.close()
  })

  it.each([
    ['a server that does not know them', 'unknown', 1],
    ['a server that refuses one', 'refused', 2],
    ['a proxy that lets none through', { proxyLimit: 10 }, 2],
  ] as const)('goes on without sampled episodes at %s', async (_, disturbance, asked) => {
    let requests = 0
    server.disturb = ({ action }) => {
      if (action !== 'episodes') return undefined
      requests += 1
      return disturbance
    }
    const outbox = open()
    for (const i of [1, 2]) {
      outbox.addPoint(point(i))
      outbox.addEpisode(episode(i))
      await outbox.drain()
    }
    expect([job.points.size, job.episodes.size, requests]).toEqual([2, 0, asked])
    outbox.close()
  })

  it('comes by itself after a while', async () => {
    const outbox = open({ everyMs: 5 })
    for (let i = 1; i <= 20; i++) outbox.addPoint(point(i))
    await server.until(() => job.points.size === 20)
    outbox.close()
  })

  it('lets no checkpoint go before the iterations up to it, and of those that wait only the newest', async () => {
    const outbox = open()
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    server.disturb = ({ action, count }) => (action === 'checkpoint' && count === 1 ? held : undefined)
    let requested = 0
    for (let i = 1; i <= 40; i++) {
      outbox.addPoint(point(i))
      if (i % 10 !== 0) continue
      outbox.addCheckpoint(bytes(i), place(i))
      // The first is on its way before the others come.
      if (requested++ === 0) await server.until(() => job.points.size === 10)
    }
    letGo()
    await outbox.drain()
    const iterations = job.checkpoints.map(({ iteration }) => iteration)
    expect(iterations.at(-1)).toBe(40)
    expect(iterations).not.toContain(30)
    expect(job.points.size).toBe(40)
    outbox.close()
  })

  it('keeps evaluations behind their iterations', async () => {
    const evaluation = {
      ...{
        scenario: '@t/walk@1.2.3',
        episodes: 1,
        seed: 0,
        return_mean: 1,
        return_std: 0,
        length_mean: 1,
        metrics: {},
      },
      ...{ success: { ok: null, criteria: [] }, trajectory_hash: 'a'.repeat(64) },
    }
    const outbox = open()
    for (let i = 1; i <= 1_200; i++) {
      outbox.addPoint(point(i))
      if (i % 10 === 0) outbox.addEvaluation(evaluation, place(i))
    }
    await outbox.drain()
    expect([...job.evaluations.keys()]).toEqual(Array.from({ length: 120 }, (_, index) => 10 * (index + 1)))
    outbox.close()
  })
})

describe('what waits', () => {
  it('is bounded: too many iterations end the attempt', () => {
    const outbox = open({ mostPoints: 100 })
    server.disturb = ({ action }) => (action === 'progress' ? new Promise(() => {}) : undefined)
    for (let i = 1; i <= 100; i++) outbox.addPoint(point(i))
    expect(() => outbox.addPoint(point(101))).toThrow(
      expect.objectContaining({ code: 'server_unreachable', data: { points: 100 } }),
    )
    outbox.close()
  })

  it('is bounded: of samples the first are kept, with as many steps as a request takes', async () => {
    const outbox = open()
    outbox.addTrajectory(trajectory(1, 1_000, 7_000))
    for (let i = 2; i <= 30; i++) outbox.addTrajectory(trajectory(i, 100, 200))
    await outbox.drain()
    const kept = [...job.trajectories.values()]
    expect(kept[0].steps.length).toBe(Math.floor(200_000 / 7_005))
    expect(kept[0].length).toBe(1_000)
    expect(kept.length).toBeLessThan(15)
    expect(kept.slice(1).every(({ steps }) => steps.length === 100)).toBe(true)
    outbox.close()
  })

  it('is dropped once the server refuses, and what comes later too', async () => {
    const outbox = open()
    server.disturb = ({ action }) => (action === 'progress' ? 'refused' : undefined)
    outbox.addPoint(point(1))
    await expect(outbox.failure).rejects.toMatchObject({ code: 'request_too_large' })
    server.disturb = () => undefined
    outbox.addPoint(point(2))
    outbox.addCheckpoint(bytes(1), place(1))
    await expect(outbox.drain()).rejects.toMatchObject({ code: 'request_too_large' })
    expect(job).toMatchObject({ checkpoints: [], points: new Map() })
  })

  it('is dropped once the lease is lost', async () => {
    const outbox = open()
    server.disturb = ({ action }) => (action === 'progress' ? 'fenced' : undefined)
    outbox.addPoint(point(1))
    await expect(outbox.failure).rejects.toMatchObject({ code: 'lease_lost' })
    expect(lease.lost.aborted).toBe(true)
    await expect(lease.request(async () => 'sent')).rejects.toMatchObject({ code: 'lease_lost' })
  })
})

describe('an upload', () => {
  const large = new Uint8Array(300_000).map((_, index) => (index * 2_654_435_761) >>> 13)

  async function uploadAll(): Promise<number[]> {
    const uploaded: number[] = []
    const outbox = open({ onCheckpoint: (checkpoint) => uploaded.push(checkpoint.bytes) })
    outbox.addPoint(point(1))
    outbox.addCheckpoint(large, place(1))
    await outbox.drain()
    return uploaded
  }
  const arrived = () => job.checkpoints.map((each) => Buffer.compare(each.bytes, large))

  it('that a proxy refuses goes in parts, as small as it takes', async () => {
    server.disturb = () => ({ proxyLimit: 100_000 })
    expect(await uploadAll()).toEqual([large.length])
    expect(arrived()).toEqual([0])
  })

  it('whose connection breaks goes in parts', async () => {
    server.disturb = ({ action, count }) => (action === 'checkpoint' && count === 1 ? 'lost' : undefined)
    expect(await uploadAll()).toEqual([large.length])
    expect(arrived()).toEqual([0])
  })

  it('that no part of gets through fails with what to change, and is not the run’s failure', async () => {
    server.disturb = ({ action }) => (action === 'checkpoint' || action === 'parts' ? { proxyLimit: 1_000 } : undefined)
    const error = await uploadAll().catch((refused: unknown) => refused)
    expect(error).toMatchObject({ code: 'request_too_large', hint: expect.stringContaining('client_max_body_size') })
    expect(isRefusedByProxy(error)).toBe(true)
  })

  it('of samples that a proxy refuses is dropped', async () => {
    server.disturb = ({ action }) => (action === 'trajectories' ? { proxyLimit: 1_000 } : undefined)
    const outbox = open()
    outbox.addPoint(point(1))
    outbox.addTrajectory(trajectory(1, 100, 10))
    await outbox.drain()
    expect([job.points.size, job.trajectories.size]).toEqual([1, 0])
  })
})
