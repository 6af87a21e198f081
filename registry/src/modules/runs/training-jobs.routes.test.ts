import { createHash, randomUUID } from 'node:crypto'
import {
  type Client,
  createClient,
  downloadCheckpoint,
  leaseHeaders,
  leaseJob,
  releaseJob,
  sendHeartbeat,
  sendOutcome,
  sendProgress,
  sendTrajectories,
  storeCheckpointParts,
  uploadAgent,
  uploadCheckpoint,
  uploadPart,
} from '@agentgym/client'
import type { WorkerDescription } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sampleEpisode } from '../../../../testdata/episodes/sample-episode.ts'
import { agentTarball } from '../../../../testdata/tarballs/good-agent.ts'
import { createApp } from '../../app/app.ts'
import { type HttpListener, listenHttp } from '../../app/http-listener.ts'
import type { Actor, Scope } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { createToken } from '../accounts/tokens.store.ts'
import { jobRoutes } from '../jobs/jobs.routes.ts'
import { createActor } from '../packages/testing/publishing.ts'
import { progressPoint } from './exports/testing/progress-points.ts'
import { listEpisodes } from './run-episodes.ts'
import { completed, mustTakeTurn, openTraining, pricePerHour, runOf, startRun, type Training } from './testing/train.ts'
import { trainingJobRoutes } from './training-jobs.routes.ts'

