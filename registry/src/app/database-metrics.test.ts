import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Database } from '../core/database/database.ts'
import { insertRun } from '../modules/runs/exports/testing/insert-run.ts'
import { databaseValues } from './metrics.routes.ts'
import { endedRuns } from './run-counts.ts'
import { sampled, scrape } from './testing/scrape.ts'

const apps: ServedApp[] = []
const serveWith = async (database: Database) => {
  const app = await serveApp(database, [])
  // As the server does before it answers anything.
  app.services.queue
  apps.push(app)
  return app
}
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()))
})

describeOnEngines('/metrics on $kind', ({ open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  afterAll(async () => {
    await database.close()
  })

  it('an empty service has every metric family at zero', async () => {
    const families = await scrape((await serveWith(database)).url)
    expect(sampled(families, 'db_up')).toBe(1)
    for (const name of ['active', 'completed_total', 'failed_total', 'cancelled_total'])
      expect(sampled(families, `training_jobs_${name}`)).toBe(0)
    for (const kind of ['check', 'evaluate', 'train']) {
      expect(sampled(families, 'queue_length', { kind })).toBe(0)
      expect(sampled(families, 'queue_leased', { kind })).toBe(0)
    }
    expect(sampled(families, 'workers_connected')).toBe(0)
    for (const name of ['open', 'cents_per_hour', 'cents_per_day']) expect(sampled(families, `rentals_${name}`)).toBe(0)
    expect(sampled(families, 'db_connections_active')).toBeGreaterThanOrEqual(0)
    expect(sampled(families, 'process_resident_memory_bytes')).toBeGreaterThan(2 ** 20)
    expect(families.get('training_iteration_duration_seconds')?.type).toBe('histogram')
    for (const [name, { help, type }] of families) {
      expect(help, name).not.toBe('')
      // Node's own are named by the library.
      if (!name.startsWith('nodejs_')) expect(name.endsWith('_total'), name).toBe(type === 'counter')
    }
  })

  it('counts runs in the database, so that every replica says the same, before and after a restart', async () => {
    const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000)
    const startedAt = at(0)
    await insertRun(database)
    await insertRun(database, { state: 'running', startedAt })
    await insertRun(database, { state: 'running', startedAt })
    for (const seconds of [5, 45, 4_000.5])
      await insertRun(database, { state: 'completed', startedAt, endedAt: at(seconds) })
    await insertRun(database, { state: 'failed', startedAt, endedAt: at(30) })
    await insertRun(database, { state: 'failed', startedAt, endedAt: at(10 ** 7) })
    // Cancelled before it began: it took no time at all.
    await insertRun(database, { state: 'cancelled', endedAt: at(3) })
    await insertRun(database, { state: 'budget_exceeded', startedAt, endedAt: at(3) })

    const first = await serveWith(database)
    const second = await serveWith(database)
    for (const app of [first, second]) {
      const families = await scrape(app.url)
      expect(sampled(families, 'training_jobs_active')).toBe(2)
      expect(sampled(families, 'training_jobs_completed_total')).toBe(3)
      expect(sampled(families, 'training_jobs_failed_total')).toBe(2)
      expect(sampled(families, 'training_jobs_cancelled_total')).toBe(1)
      const name = 'training_job_duration_seconds'
      const completed = (le: string) => sampled(families, `${name}_bucket`, { state: 'completed', le })
      expect([completed('10'), completed('30'), completed('60'), completed('3600'), completed('10800')]).toEqual([
        1, 1, 2, 2, 3,
      ])
      expect(sampled(families, `${name}_sum`, { state: 'completed' })).toBe(4_050.5)
      expect(sampled(families, `${name}_count`, { state: 'completed' })).toBe(3)
      // Bounds are inclusive; larger values are in the last bucket.
      expect(sampled(families, `${name}_bucket`, { state: 'failed', le: '30' })).toBe(1)
      expect(sampled(families, `${name}_bucket`, { state: 'failed', le: '259200' })).toBe(1)
      expect(sampled(families, `${name}_bucket`, { state: 'failed', le: '+Inf' })).toBe(2)
      expect(sampled(families, `${name}_count`, { state: 'cancelled' })).toBe(0)
    }
  })

  it('reports the queue length by kind', async () => {
    const app = await serveWith(database)
    const queue = app.services.queue
    await database.transaction(async (query) => {
      for (let job = 0; job < 3; job++) await queue.enqueue(query, 'train', randomUUID())
      await queue.enqueue(query, 'check', randomUUID())
    })
    await queue.next('train', null)
    const families = await scrape(app.url)
    expect(sampled(families, 'queue_length', { kind: 'train' })).toBe(2)
    expect(sampled(families, 'queue_leased', { kind: 'train' })).toBe(1)
    expect(sampled(families, 'queue_length', { kind: 'check' })).toBe(1)
    expect(sampled(families, 'queue_length', { kind: 'evaluate' })).toBe(0)
  })

  it('shows workers by name, escaped and limited in number', async () => {
    const worker = (name: string, usage: Record<string, number | null>, secondsAgo = 0) => ({
      id: randomUUID(),
      name,
      description: '{}',
      usage: JSON.stringify(usage),
      seen_at: new Date(Date.now() - secondsAgo * 1_000),
    })
    const insert = (...workers: ReturnType<typeof worker>[]) =>
      database.query.insertInto('workers').values(workers).execute()
    await insert(
      worker('a "quoted"} 1\nqueue_length{kind="train"} 999', { cpu: 0.5, memory: 0.25, gpu: null }),
      worker('back\\slash', { cpu: 0.125, memory: null, gpu: 0.75, gpu_memory: 0.5 }),
      worker('twice', { cpu: 0.25, memory: 0.5, gpu: null }),
      worker('twice', { cpu: 0.75, memory: 0.25, gpu: null }),
      worker('gone', { cpu: 1, memory: 1, gpu: 1 }, 600),
    )
    const families = await scrape((await serveWith(database)).url)
    const usage = (share: string) =>
      Object.fromEntries(
        families.get(`worker_${share}_usage`)?.samples.map(({ labels, value }) => [labels.worker, value]) ?? [],
      )
    const hostile = 'a ?quoted?? 1?queue_length?kind??train?? 999'
    expect(usage('cpu')).toEqual({ [hostile]: 0.5, 'back?slash': 0.125, twice: 0.75 })
    expect(usage('memory')).toEqual({ [hostile]: 0.25, twice: 0.5 })
    expect(usage('gpu')).toEqual({ 'back?slash': 0.75 })
    expect(usage('gpu_memory')).toEqual({ 'back?slash': 0.5 })
    expect(sampled(families, 'workers_connected')).toBe(4)

    const many = Array.from({ length: 300 }, (_, index) => `worker-${String(index).padStart(3, '0')}`)
    await insert(...many.map((name) => worker(name, { cpu: 0.1, memory: 0.1, gpu: 0.1 })))
    // Names that differ in what is not shown become one series, not two with the same labels.
    await insert(worker('back/slash', { cpu: 0.9, memory: null, gpu: null }))
    const crowded = await scrape((await serveWith(database)).url)
    expect(crowded.get('worker_cpu_usage')?.samples.length).toBeLessThanOrEqual(200)
    expect(sampled(crowded, 'worker_cpu_usage', { worker: 'back?slash' })).toBe(0.9)
    expect(sampled(crowded, 'workers_connected')).toBe(305)
  })

  it('reads the database once for concurrent scrapes, and again later', async () => {
    const app = await serveWith(database)
    const read = databaseValues(app.services)
    expect(new Set(Array.from({ length: 20 }, read)).size).toBe(1)
    const answers = await Promise.all(Array.from({ length: 20 }, () => scrape(app.url)))
    for (const families of answers) expect(sampled(families, 'training_jobs_completed_total')).toBe(3)
    const now = new Date()
    await insertRun(database, { state: 'completed', startedAt: now, endedAt: now })
    await expect.poll(async () => (await read()).ended.completed.runs, { timeout: 60_000 }).toBe(4)
    await expect
      .poll(async () => sampled(await scrape(app.url), 'training_jobs_completed_total'), { timeout: 60_000 })
      .toBe(4)
  })

  it('counts each ended run once, whenever it ended', async () => {
    const longAgo = new Date(Date.now() - 3_600_000)
    await insertRun(database, { state: 'failed', startedAt: longAgo, endedAt: longAgo })
    const count = endedRuns(database)
    const first = await count()
    expect(await count()).toEqual(first)
    const now = new Date()
    await insertRun(database, { state: 'failed', startedAt: now, endedAt: now })
    for (let again = 0; again < 2; again++) expect((await count()).failed.runs).toBe(first.failed.runs + 1)
    expect(await endedRuns(database)()).toEqual(await count())
  })

  it('retries after a failure', async () => {
    const app = await serveWith(database)
    let broken = true
    const services = { ...app.services, database: { ...database } }
    Object.defineProperty(services.database, 'query', {
      get: () => {
        if (broken) throw new Error('connection refused')
        return database.query
      },
    })
    const read = databaseValues(services)
    await expect(read()).rejects.toThrow('connection refused')
    broken = false
    await expect.poll(async () => (await read()).runsActive, { timeout: 60_000 }).toBe(2)
  })
})
