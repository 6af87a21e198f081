import { randomUUID } from 'node:crypto'
import type { JobKind, WorkerDescription } from '@agentgym/contract'
import { describeOnBothEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { settleExhausted } from '../../modules/jobs/jobs.tasks.ts'
import { leaseJob, releaseJob } from '../../modules/jobs/lease-jobs.ts'
import { readQueueHistory, sampleQueue } from '../../modules/jobs/queue-history.ts'
import { forgetWorkers } from '../../modules/jobs/workers.store.ts'
import type { Database } from '../database/database.ts'
import type { JobHandler, LeasedAttempt } from './job-handler.ts'
import { type JobQueue, maxAttempts } from './job-queue.ts'

const lost = { code: 'lease_lost' }
const tarball = { name: '@a/b', version: '1.0.0', integrity: 'sha512-', tarball_url: 'http://localhost/' }

describeOnBothEngines('the queue of jobs on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let queue: JobQueue
  /** Events of the handlers, in order. */
  let reported: string[]

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    queue = services.queue
  })
  beforeEach(async () => {
    reported = []
    await sql`delete from jobs`.execute(database.query)
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  /** A stateless module: every job of its kind is a check of the same package. */
  const handler = (kind: JobKind, changes: Partial<JobHandler> = {}): JobHandler => ({
    kind,
    describe: async () => ({ kind: 'check', traceparent: null, package: tarball }),
    exhausted: async (_query, id) => void reported.push(`exhausted ${id}`),
    released: async (_query, { id }, { reason, meteredMs }) =>
      void reported.push(`released ${id} ${reason} ${meteredMs}`),
    changed: (id) => void reported.push(`changed ${id}`),
    ...changes,
  })
  const enqueue = async (
    kind: JobKind,
    options: Parameters<JobQueue['enqueue']>[3] = {},
    id: string = randomUUID(),
  ) => {
    await database.transaction((query) => queue.enqueue(query, kind, id, options))
    return id
  }
  const next = async (kind: JobKind): Promise<LeasedAttempt> => {
    const attempt = await queue.next(kind, null)
    if (attempt === undefined) throw new Error('no job')
    return attempt
  }
  const hold = (attempt: LeasedAttempt) => database.transaction((query) => queue.hold(query, attempt))
  const silence = async () => {
    await sql`update jobs set leased_until = now() - interval '1 minute' where state = 'leased'`.execute(database.query)
    await queue.expireLeases()
  }

  it('is sampled once a minute, and kept for a week', async () => {
    await enqueue('check')
    const old = await enqueue('train')
    await enqueue('train')
    await sql`update jobs set created_at = now() - interval '90 seconds' where id = ${old}`.execute(database.query)
    await Promise.all([sampleQueue(services), sampleQueue(services)])
    await sql`insert into queue_samples select at - age, kind, waiting + 5, leased, oldest_seconds, workers, workers_connected
      from queue_samples, (values (interval '2 days'), (interval '8 days')) ages (age)`.execute(database.query)
    await sampleQueue(services)
    const { points: day } = await readQueueHistory(database.query, 'day')
    expect(day.at(-1)?.kinds).toMatchObject({
      check: { waiting: 1, leased: 0, oldest_seconds: expect.any(Number) },
      evaluate: { waiting: 0, oldest_seconds: 0 },
      train: { waiting: 2 },
    })
    expect(day.at(-1)?.kinds.train.oldest_seconds).toBeGreaterThanOrEqual(90)
    const { points: week } = await readQueueHistory(database.query, 'week')
    expect(week[0].kinds.train.waiting).toBe(7)
    const { rows } = await sql`select from queue_samples where at < now() - interval '7 days'`.execute(database.query)
    expect(rows).toEqual([])
  })

  it('short jobs come before long ones, in any order of kinds', async () => {
    for (const kind of ['train', 'evaluate', 'check'] as const) await enqueue(kind)
    const handlers = (['check', 'evaluate', 'train'] as const).map((kind) =>
      handler(kind, { changed: () => void reported.push(kind) }),
    )
    for (let count = 0; count < 3; count++)
      await leaseJob(services, handlers, { kinds: ['train', 'check', 'evaluate'] })
    expect(reported).toEqual(['check', 'evaluate', 'train'])
    expect(await leaseJob(services, handlers, { kinds: ['train', 'check', 'evaluate'] })).toBeUndefined()
    await enqueue('train')
    expect(await leaseJob(services, handlers, { kinds: ['check', 'evaluate'] })).toBeUndefined()
    expect(await queue.waiting(['check', 'train'])).toEqual(['train'])
  })

  it('a higher priority goes first, then the older job', async () => {
    const last = await enqueue('train', { priority: -3 })
    const second = await enqueue('train')
    const third = await enqueue('train')
    const first = await enqueue('train', { priority: 1 })
    // PGlite's clock is coarse: consecutive rows may have the same time.
    const older = sql`update jobs set created_at = created_at - interval '1 minute' where id = ${second}`
    await older.execute(database.query)
    const order = [await next('train'), await next('train'), await next('train'), await next('train')]
    expect(order.map(({ id }) => id)).toEqual([first, second, third, last])
  })

  it('a job whose subject has ended is completed, and the next one is leased', async () => {
    const over = await enqueue('check', { priority: 1 })
    const open = await enqueue('check')
    const describing = handler('check', {
      describe: async (_query, { id }) =>
        id === over ? undefined : { kind: 'check', traceparent: null, package: tarball },
    })
    expect((await leaseJob(services, [describing], { kinds: ['check'] }))?.id).toBe(open)
    expect(await database.transaction((query) => queue.lock(query, 'check', over))).toBe('over')
  })

  it('counts an attempt if a module fails to describe its job, without blocking others', async () => {
    await enqueue('check')
    const broken = handler('check', {
      describe: async () => {
        throw new Error('a bug')
      },
    })
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      await expect(leaseJob(services, [broken], { kinds: ['check'] })).rejects.toThrow('a bug')
      await silence()
    }
    expect(await leaseJob(services, [broken], { kinds: ['check'] })).toBeUndefined()
    await settleExhausted(services, [broken])
    expect(reported.map((call) => call.split(' ')[0])).toEqual(['exhausted', 'changed'])
  })

  it('a released job waits immediately, and the attempt is not counted', async () => {
    const id = await enqueue('evaluate')
    const handlers = [handler('evaluate')]
    const leases = new Set<string>()
    for (let count = 0; count < maxAttempts + 2; count++) {
      const job = await leaseJob(services, handlers, { kinds: ['evaluate'] })
      if (job === undefined) throw new Error('no job')
      leases.add(job.lease)
      await releaseJob(services, handlers, { id, lease: job.lease, reason: 'SIGTERM', meteredMs: count })
      await expect(releaseJob(services, handlers, { id, lease: job.lease, reason: '' })).rejects.toMatchObject(lost)
    }
    expect(leases.size).toBe(maxAttempts + 2)
    expect(reported.slice(0, 3)).toEqual([`changed ${id}`, `released ${id} SIGTERM 0`, `changed ${id}`])
    // And still there are three.
    for (let count = 0; count < maxAttempts; count++) {
      await next('evaluate')
      await silence()
    }
    expect(await queue.next('evaluate', null)).toBeUndefined()
    reported = []
    await settleExhausted(services, handlers)
    expect(reported).toEqual([`exhausted ${id}`, `changed ${id}`])
  })

  it('training has no attempt limit, and weeks per attempt', async () => {
    await enqueue('train')
    const attempts = new Set<number>()
    for (let count = 0; count < maxAttempts + 3; count++) {
      attempts.add((await next('train')).attempt)
      await silence()
    }
    expect(attempts.size).toBe(maxAttempts + 3)
    const attempt = await next('train')
    await sql`update jobs set leased_at = now() - interval '30 days' where state = 'leased'`.execute(database.query)
    await hold(attempt)
    await queue.expireLeases()
    expect((await hold(attempt)).leasedMs).toBeGreaterThan(29 * 86_400_000)
    await enqueue('check')
    const check = await next('check')
    await sql`update jobs set leased_at = now() - interval '31 minutes' where state = 'leased'`.execute(database.query)
    await hold(check)
    await queue.expireLeases()
    await expect(hold(check)).rejects.toMatchObject(lost)
    await hold(attempt)
  })

  it('a subject has one job at a time; a later one has other leases', async () => {
    const id = await enqueue('train')
    await expect(enqueue('train', {}, id)).rejects.toThrow(/has a job already/)
    await expect(enqueue('train', { attempt: 1 }, id)).rejects.toThrow(/has a job already/)
    const first = await next('train')
    await database.transaction((query) => queue.complete(query, first))
    await enqueue('train', { attempt: first.attempt + 1 }, id)
    await expect(hold(first)).rejects.toMatchObject(lost)
    const second = await next('train')
    expect(second).toMatchObject({ id, attempt: first.attempt + 1 })
    expect(second.lease).not.toBe(first.lease)
    await expect(hold(first)).rejects.toMatchObject(lost)
    await hold(second)
    await silence()
    expect(await next('train')).toMatchObject({ id, attempt: first.attempt + 2 })
  })

  it('a lost job is recreated with its attempts and new leases', async () => {
    const id = await enqueue('check')
    const first = await next('check')
    expect(await queue.recover('check', id)).toBe(false)
    await sql`delete from jobs`.execute(database.query)
    expect(await queue.recover('check', id)).toBe(true)
    expect(await queue.recover('check', id)).toBe(false)
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      expect((await next('check')).id).toBe(id)
      await expect(hold(first)).rejects.toMatchObject(lost)
      await silence()
    }
    expect(await queue.next('check', null)).toBeUndefined()
    // Its end is pending.
    expect(await queue.recover('check', id)).toBe(false)
    await settleExhausted(services, [handler('check')])
    expect(reported).toEqual([`exhausted ${id}`, `changed ${id}`])
  })

  it('writes under a lost lease are rolled back', async () => {
    await enqueue('check')
    const attempt = await next('check')
    await silence()
    const write = database.transaction(async (query) => {
      await sql`insert into upkeep (task, next_at) values ('zombie', now())`.execute(query)
      await queue.hold(query, attempt)
    })
    await expect(write).rejects.toMatchObject(lost)
    await expect(queue.requireActive(attempt)).rejects.toMatchObject(lost)
    const { rows } = await sql`select from upkeep where task = 'zombie'`.execute(database.query)
    expect(rows).toHaveLength(0)
    await queue.requireActive(await next('check'))
  })

  it('ends the lease with the job', async () => {
    const id = await enqueue('train')
    const attempt = await next('train')
    const lock = () => database.transaction((query) => queue.lock(query, 'train', id))
    expect(await lock()).toBe('active')
    await silence()
    expect(await lock()).toBe('waiting')
    await next('train')
    await database.transaction((query) => queue.end(query, 'train', id))
    expect(await lock()).toBe('over')
    await expect(hold(attempt)).rejects.toMatchObject(lost)
    expect(await queue.next('train', null)).toBeUndefined()
    expect(await database.transaction((query) => queue.lock(query, 'train', randomUUID()))).toBeUndefined()
  })

  it('a worker that was started for one run gets its job, and no other', async () => {
    const first = await enqueue('train')
    const wanted = await enqueue('train')
    const handlers = [handler('train')]
    const ask = (run: string) => leaseJob(services, handlers, { kinds: ['train'], run })
    expect(await ask(randomUUID())).toBeUndefined()
    expect((await ask(wanted))?.id).toBe(wanted)
    expect(await ask(wanted)).toBeUndefined()
    expect((await leaseJob(services, handlers, { kinds: ['train'] }))?.id).toBe(first)
  })

  it('counts waiting jobs and jobs per worker, and deletes old workers', async () => {
    const worker: WorkerDescription = {
      id: randomUUID(),
      name: 'box',
      cores: 2,
      memory_bytes: 1,
      gpus: [],
      slots: 2,
      price_minor_per_hour: 0,
      usage: { cpu: null, memory: null, gpu: null },
    }
    for (let count = 0; count < 3; count++) await enqueue('check')
    const handlers = [handler('check')]
    await leaseJob(services, handlers, { kinds: ['check'], worker })
    await leaseJob(services, handlers, { kinds: ['check'] })
    const counts = await queue.counts()
    expect(counts).toHaveLength(3)
    for (const [state, of] of [
      ['waiting', null],
      ['active', worker.id],
      ['active', null],
    ])
      expect(counts).toContainEqual({ kind: 'check', state, worker: of, jobs: 1 })
    const known = () => database.query.selectFrom('workers').select('name').where('id', '=', worker.id).execute()
    await forgetWorkers(database.query)
    expect(await known()).toEqual([{ name: 'box' }])
    await sql`update workers set seen_at = now() - interval '2 days'`.execute(database.query)
    await forgetWorkers(database.query)
    expect(await known()).toEqual([])
  })
})