describeOnEngines('runs and their workers over HTTP on $kind', ({ open }) => {
  let database: Database
  let training: Training
  let listener: HttpListener
  let url: string
  let client: Client

  beforeAll(async () => {
    database = await open()
    listener = await listenHttp('127.0.0.1', 0)
    url = `http://127.0.0.1:${listener.port}`
    training = await openTraining(database, { publicUrl: url })
    const { services, handlers } = training
    const routes = [jobRoutes(services, handlers), trainingJobRoutes(services)]
    listener.answerWith(createApp(services, { routes }).fetch)
    const operator = await createActor(database, 'op')
    await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', operator.accountId).execute()
    client = createClient({ server: url, token: await tokenOf(operator, ['worker']) })
  })
  afterAll(async () => {
    await listener.drain(0)
    await database.close()
    await training.services.remove()
  })

  const tokenOf = async ({ accountId }: Actor, scopes: Scope[]) =>
    (await createToken(database.query, { accountId, name: 'test', scopes, expiresAt: null })).token
  const describeWorker = (): WorkerDescription => ({
    id: randomUUID(),
    name: 'rack-1:gpu',
    cores: 8,
    memory_bytes: 2 ** 34,
    gpus: [{ name: 'NVIDIA H100', memory_bytes: 2 ** 36 }],
    slots: 2,
    price_minor_per_hour: pricePerHour,
    usage: { cpu: 0.25, memory: 0.5, gpu: 0 },
  })
  const progressOf = (...iterations: number[]) => ({
    points: iterations.map((iteration) => progressPoint(iteration)),
    metered_ms: 100,
  })

  it('a run from its lease to its outcome, with a release in between', async () => {
    const id = await startRun(training)
    const worker = describeWorker()
    const first = await leaseJob(client, { kinds: ['train', 'check'], worker })
    if (first?.job.kind !== 'train') throw new Error('no run')
    expect(first.job.run.budget.price_minor_per_hour).toBe(pricePerHour)
    expect(first.leaseMs).toBeGreaterThan(30_000)
    expect(await leaseJob(client, { kinds: ['train'], worker })).toBeUndefined()
    const { job } = first
    const download = (lease: string) => fetch(job.run.scenario.tarball_url, { headers: leaseHeaders(lease) })
    expect((await download(job.lease)).status).toBe(200)
    expect((await download(`train.0.else${job.lease.slice(12)}`)).status).toBe(409)
    expect(await sendProgress(client, job, progressOf(1, 2, 3))).toMatchObject({ stop: null })

    const bytes = Buffer.alloc(700_000, 'weights')
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const checkpoint = { bytes, sha256, iteration: 3, steps: 6144, seconds: 1.5, meteredMs: 120 }
    expect(await uploadCheckpoint(client, job, checkpoint)).toMatchObject({ stop: null })
    const wrong = uploadCheckpoint(client, job, { ...checkpoint, sha256: '0'.repeat(64) })
    await expect(wrong).rejects.toMatchObject({ code: 'request_invalid', data: { field: 'sha256' } })
    const large = uploadCheckpoint(client, job, { ...checkpoint, bytes: Buffer.alloc(1_000_001) })
    await expect(large).rejects.toMatchObject({ code: 'request_too_large' })
    const step = { observation: [1], action: [0], reward: 1, log_probability: -1, terminated: false, truncated: false }
    const trajectory = { iteration: 1, environment: 0, return: 1_000, length: 1_000, partial: false }
    const steps = Array.from({ length: 1_000 }, () => step)
    // More than a usual body may have.
    const trajectories = Array.from({ length: 20 }, (_, environment) => ({ ...trajectory, environment, steps }))
    await sendTrajectories(client, job, trajectories)
    const parts = [bytes.subarray(0, 400_000), bytes.subarray(400_000)]
    const stored = [await uploadPart(client, job, parts[0]), await uploadPart(client, job, parts[1])]
    await sendProgress(client, job, { ...progressOf(), metered_ms: 125 })
    const swapped = storeCheckpointParts(client, job, checkpoint, stored.toReversed())
    await expect(swapped).rejects.toMatchObject({ code: 'request_invalid', data: { field: 'sha256' } })
    const absent = storeCheckpointParts(client, job, checkpoint, ['0'.repeat(64)])
    await expect(absent).rejects.toMatchObject({ code: 'integrity_mismatch' })
    const beyond = storeCheckpointParts(client, job, checkpoint, [...stored, ...stored])
    await expect(beyond).rejects.toMatchObject({ code: 'request_too_large' })
    expect(await storeCheckpointParts(client, job, checkpoint, stored)).toMatchObject({ stop: null })
    await releaseJob(client, job, { reason: 'The machine is needed.', meteredMs: 130 })
    await expect(sendHeartbeat(client, job)).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(uploadPart(client, job, parts[0])).rejects.toMatchObject({ code: 'lease_lost' })

    const second = await leaseJob(client, { kinds: ['train'], worker: describeWorker() })
    if (second?.job.kind !== 'train' || second.job.run.checkpoint === null) throw new Error('no checkpoint')
    expect(second.job.run).toMatchObject({ attempt: 2, budget: { price_milliseconds: 130 * pricePerHour } })
    expect(Buffer.from(await downloadCheckpoint(client, second.job, second.job.run.checkpoint)).equals(bytes)).toBe(
      true,
    )
    await sendProgress(client, second.job, progressOf(4))
    const integrity = await uploadAgent(client, second.job, agentTarball())
    await sendOutcome(client, second.job, { meteredMs: 100, outcome: completed(integrity) })
    await sendOutcome(client, second.job, { meteredMs: 100, outcome: completed(integrity) })
    expect(await runOf(training.services, id)).toMatchObject({
      state: 'completed',
      iteration: 4,
      worker_name: 'rack-1:gpu',
      price_milliseconds: 230 * pricePerHour,
      agent_integrity: integrity,
    })
  })

  it('records workers and their load', async () => {
    const id = await startRun(training)
    const worker = describeWorker()
    const leased = await leaseJob(client, { kinds: ['train'], worker })
    const row = () =>
      database.query.selectFrom('workers').selectAll().where('id', '=', worker.id).executeTakeFirstOrThrow()
    expect(await row()).toMatchObject({ name: 'rack-1:gpu', description: { cores: 8 }, usage: { cpu: 0.25 } })
    await sql`update workers set seen_at = now() - interval '1 minute'`.execute(database.query)
    if (leased?.job.kind !== 'train') throw new Error('no run')
    await sendHeartbeat(client, leased.job, { usage: { cpu: 0.75, memory: 0.5, gpu: 1 } })
    expect((await row()).usage).toEqual({ cpu: 0.75, memory: 0.5, gpu: 1 })
    await sql`update workers set seen_at = now() - interval '1 minute'`.execute(database.query)
    await sendProgress(client, leased.job, { ...progressOf(1), usage: { cpu: 1, memory: null, gpu: null } })
    expect((await row()).usage).toEqual({ cpu: 1, memory: null, gpu: null })
    expect((await row()).seen_at.getTime()).toBeGreaterThan(Date.now() - 30_000)
    expect(await training.queue.counts()).toContainEqual({ kind: 'train', state: 'active', worker: worker.id, jobs: 1 })
    const error = { code: 'scenario_threw', message: 'It threw.' } as const
    await sendOutcome(client, leased.job, { meteredMs: 1, outcome: { state: 'failed', error } })
    expect(await runOf(training.services, id)).toMatchObject({ state: 'failed', error })
  })

  it('refuses other callers and malformed requests', async () => {
    await startRun(training)
    const turn = await mustTakeTurn(training)
    const before = await runOf(training.services, turn.id)
    const { lease } = turn.job
    const place = { iteration: '0', steps: '0', seconds: '0', metered_ms: '0', sha256: '0'.repeat(64) }
    const sampled = (episode: object = {}, more: object = {}) => ({
      ...{ lease, iteration: 1, steps: 1, return: 1, length: 2, ...more },
      episode: { ...sampleEpisode(), ...episode },
    })
    const requests: [string, string, unknown][] = [
      ['POST', 'progress', { lease, ...progressOf(1) }],
      ['PUT', `checkpoint?${new URLSearchParams(place)}`, undefined],
      ['POST', 'trajectories', { lease, trajectories: [] }],
      ['POST', 'episodes', sampled()],
      ['PUT', 'agent', undefined],
      ['POST', 'outcome', { lease, metered_ms: 0, outcome: { state: 'budget_exceeded' } }],
      ['POST', 'heartbeat', { lease }],
      ['POST', 'release', { lease, reason: '' }],
    ]
    const ask = async (token: string | null, [method, path, body]: [string, string, unknown]) => {
      const response = await fetch(`${url}/v1/jobs/${turn.id}/${path}`, {
        method,
        headers: {
          ...leaseHeaders(lease),
          'content-type': body === undefined ? 'application/octet-stream' : 'application/json',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
        body: body === undefined ? 'bytes' : JSON.stringify(body),
      })
      const text = await response.text()
      return text === '' ? 'done' : (JSON.parse(text).error?.code ?? 'done')
    }
    const everything = await tokenOf(training.ada, ['training:start', 'training:view', 'worker'])
    for (const request of requests.filter(([, path]) => path !== 'trajectories')) {
      expect(await ask(null, request)).toBe('unauthenticated')
      expect(await ask(everything, request)).toBe('forbidden')
    }
    const operators = await createActor(database, 'op')
    await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', operators.accountId).execute()
    const worker = await tokenOf(operators, ['worker'])
    const malformed: [string, string, unknown][] = [
      ['POST', 'progress', { lease, points: [{ ...progressPoint(1), iteration: 0 }], metered_ms: 0 }],
      ['POST', 'progress', { lease, points: [], metered_ms: -1 }],
      ['POST', 'trajectories', { lease, trajectories: [] }],
      ['POST', 'episodes', sampled({}, { length: 0 })],
      ['POST', 'episodes', sampled({}, { return: '1' })],
      ['POST', 'episodes', sampled({ script: 'alert(1)' })],
      ['POST', 'episodes', sampled({ steps: [] })],
      ['POST', 'episodes', sampled({ last: { observation: [0], texts: ['\u0000'] } })],
      ['POST', 'episodes', sampled({ last: { observation: [0], texts: [], scene: [0] } })],
      ['POST', 'episodes', sampled({ last: { observation: new Array(5_450).fill(0.123456789), texts: [] } })],
      ['PUT', `checkpoint?${new URLSearchParams({ ...place, sha256: 'x' })}`, undefined],
      ['POST', 'outcome', { lease, metered_ms: 0, outcome: { state: 'running' } }],
      [
        'POST',
        'outcome',
        { lease, metered_ms: 0, outcome: { state: 'failed', error: { code: 'no_such', message: '' } } },
      ],
    ]
    for (const request of malformed) expect(await ask(worker, request)).toBe('request_invalid')
    const huge = { observation: new Array(8_192).fill(0.123456789), texts: [] }
    expect(await ask(worker, ['POST', 'episodes', sampled({ last: huge })])).toBe('request_too_large')
    const forged = lease.replace('train.0', 'train.1')
    expect(await ask(worker, ['POST', 'progress', { lease: forged, points: [], metered_ms: 0 }])).toBe('lease_lost')
    expect(await ask(worker, ['POST', 'episodes', { ...sampled(), lease: forged }])).toBe('lease_lost')
    expect(await runOf(training.services, turn.id)).toEqual(before)
    expect(await listEpisodes(database.query, turn.id)).toEqual([])
    expect(await ask(worker, ['POST', 'episodes', sampled()])).toBe('done')
    expect(await listEpisodes(database.query, turn.id)).toEqual([{ iteration: 1, steps: 1, return: 1, length: 2 }])
    await turn.complete()
  })
})
