import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import type { Attempt } from '../../core/queue/job-handler.ts'
import type { JobQueue } from '../../core/queue/job-queue.ts'
import { settleExhausted } from '../jobs/jobs.tasks.ts'
import { checkJobs, finishCheck, openLeasedTarball } from './check-jobs.ts'
import { enqueueLostChecks } from './packages.tasks.ts'
import { checkAll, createActor, leaseCheck, upload } from './testing/publishing.ts'

describeOnEngines('jobs of checks on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let queue: JobQueue
  let ada: Actor

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    queue = services.queue
  })
  beforeEach(async () => {
    ada = await createActor(database)
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  const lease = async () => {
    const job = await leaseCheck(services)
    if (job === undefined) throw new Error('no job')
    const { name, version } = job.package
    const report = { ok: true, name, version, checks: [{ id: 'loads', ok: true, message: 'It loads.' }] }
    const attempt = () => queue.attemptOf('check', job.id, job.lease)
    return { job, report, attempt, finish: () => finishCheck(services, attempt(), report) }
  }
  const hold = (attempt: Attempt) => database.transaction((query) => queue.hold(query, attempt))
  /** As if no worker had responded for two minutes. */
  const silence = async () => {
    await database.execute(`update jobs set leased_until = now() - interval '1 minute' where state = 'leased'`)
    await queue.expireLeases()
  }
  const stateOf = async (id: string) =>
    database.query.selectFrom('versions').select(['state', 'checks']).where('id', '=', id).executeTakeFirstOrThrow()

  it('an upload is leased once, and published by its report', async () => {
    await upload(services, ada, '1.0.0')
    const { job, attempt, finish } = await lease()
    expect(job).toMatchObject({ kind: 'check', package: { name: `@${ada.username}/maze`, version: '1.0.0' } })
    expect(await leaseCheck(services)).toBeUndefined()
    expect((await hold(attempt())).leasedMs).toBeGreaterThanOrEqual(0)
    expect(await finish()).toBe('published')
    expect(await stateOf(job.id)).toMatchObject({ state: 'published', checks: [{ id: 'loads', ok: true }] })
    await expect(finish()).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(hold(attempt())).rejects.toMatchObject({ code: 'lease_lost' })
  })

  it('a report with a failed check rejects, whatever its overall result', async () => {
    await upload(services, ada, '1.0.0')
    const { job, report, attempt } = await lease()
    const checks = [...report.checks, { id: 'speed', ok: false, message: 'Too slow.' }]
    expect(await finishCheck(services, attempt(), { ...report, checks })).toBe('rejected')
    expect((await stateOf(job.id)).checks).toEqual(checks)
  })

  it('names the published version that a patch follows, and no other', async () => {
    for (const version of ['1.0.0', '1.0.3', '1.1.0', '1.0.4-rc.1', '2.0.0']) {
      await upload(services, ada, version)
      await (await lease()).finish()
    }
    const previousOf = async (version: string) => {
      await upload(services, ada, version)
      const { job, finish } = await lease()
      await finish()
      return job.previous
    }
    expect(await previousOf('1.0.5')).toMatchObject({
      version: '1.0.3',
      tarball_url: expect.stringMatching(/\/previous$/),
    })
    expect(await previousOf('1.2.0')).toBeNull()
    expect(await previousOf('1.0.1')).toMatchObject({ version: '1.0.0' })
  })

  it('a report about another version changes nothing', async () => {
    await upload(services, ada, '1.0.0')
    const { job, report, attempt, finish } = await lease()
    await expect(finishCheck(services, attempt(), { ...report, version: '9.9.9' })).rejects.toMatchObject({
      code: 'request_invalid',
    })
    expect((await stateOf(job.id)).state).toBe('checking')
    expect(await finish()).toBe('published')
  })

  it('refuses the worker that lost its lease, not the one that holds it (B39)', async () => {
    await upload(services, ada, '1.0.0')
    const first = await lease()
    await silence()
    const second = await lease()
    expect(second.job.id).toBe(first.job.id)
    expect(second.job.lease).not.toBe(first.job.lease)
    await expect(first.finish()).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(hold(first.attempt())).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(openLeasedTarball(services, first.job.id, first.job.lease)).rejects.toMatchObject({
      code: 'lease_lost',
    })
    expect((await stateOf(first.job.id)).state).toBe('checking')
    expect(await second.finish()).toBe('published')
  })

  it('of two concurrent results one counts', async () => {
    await upload(services, ada, '1.0.0')
    const { finish } = await lease()
    const results = await Promise.allSettled([finish(), finish(), finish()])
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('concurrent workers never lease a version twice', async () => {
    await Promise.all(Array.from({ length: 6 }, (_, index) => upload(services, ada, `1.0.${index}`)))
    const jobs = await Promise.all(Array.from({ length: 10 }, () => leaseCheck(services)))
    const ids = jobs.flatMap((job) => (job === undefined ? [] : [job.id]))
    expect(ids).toHaveLength(6)
    expect(new Set(ids).size).toBe(6)
    await silence()
    expect(await checkAll(services)).toHaveLength(6)
  })

  it('a check without a result is rejected after three attempts', async () => {
    await upload(services, ada, '1.0.0')
    let id = ''
    for (let attempt = 0; attempt < 3; attempt++) {
      id = (await lease()).job.id
      await silence()
    }
    expect(await leaseCheck(services)).toBeUndefined()
    expect((await stateOf(id)).state).toBe('checking')
    await settleExhausted(services, [checkJobs(services)])
    expect(await stateOf(id)).toMatchObject({ state: 'rejected', checks: [{ id: 'checker_failed', ok: false }] })
    await settleExhausted(services, [checkJobs(services)])
  })

  it('a forged lease gives no access', async () => {
    await upload(services, ada, '1.0.0')
    const { job, finish } = await lease()
    const [kind, count, worker, mac] = job.lease.split('.')
    const reported = [
      ['train', count, worker, mac],
      [kind, '1', worker, mac],
      [kind, count, crypto.randomUUID(), mac],
    ]
    const forgeries = [
      '',
      '0',
      '0.',
      job.lease.slice(0, -2),
      `1${job.lease}`,
      ...reported.map((parts) => parts.join('.')),
    ]
    for (const forged of forgeries)
      expect(() => queue.anyAttemptOf(job.id, forged)).toThrowError(expect.objectContaining({ code: 'lease_lost' }))
    for (const attempt of [
      () => queue.attemptOf('check', crypto.randomUUID(), job.lease),
      () => queue.attemptOf('train', job.id, job.lease),
    ])
      expect(attempt).toThrowError(expect.objectContaining({ code: 'lease_lost' }))
    await finish()
  })

  it('a lease gives the uploaded tarball', async () => {
    const { integrity } = await upload(services, ada, '1.0.0')
    const { job, finish } = await lease()
    expect(job.package.integrity).toBe(integrity)
    const url = new URL(job.package.tarball_url)
    expect(url.pathname).toBe(`/v1/jobs/${job.id}/tarball`)
    const { body, size } = await openLeasedTarball(services, job.id, job.lease)
    expect((await body.toArray()).reduce((sum: number, piece: Buffer) => sum + piece.length, 0)).toBe(size)
    await finish()
  })

  it('a lost job is recreated, and never twice', async () => {
    await upload(services, ada, '1.0.0')
    await enqueueLostChecks(services)
    await database.execute(`delete from jobs where state = 'waiting'`)
    await enqueueLostChecks(services)
    await enqueueLostChecks(services)
    expect(await checkAll(services)).toHaveLength(1)
  })
})
