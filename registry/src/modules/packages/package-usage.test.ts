import { describeOnEngines } from '@agentgym/testkit/databases'
import { testServices } from '@agentgym/testkit/services'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { isForPlay, isPerson, sourceOf } from '../../core/http/page-views.ts'
import { deleteOldArrivals, sourceOfArrival } from './arrivals.ts'
import { deleteOldUsage, type Usage, UsageCounter } from './package-usage.ts'
import { createActor, publish } from './testing/publishing.ts'

describeOnEngines('counts of use on $kind', ({ open }) => {
  let database: Database
  let services: Awaited<ReturnType<typeof testServices>>
  let ada: Actor
  let name: string
  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    ada = await createActor(database)
    name = `@${ada.username}/maze`
    await publish(services, ada, '1.0.0')
  })
  afterAll(async () => {
    await services.remove()
    await database.close()
  })

  const client = { ip: '203.0.113.7', userAgent: 'Mozilla/5.0' }
  const view = (more: Partial<Usage> = {}): Usage => ({
    ...{ kind: 'view', name, version: null, source: 'search', client, accountId: null },
    ...more,
  })
  const days = async () =>
    (
      await sql`select version, source, views::int, plays::int from package_days order by version, source`.execute(
        database.query,
      )
    ).rows
  const uses = () =>
    database.query.selectFrom('packages').select(['trainings', 'plays']).where('name', '=', name).executeTakeFirst()

  it('are one row a day, version and source; clients count once, members and unknown packages never', async () => {
    const usage = new UsageCounter(services)
    const other = { ...client, ip: '203.0.113.8' }
    for (const one of [view(), view(), view({ client: other }), view({ client: other, version: '1.0.0' })])
      usage.record(one)
    usage.record(view({ client: other, source: 'link', kind: 'play' }))
    usage.record(view({ client: { ...client, ip: '203.0.113.9' }, accountId: ada.accountId }))
    usage.record(view({ name: '@nobody/nothing' }))
    usage.record(view({ client: { ...client, ip: '203.0.113.10' }, version: '9.9.9' }))
    for (let run = 0; run < 3; run++) usage.record(view({ kind: 'training', source: 'other', client: null }))
    await usage.flush()
    expect(await days()).toEqual([
      { version: '1.0.0', source: 'link', views: 0, plays: 1 },
      { version: '1.0.0', source: 'search', views: 3, plays: 0 },
    ])
    expect(await uses()).toEqual({ trainings: 3, plays: 1 })
    usage.record(view({ client: { ...client, ip: '203.0.113.11' } }))
    await usage.flush()
    expect((await days())[1]).toMatchObject({ views: 4 })
  })

  it('leave the source of the last arrival of an account for a day, for orders on any replica', async () => {
    const buyer = await createActor(database)
    const { id: packageId } = await database.query
      .selectFrom('packages')
      .select('id')
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    const source = () => sourceOfArrival(database.query, { accountId: buyer.accountId, packageId })
    const usage = new UsageCounter(services)
    for (const from of ['search', 'link', 'browse'] as const)
      usage.record(view({ source: from, accountId: buyer.accountId }))
    await usage.flush()
    expect(await source()).toBe('browse')
    await sql`update arrivals set at = at - interval '25 hours'`.execute(database.query)
    expect(await source()).toBe(null)
    await deleteOldArrivals(database.query)
    expect(await database.query.selectFrom('arrivals').select('at').execute()).toEqual([])
    usage.record(view({ source: 'command', accountId: buyer.accountId }))
    await usage.flush()
    expect(await source()).toBe('command')
  })

  it('are deleted after 400 days; the sums of plays and trainings stay', async () => {
    await sql`update package_days set day = day - 401 where source = 'link'`.execute(database.query)
    await deleteOldUsage(database.query)
    expect(await days()).toHaveLength(1)
    expect(await uses()).toEqual({ trainings: 3, plays: 1 })
  })
})

describe('a request', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
  const of = (headers: Record<string, string>) => (name: string) => headers[name]

  it.each([
    [{ 'user-agent': chrome }, true],
    [{ 'user-agent': chrome, 'sec-purpose': 'prefetch;prerender' }, false],
    [{ 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }, false],
    [{ 'user-agent': chrome.replace('Chrome', 'HeadlessChrome') }, false],
    [{ 'user-agent': 'curl/8.9.1' }, false],
    [{}, false],
  ])('is of a person: %j %s', (headers, expected) => {
    expect(isPerson(of(headers as Record<string, string>))).toBe(expected)
  })

  it.each([
    [undefined, 'link'],
    ['https://news.example/item', 'link'],
    ['https://gym.example/packages?q=pole', 'search'],
    ['https://gym.example/packages?kind=agent', 'browse'],
    ['https://gym.example/packages/@acme/maze-two', 'browse'],
    ['https://gym.example/packages/@acme/maze/files', null],
    ['no address', 'link'],
  ])('comes from %j: %j', (referrer, source) => {
    expect(sourceOf(referrer, 'https://gym.example', '@acme/maze')).toBe(source)
  })

  it('for a file is a play if a play page makes it', () => {
    const headers = { 'user-agent': chrome, referer: 'https://gym.example/packages/@acme/maze/play' }
    expect(isForPlay(of(headers), 'https://gym.example')).toBe(true)
    expect(
      isForPlay(of({ ...headers, referer: 'https://evil.example/packages/@acme/maze/play' }), 'https://gym.example'),
    ).toBe(false)
    expect(isForPlay(of({ ...headers, 'user-agent': 'npm/11' }), 'https://gym.example')).toBe(false)
  })
})
