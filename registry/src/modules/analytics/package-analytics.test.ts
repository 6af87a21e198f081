import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { refundOrder } from '../orders/refunds.ts'
import { buy, type Listed, openShop, type Shop } from '../orders/testing/marketplace.ts'
import { UsageCounter } from '../packages/package-usage.ts'
import { analyticsCsv, packageAnalytics } from './package-analytics.ts'

describeOnEngines('analytics of a package on $kind', ({ open }) => {
  let database: Database
  let shop: Shop
  let agent: Listed
  beforeAll(async () => {
    database = await open()
    shop = await openShop(database)
    agent = await shop.list({ kind: 'one_time', amountMinor: 1_000 }, { kind: 'agent', scenario: shop.scenario })
  })
  afterAll(() => shop.close())

  const today = new Date().toISOString().slice(0, 10)
  const analytics = (days = 30, actor = shop.seller) =>
    packageAnalytics(shop.services, actor, { name: agent.name, days })

  it('has views, trials, sales and refunds by day, version and source', async () => {
    const { services } = shop
    const view = { kind: 'view', name: agent.name, version: '1.0.0', accountId: null } as const
    const client = (host: number) => ({ ip: `203.0.113.${host}`, userAgent: 'Mozilla/5.0' })
    services.usage.record({ ...view, source: 'search', client: client(1) })
    services.usage.record({ ...view, source: 'search', client: client(2) })
    services.usage.record({ ...view, source: 'link', client: client(3) })
    const buyer = await shop.buyer(5_000)
    // On another replica, which then ends.
    const elsewhere = new UsageCounter(services)
    elsewhere.record({ ...view, source: 'search', client: client(4), accountId: buyer.accountId })
    elsewhere.record({ ...view, source: 'browse', client: client(5), accountId: buyer.accountId })
    await Promise.all([elsewhere.flush(), services.usage.flush()])
    const { order } = await buy(services, buyer, agent)
    const other = await buy(services, await shop.buyer(5_000), agent)
    await refundOrder(services, {
      ...{ actor: buyer, id: order.id, ip: null, idempotencyKey: randomUUID() },
      request: { reason: 'not what I need' },
    })
    expect(other.order.state).toBe('paid')
    const none = { trials: 0, sales: 0, refunds: 0 }
    const row = { day: today, version: '1.0.0' }
    expect(await analytics()).toMatchObject({
      ...{ name: agent.name, to: today, retention_days: 400 },
      rows: [
        { ...row, source: 'browse', views: 1, trials: 0, sales: 1, refunds: 1 },
        { ...row, source: 'link', views: 1, ...none },
        { ...row, source: 'other', views: 0, trials: 0, sales: 1, refunds: 0 },
        { ...row, source: 'search', views: 3, ...none },
      ],
    })
    let csv = ''
    for await (const line of analyticsCsv(await analytics())) csv += line
    expect(csv.split('\r\n').slice(0, 2)).toEqual([
      'day,version,source,views,trials,sales,refunds',
      `"${today}",1.0.0,browse,1,0,1,1`,
    ])
  })

  it('starts on the first day asked for', async () => {
    const now = new Date(Date.now() + 3 * 86_400_000)
    const request = { name: agent.name, days: 3 }
    expect((await packageAnalytics(shop.services, shop.seller, request, now)).rows).toEqual([])
    const longer = { ...request, days: 4 }
    expect((await packageAnalytics(shop.services, shop.seller, longer, now)).rows).toHaveLength(4)
  })

  it('are for admins of its account only', async () => {
    await expect(analytics(30, await shop.buyer(0))).rejects.toMatchObject({ code: 'forbidden' })
    const request = { name: agent.name, days: 30 }
    await expect(packageAnalytics(shop.services, null, request)).rejects.toMatchObject({ code: 'unauthenticated' })
  })
})
