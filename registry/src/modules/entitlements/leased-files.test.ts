import { randomUUID } from 'node:crypto'
import { startRunRequestSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { leaseJob } from '../jobs/lease-jobs.ts'
import { checkJobs } from '../packages/check-jobs.ts'
import { upload } from '../packages/testing/publishing.ts'
import { finishRun } from '../runs/finish-run.ts'
import { submitRun } from '../runs/submit-run.ts'
import { trainJobs } from '../runs/train-jobs.ts'
import { type Cast, type MarketServer, openCast, sell, startMarketServer } from './testing/market-server.ts'

/** Files that no user can download are served to workers for the duration of their lease. */
describeOnEngines('files of a leased job on $kind', ({ open }) => {
  let database: Database
  let server: MarketServer
  let cast: Cast

  beforeAll(async () => {
    database = await open()
    server = await startMarketServer(database)
    cast = await openCast(database)
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const get = async (url: string, lease = '') => {
    const headers = { 'agentgym-lease': lease }
    return (await server.call('GET', url.slice(server.url.length), { headers })).status
  }

  it('a hosted-only scenario is served to the run’s worker until the run ends', async () => {
    const { services } = server
    const name = await sell(services, cast.seller, 'hosted', { kind: 'per_run', amount_minor: 200 })
    const request = startRunRequestSchema.parse({ scenario: name, expected_price: { amount_minor: 200 } })
    const requested = { actor: cast.buyer, traceparent: null, ip: null }
    const run = await submitRun(services, { ...requested, request, idempotencyKey: randomUUID() })
    const job = await leaseJob(services, [trainJobs(services)], { kinds: ['train'] })
    if (job?.kind !== 'train') throw new Error('there is no run to lease')
    expect(job.id).toBe(run.id)
    const url = job.run.scenario.tarball_url
    expect(await get(url, job.lease)).toBe(200)
    // The lease is for this job: of another one it opens nothing.
    expect(await get(url.replace(job.id, randomUUID()), job.lease)).toBe(409)
    expect(await get(url.replace('/scenario', '/tarball'), job.lease)).toBe(409)
    const attempt = services.queue.attemptOf('train', job.id, job.lease)
    const error = { code: 'scenario_threw' as const, message: 'It threw.' }
    await finishRun(services, attempt, { outcome: { state: 'failed', error }, meteredMs: 0 })
    expect(await get(url, job.lease)).toBe(409)
  })

  it('a version being checked is served to its worker, whatever the price and state of its package', async () => {
    const { services } = server
    const name = await sell(services, cast.seller, 'paid', { kind: 'one_time', amount_minor: 200 })
    await upload(services, cast.seller, '1.1.0', { base: 'paid' })
    await database.query
      .updateTable('packages')
      .set({ taken_down_at: new Date(), taken_down_for_all: true })
      .where('name', '=', name)
      .execute()
    const job = await leaseJob(services, [checkJobs(services)], { kinds: ['check'] })
    if (job?.kind !== 'check') throw new Error('there is no check to lease')
    expect(job.package).toMatchObject({ name, version: '1.1.0' })
    expect(await get(job.package.tarball_url, job.lease)).toBe(200)
    expect(await get(`${server.url}/npm/${name}/-/paid-1.1.0.tgz`)).toBe(410)
  })
})
