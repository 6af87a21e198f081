import { randomUUID } from 'node:crypto'
import { startRunRequestSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { leaseJob } from '../jobs/lease-jobs.ts'
import { buy } from '../orders/testing/marketplace.ts'
import { checkJobs } from '../packages/check-jobs.ts'
import { CodeReader } from '../packages/files/code-reader.ts'
import { compareVersions, describeFiles, openFiles, readFile, viewFile } from '../packages/files/read-files.ts'
import { upload } from '../packages/testing/publishing.ts'
import { finishRun } from '../runs/finish-run.ts'
import { submitRun } from '../runs/submit-run.ts'
import { trainJobs } from '../runs/train-jobs.ts'
import { type Cast, type MarketServer, openCast, sell, startMarketServer } from './testing/market-server.ts'

/** Who reads the files of packages that are sold: buyers on the site, and workers for the duration of their lease. */
describeOnEngines('files of a package that is sold on $kind', ({ open }) => {
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

  it('are shown to members and to buyers, who confirm that this uses their license', async () => {
    const services = { ...server.services, code: new CodeReader() }
    const name = await sell(services, cast.seller, 'shown', { kind: 'one_time', amount_minor: 200 })
    const version = '1.0.0'
    const source = { name, version, path: 'src/index.ts' }
    expect((await readFile(services, cast.seller, source)).file.text).toBe('export default {}\n')
    for (const reader of [null, cast.other, cast.buyer]) {
      await expect(viewFile(services, reader, source)).rejects.toMatchObject({ code: 'payment_required' })
      await expect(openFiles(services, reader, source)).rejects.toMatchObject({ code: 'payment_required' })
      const { files, refused } = await describeFiles(services, reader, source)
      expect(refused).toMatchObject({ code: 'payment_required' })
      const readable = files.filter((file) => file.readable).map(({ path }) => path)
      expect(readable).toEqual(['README.md', 'package.json'])
      expect((await readFile(services, reader, { ...source, path: 'README.md' })).file.text).toContain('# Maze')
      const compared = await compareVersions(services, reader, { name, version, base: version })
      expect(compared).toMatchObject({ refused: { code: 'payment_required' }, files: [] })
    }
    await buy(services, cast.buyer, { name })
    // Reading never uses the license by itself: links of other sites could end the right to a refund.
    await expect(readFile(services, cast.buyer, source)).rejects.toMatchObject({ code: 'license_unused' })
    await expect(readFile(services, cast.buyer, source)).rejects.toMatchObject({ code: 'license_unused' })
    await openFiles(services, cast.buyer, source)
    expect((await viewFile(services, cast.buyer, source)).html).toContain('<span class="tok-keyword">export</span>')
    await expect(readFile(services, cast.other, source)).rejects.toMatchObject({ code: 'payment_required' })
    await services.code.close()
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
