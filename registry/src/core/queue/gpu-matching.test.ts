import { randomUUID } from 'node:crypto'
import { createClient, leaseJob as leaseOverHttp } from '@agentgym/client'
import type { JobKind, WorkerDescription } from '@agentgym/contract'
import { describeOnBothEngines } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import type { TestServices } from '@agentgym/testkit/services'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { jobRoutes } from '../../modules/jobs/jobs.routes.ts'
import { leaseJob } from '../../modules/jobs/lease-jobs.ts'
import { noteWorker } from '../../modules/jobs/workers.store.ts'
import { createActor } from '../../modules/packages/testing/publishing.ts'
import type { Database } from '../database/database.ts'
import { couldServe, type GpuNeed, noGpus } from './gpu-matching.ts'
import type { JobHandler } from './job-handler.ts'

const gigabyte = 1e9

describeOnBothEngines('GPUs of workers on $kind', ({ open }) => {
  let database: Database
  let app: ServedApp
  let services: TestServices

  beforeAll(async () => {
    database = await open()
    app = await serveApp(database, (own) => [jobRoutes(own, [handlerOf('check'), handlerOf('train')])])
    services = app.services
  })
  beforeEach(async () => {
    for (const table of ['jobs', 'workers', 'queue_turns'])
      await sql`delete from ${sql.table(table)}`.execute(database.query)
  })
  afterAll(async () => {
    await app?.close()
    await database?.close()
  })

  const handlerOf = (kind: JobKind): JobHandler => ({
    kind,
    describe: async () => ({
      kind: 'check',
      traceparent: null,
      package: { name: '@a/b', version: '1.0.0', integrity: 'sha512-', tarball_url: 'http://localhost/' },
    }),
    exhausted: async () => {},
  })
  const submit = async (gpu?: GpuNeed, kind: JobKind = 'train') => {
    const id = randomUUID()
    await database.transaction((query) => services.queue.enqueue(query, kind, id, { gpu }))
    return id
  }
  type Versions = NonNullable<WorkerDescription['cuda']>
  const everything: Versions = { driver: '580.1', libtorch: '2.9.1', onnxruntime: '1.30.0' }
  const worker = (gigabytes: readonly number[], cuda: Versions | undefined = everything): WorkerDescription => ({
    ...{ id: randomUUID(), name: 'box', cores: 2, memory_bytes: 1, slots: 2, price_minor_per_hour: 0 },
    gpus: gigabytes.map((size) => ({ name: 'GPU', memory_bytes: size * gigabyte })),
    usage: { cpu: null, memory: null, gpu: null },
    cuda,
  })
  const lease = async (asking: WorkerDescription | undefined, free?: number[], only?: boolean) =>
    (
      await leaseJob(services, [handlerOf('train')], {
        ...{ kinds: ['train'], worker: asking, free_gpus: free, gpu_only: only },
      })
    )?.id
  const need = (gpus: number, gigabytes: number, gpu_uses: readonly string[] = ['learner']): GpuNeed => ({
    ...{ gpus, gpu_memory: gigabytes * gigabyte, gpu_uses },
  })

  it('lease a run to a worker that has enough of them, of enough memory', async () => {
    const id = await submit(need(2, 40))
    expect(await lease(undefined)).toBeUndefined()
    expect(await lease(worker([]))).toBeUndefined()
    expect(await lease(worker([80]))).toBeUndefined()
    expect(await lease(worker([80, 24]))).toBeUndefined()
    expect(await lease(worker([80, 40, 24]))).toBe(id)
  })

  it('lease no run to a worker whose GPUs another run has', async () => {
    const id = await submit(need(1, 40))
    const asking = worker([80, 24])
    expect(await lease(asking, [1])).toBeUndefined()
    expect(await lease(asking, [])).toBeUndefined()
    expect(await lease(asking, [0])).toBe(id)
  })

  it('lease no run to a worker of an older version, or without what computes on them', async () => {
    const learns = await submit(need(1, 0))
    const { cuda: _, ...older } = worker([80])
    expect(await lease(older)).toBeUndefined()
    expect(await lease(worker([80], { ...everything, libtorch: null }))).toBeUndefined()
    expect(await lease(worker([80], { ...everything, onnxruntime: null }))).toBe(learns)
    await submit(need(1, 0, ['rollouts']))
    expect(await lease(worker([80], { ...everything, onnxruntime: null }))).toBeUndefined()
  })

  it('let a run that needs none pass one that waits for them', async () => {
    await submit(need(1, 0))
    const id = await submit()
    const { cuda: _, ...older } = worker([80])
    expect(await lease(older)).toBe(id)
  })

  it('leave everything else to others where a worker is for them only (--gpu-only)', async () => {
    const actor = await createActor(database)
    await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', actor.accountId).execute()
    const client = createClient({ server: app.url, token: await app.tokenOf(actor, ['worker']) })
    const ask = async (asking: WorkerDescription, gpuOnly?: boolean) =>
      (await leaseOverHttp(client, { kinds: ['check', 'train'], worker: asking, gpuOnly }))?.job.id
    const check = await submit(undefined, 'check')
    const plain = await submit()
    const [small, large] = [await submit(need(1, 16)), await submit(need(1, 40))]
    expect(await ask(worker([]), true)).toBeUndefined()
    expect(await ask(worker([24]), true)).toBe(small)
    expect(await ask(worker([24]), true)).toBeUndefined()
    expect(await ask(worker([80]), true)).toBe(large)
    expect(await ask(worker([80]), true)).toBeUndefined()
    // The same worker without the option.
    expect(await ask(worker([80]))).toBe(check)
    expect(await ask(worker([80]))).toBe(plain)
  })

  const sizes = fc.array(fc.constantFrom(8, 16, 24, 40, 80), { maxLength: 4 })
  const workers = fc.record({
    gigabytes: sizes,
    cuda: fc.constantFrom(undefined, everything, { ...everything, libtorch: null }),
    free: fc.option(fc.subarray([0, 1, 2, 3]), { nil: undefined }),
    only: fc.boolean(),
  })
  const needs = fc.oneof(
    fc.constant(noGpus),
    fc
      .record({
        gpus: fc.integer({ min: 1, max: 3 }),
        gigabytes: fc.constantFrom(0, 8, 20, 40),
        uses: fc.constantFrom(['learner'], ['rollouts'], ['learner', 'rollouts']),
      })
      .map(({ gpus, gigabytes, uses }) => need(gpus, gigabytes, uses)),
  )
  /** The rule in plain words. */
  const serves = (wanted: GpuNeed, { gpus, cuda }: WorkerDescription, free?: number[], only = false) => {
    if (wanted.gpus === 0) return !only
    if (cuda === undefined) return false
    if (wanted.gpu_uses.includes('learner') && cuda.libtorch === null) return false
    if (wanted.gpu_uses.includes('rollouts') && cuda.onnxruntime === null) return false
    const fitting = gpus.filter(
      (gpu, index) => (free?.includes(index) ?? true) && gpu.memory_bytes >= wanted.gpu_memory,
    )
    return fitting.length >= wanted.gpus
  }

  it('never get a run that they cannot serve, and every run that they can', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(needs, { minLength: 1, maxLength: 4 }),
        workers,
        async (wanted, { gigabytes, cuda, free, only }) => {
          await sql`delete from jobs`.execute(database.query)
          const asking: WorkerDescription = { ...worker(gigabytes), cuda }
          const servable = new Set<string>()
          for (const one of wanted) {
            const id = await submit(one)
            if (serves(one, asking, free, only)) servable.add(id)
          }
          const leased = new Set<string>()
          const next = () => lease(asking, free, only)
          for (let id = await next(); id !== undefined; id = await next()) leased.add(id)
          expect(leased).toEqual(servable)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('are known from the description of a worker, free or not', async () => {
    await fc.assert(
      fc.asyncProperty(needs, workers, async (wanted, { gigabytes, cuda }) => {
        await sql`delete from workers`.execute(database.query)
        const described: WorkerDescription = { ...worker(gigabytes), cuda }
        await noteWorker(database.query, described, { owner: randomUUID(), kinds: ['train'] })
        const could = couldServe({
          gpus: sql`${wanted.gpus}::int`,
          gpu_memory: sql`${wanted.gpu_memory}::bigint`,
          gpu_uses: sql`${sql.val([...wanted.gpu_uses])}::text[]`,
        })
        const { rows } = await sql<{ could: boolean }>`select ${could} as could from workers`.execute(database.query)
        expect(rows).toEqual([{ could: serves(wanted, described) }])
      }),
      { numRuns: 40 },
    )
  })
})
