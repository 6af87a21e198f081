import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { integrityOf } from '@agentgym/client'
import type { AgentManifest } from '@agentgym/contract'
import { writeTarball } from '@agentgym/contract/tarball'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentFiles, unpackPackage } from './tarball.ts'
import {
  addTraining,
  agentOf,
  type PackedScenario,
  packedScenario,
  scenarioOfJob,
  slowly,
  startWorker,
  workThrough,
} from './testing/fixture-job.ts'
import { JobServer } from './testing/job-server.ts'
import type { StoredJob } from './testing/stored-job.ts'

let server: JobServer
let packed: PackedScenario
let agent: Uint8Array
let manifest: AgentManifest
beforeAll(async () => {
  packed = await packedScenario()
  const trainer = await JobServer.start()
  const job = addTraining(trainer, packed)
  await workThrough(trainer)
  await trainer.close()
  if (job.agent === null) return expect.fail('there is an agent')
  agent = job.agent
  manifest = await agentOf(job)
}, 120_000)
beforeEach(async () => {
  server = await JobServer.start()
})
afterEach(async () => {
  await server.close()
  expect(server.violations).toEqual([])
})

async function addEvaluation(tarball: Uint8Array, scenario: PackedScenario | null = packed): Promise<StoredJob> {
  const { evaluation } = manifest
  return server.add({
    kind: 'evaluate',
    evaluation: {
      purpose: 'verification',
      agent: {
        ...{ name: '@acme/walker', version: '1.0.0' },
        ...{ integrity: await integrityOf(tarball), tarball_url: server.file(tarball) },
      },
      scenario: scenario && scenarioOfJob(server, scenario),
      tasks: [
        {
          id: 'claim',
          episodes: evaluation.episodes,
          seed: evaluation.seed,
          task_order: evaluation.tasks?.order ?? 'numbered',
        },
        { id: 'held_out', episodes: 12, seed: 4_000_000_000, task_order: 'drawn' },
      ],
    },
  })
}

