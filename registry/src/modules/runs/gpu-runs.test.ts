import { randomUUID } from 'node:crypto'
import type { WorkerDescription } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { noGpus } from '../../core/queue/gpu-matching.ts'
import { leaseJob } from '../jobs/lease-jobs.ts'
import { noteWorker } from '../jobs/workers.store.ts'
import { trainingPrice } from './pay-run.ts'
import { cancelWaiting, type RunServer, runIn, startRunServer } from './test/run-server.ts'

describeOnEngines('runs that need a GPU on $kind', ({ open }) => {
  let database: Database
  let server: RunServer
  beforeAll(async () => {
    database = await open()
    server = await startRunServer(database)
  })
  afterEach(async () => {
    await cancelWaiting(server.training)
    await sql`delete from workers`.execute(database.query)
  })
  afterAll(async () => {
    await server?.close()
    await database?.close()
  })

  const post = (path: string, json: unknown) => server.call('POST', path, { json, token: server.token })
  const get = (path: string) => server.call('GET', path, { token: server.token })
  const submit = (more: Record<string, unknown>) => post('/v1/runs', { scenario: server.training.scenario, ...more })
  const start = async (more: Record<string, unknown>) => runIn(await submit(more))
  const cpuWorker: WorkerDescription = {
    ...{ id: randomUUID(), name: 'cpu', cores: 2, memory_bytes: 1, gpus: [], slots: 1, price_minor_per_hour: 500 },
    usage: { cpu: null, memory: null, gpu: null },
  }
  const gpuWorker: WorkerDescription = {
    ...{ ...cpuWorker, id: randomUUID(), name: 'gpu', gpus: [{ name: 'H100', memory_bytes: 80e9 }] },
    cuda: { driver: '580', libtorch: '2.9.1', onnxruntime: null },
    price_minor_per_hour: 0,
    usage: { cpu: null, memory: null, gpu: 0.75, gpu_memory: 0.5 },
  }
  const connect = (worker: WorkerDescription) =>
    noteWorker(database.query, worker, { owner: randomUUID(), kinds: ['train'] })
  const lease = async (worker: WorkerDescription | undefined) => {
    const { services, handlers } = server.training
    const job = await leaseJob(services, handlers, { kinds: ['train'], worker })
    return job?.kind === 'train' ? job : undefined
  }

  it('say at submission and later that no worker has one, are leased by none, and hold nothing', async () => {
    await connect(cpuWorker)
    const run = await start({ gpu: { memory_gb: 40 }, budget_minor: 500 })
    expect(run).toMatchObject({
      state: 'queued',
      gpu: { count: 1, memory_bytes: 40e9 },
      unserved: expect.stringContaining('No connected worker has a GPU with 40 GB for the learner'),
      settings: { learner_device: 'auto', rollout_provider: 'auto' },
    })
    expect(runIn(await get(`/v1/runs/${run.id}`))).toEqual(run)
    expect((await get('/v1/status')).body).toMatchObject({ runs: { queued: 1, unserved: 1 } })
    expect(await lease(cpuWorker)).toBeUndefined()
    expect(await lease(undefined)).toBeUndefined()
    const need = { gpus: 1, gpu_memory: 40e9, gpu_uses: ['learner'] }
    expect(await trainingPrice(database.query, need)).toBe(0)
    expect(await trainingPrice(database.query, noGpus)).toBe(500)

    await connect(gpuWorker)
    expect(runIn(await get(`/v1/runs/${run.id}`)).unserved).toBeNull()
    expect((await get('/v1/status')).body).toMatchObject({ runs: { queued: 1, unserved: 0 } })
    const job = await lease(gpuWorker)
    expect(job).toMatchObject({ id: run.id, run: { gpu: { count: 1, memory_bytes: 40e9 } } })
    expect(runIn(await get(`/v1/runs/${run.id}`))).toMatchObject({
      ...{ state: 'running', unserved: null, gpu_usage: { busy: 0.75, memory: 0.5 } },
    })
  })

  it('need what their settings name, also without asking', async () => {
    expect(await start({ settings: { learner_device: 'cuda:1' } })).toMatchObject({
      gpu: { count: 2, memory_bytes: 0 },
      unserved: expect.stringContaining('2 GPUs for the learner'),
    })
    expect(await start({ settings: { rollout_provider: 'cuda' } })).toMatchObject({
      unserved: expect.stringContaining('a GPU for rollouts'),
    })
    expect(await start({ settings: { learner_device: 'auto' } })).toMatchObject({ gpu: null, unserved: null })
  })

  it.each([
    [{ gpu: {}, settings: { learner_device: 'cpu', rollout_provider: 'cpu' } }, 'leave it idle'],
    [{ gpu: {}, settings: { learner_device: 'cuda:1' } }, 'asks for 1 GPU'],
  ])('are refused where they contradict themselves: %o', async (request, message) => {
    const answer = await submit(request)
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'config_invalid', message: expect.stringContaining(message), data: { field: 'gpu' } } },
    })
  })

  it('leave others to every worker, in settings that older ones know', async () => {
    const run = await start({})
    expect(run).toMatchObject({ gpu: null, unserved: null, settings: { learner_device: 'cpu' } })
    const job = await lease(cpuWorker)
    expect(job?.id).toBe(run.id)
    expect(job?.run.gpu).toBeNull()
    expect(Object.keys(job?.run.settings ?? {})).toEqual(
      expect.not.arrayContaining(['learner_device', 'rollout_provider', 'entropy_coefficient_schedule']),
    )
  })
})