/** The agent's package with one of its files changed. */
async function changedAgent(file: string, change: (bytes: Buffer) => Uint8Array): Promise<Uint8Array> {
  const folder = mkdtempSync(path.join(tmpdir(), 'agentgym-test-'))
  try {
    await unpackPackage(agent, folder, agentFiles)
    const read = (name: string) => readFileSync(path.join(folder, name))
    const files = Object.keys(agentFiles).map((name) => ({
      path: name,
      bytes: name === file ? change(read(name)) : read(name),
    }))
    return (await writeTarball(files)).bytes
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function addCheck(scenario: PackedScenario): StoredJob {
  const { hash: _, ...subject } = scenarioOfJob(server, scenario)
  return server.add({ kind: 'check', package: subject })
}

describe('an evaluation', { timeout: 120_000 }, () => {
  it('plays what agent.json claims to the same bits, and episodes that nobody knew', async () => {
    const job = await addEvaluation(agent)
    const events = await workThrough(server)
    expect(job.evaluation?.checks.map(({ id, ok }) => [id, ok])).toEqual([
      ['hash', true],
      ['policy', true],
      ['structure', true],
      ['golden_batch', true],
    ])
    expect(job.evaluation).toMatchObject({ output_hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const [claim, heldOut] = job.evaluation?.results ?? []
    expect(claim).toMatchObject({ id: 'claim', evaluation: manifest.evaluation, error: null })
    expect(claim.episode_returns).toHaveLength(manifest.evaluation.episodes)
    // What training and this worker played alike was played twice already.
    expect(claim.repeat).toBeNull()
    expect(heldOut.repeat).toEqual({ same: true, message: null })
    expect(heldOut).toMatchObject({
      id: 'held_out',
      evaluation: { episodes: 12, seed: 4_000_000_000 },
      error: null,
    })
    expect(job.evaluation?.runtime).toMatchObject({ node: process.versions.node, arch: process.arch })
    expect(server.leases.at(-1)?.worker?.runtime).toEqual(job.evaluation?.runtime)
    const { sample_episode: sample } = job.evaluation ?? {}
    expect(sample).toMatchObject({
      policy: 'agent',
      view: null,
      end: expect.stringMatching(/^(terminated|truncated)$/),
    })
    // Walks at most nine steps, and sees where it is: the first observation is a reset's.
    expect(sample?.steps.map(({ observation }) => observation[1])).toEqual(
      sample?.steps.map((_, step) => Number((step / 9).toPrecision(5))),
    )
    // The greedy choice is the likeliest.
    for (const { action, likely = [] } of sample?.steps ?? []) {
      expect(likely[0].choice).toBe(action[0])
      expect(likely.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 2)
    }
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'finished', subject: '@acme/walker@1.0.0', ok: true }),
    )
  })

  it('plays a claim that it cannot reproduce a second time, so that its agent is not blamed for the scenario', async () => {
    const other = await changedAgent('agent.json', (bytes) => {
      const json: AgentManifest = JSON.parse(bytes.toString('utf8'))
      return Buffer.from(JSON.stringify({ ...json, evaluation: { ...json.evaluation, return_mean: 7 } }))
    })
    const job = await addEvaluation(other)
    await workThrough(server)
    expect(job.evaluation?.results[0]).toMatchObject({ error: null, repeat: { same: true, message: null } })
  })

  it('tells where a scenario plays otherwise in a process with another stack', async () => {
    // Looked for once: how deep an array JSON takes is a property of the stack alone.
    const deep = await packedScenario(`globalThis.depth ??= (() => {
      for (let n = 500; ; n += 500) {
        let nested = []
        for (let i = 0; i < n; i += 1) nested = [nested]
        try { JSON.stringify(nested) } catch { return n }
      }
    })()
    state.x += globalThis.depth / 1e6`)
    const renamed = await changedAgent('agent.json', (bytes) =>
      Buffer.from(bytes.toString('utf8').replaceAll(manifest.scenario.hash, deep.scenario.hash)),
    )
    const job = await addEvaluation(renamed, deep)
    await workThrough(server)
    const unequal = { same: false, message: expect.stringMatching(/^Episode 0 was another one.*not deterministic\.$/) }
    expect(job.evaluation?.results).toMatchObject([
      { id: 'claim', error: null, repeat: unequal },
      { id: 'held_out', error: null, repeat: unequal },
    ])
  })

  it('plays nothing with a model that is not the one that agent.json names', async () => {
    const job = await addEvaluation(await changedAgent('model.onnx', (bytes) => bytes.subarray(0, bytes.length - 1)))
    await workThrough(server)
    expect(job.evaluation).toMatchObject({ checks: [{ ok: false }], output_hash: null, results: [] })
    expect(job.evaluation?.checks[0].message).not.toContain(tmpdir())
  })

  it('plays nothing with an agent.json that is none', async () => {
    const job = await addEvaluation(await changedAgent('agent.json', () => Buffer.from('{"format": 1}')))
    await workThrough(server)
    expect(job.evaluation).toMatchObject({ checks: [{ id: 'manifest', ok: false }], results: [] })
  })

  it('tells of a scenario that fails, task by task', async () => {
    const broken = await packedScenario('if (state.t === 3) throw new Error("lost at sea")')
    const hash = broken.scenario.hash
    const renamed = await changedAgent('agent.json', (bytes) =>
      Buffer.from(bytes.toString('utf8').replaceAll(manifest.scenario.hash, hash)),
    )
    const job = await addEvaluation(renamed, broken)
    const events = await workThrough(server)
    expect(job.evaluation?.results).toMatchObject([
      {
        ...{ id: 'claim', evaluation: null },
        error: { code: 'scenario_threw', data: { stack: expect.stringContaining('src/index.js:') } },
      },
      { id: 'held_out', evaluation: null, error: { code: 'scenario_threw' } },
    ])
    expect(events).toContainEqual(expect.objectContaining({ event: 'finished', failed: ['claim', 'held_out'] }))
  })

  it('of an agent whose scenario the registry has not is of its model alone', async () => {
    const job = await addEvaluation(agent, null)
    await workThrough(server)
    expect(job.evaluation).toMatchObject({ results: [], output_hash: expect.any(String) })
  })
})

describe('a worker', { timeout: 120_000 }, () => {
  it('told to stop gives back what takes seconds as well', async () => {
    const slow = await packedScenario(slowly)
    const check = addCheck(slow)
    const worker = startWorker(server)
    await worker.until('leased')
    worker.stop()
    await worker.ended
    expect(check).toMatchObject({ state: 'queued', report: null, releases: ['the worker stops'] })
    expect(worker.events.at(-1)).toMatchObject({ event: 'released', kind: 'check' })
  })

  it('has a slot for what takes seconds while its others train', async () => {
    const training = addTraining(server, packed, { settings: { steps: 1_000_000_000 } })
    const worker = startWorker(server, { slots: 1 })
    await server.until(() => training.points.size > 0)
    const check = addCheck(packed)
    await server.until(() => check.report !== null)
    expect(check.report?.ok).toBe(true)
    expect(check.sample).toMatchObject({ policy: 'random', steps: expect.any(Array) })
    expect(training.outcome).toBeNull()
    worker.stop()
    await worker.ended
  })

  it('takes only what it is told to', async () => {
    const training = addTraining(server, packed)
    const check = addCheck(packed)
    await workThrough(server, { kinds: ['check'] })
    expect(check.state).toBe('over')
    expect(training.state).toBe('queued')
  })

  it('says who it is', async () => {
    await workThrough(server, { name: 'rack 7 (left)', slots: 3, priceMinorPerHour: 250 })
    const [{ worker }] = server.leases
    expect(worker).toMatchObject({ name: 'rack 7 (left)', slots: 4, price_minor_per_hour: 250 })
    expect(worker?.cores).toBeGreaterThan(0)
    expect(worker?.memory_bytes).toBeGreaterThan(2 ** 20)
    expect(new Set(server.leases.map((lease) => lease.worker?.id)).size).toBe(1)
  })

  it('ends where its token is no worker’s', async () => {
    server.disturb = () => 'forbidden'
    await expect(startWorker(server).ended).rejects.toMatchObject({ code: 'forbidden' })
  })
})
