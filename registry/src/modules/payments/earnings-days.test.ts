import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listPackage } from '../orders/testing/marketplace.ts'
import { openStripeMarket, type StripeMarket, type Trader } from './testing/payments-server.ts'

type Day = { day: string; orders: number; sales_minor: number; net_minor: number }

describeOnEngines('earnings day by day on $kind', ({ open }) => {
  let market: StripeMarket
  let seller: Trader
  beforeAll(async () => {
    market = await openStripeMarket(await open(), { payoutHoldDays: 0 })
    seller = await market.trader()
  })
  afterAll(() => market.close())

  const daysOf = async (of: Trader, query = ''): Promise<Day[]> =>
    (await market.server.call('GET', `/v1/earnings/days${query}`, of.token)).body.days as Day[]

  it('contains every day, with sales and refunds on their own days', async () => {
    const { accountId: ownerId, username: owner } = seller.actor
    const agent = await listPackage(market.database, {
      ...{ ownerId, owner, kind: 'agent', price: { kind: 'one_time', amountMinor: 2_000 } },
    })
    const sell = async () => {
      const buyer = await market.trader()
      await market.paid(buyer, 2_000)
      return (await market.buy(buyer, agent, 'balance')).id
    }
    const [first, second, third] = [await sell(), await sell(), await sell()]
    const ago = (id: string, days: number) =>
      market.database.query
        .updateTable('orders')
        .set({ paid_at: new Date(Date.now() - days * 86_400_000) })
        .where('id', '=', id)
        .execute()
    await ago(first, 3)
    await ago(second, 40)
    await market.server.call('POST', `/v1/orders/${first}/refunds`, seller.token, {
      json: { amount_minor: 1_000, reason: 'asked' },
    })
    const days = await daysOf(seller)
    const [today] = days.slice(-1)
    expect(days).toHaveLength(30)
    expect(days.map(({ day }) => day)).toEqual([...days.map(({ day }) => day)].sort())
    expect(today).toEqual({ day: today.day, orders: 1, sales_minor: 2_000, net_minor: 1_800 - 900 })
    expect(days.at(-4)).toMatchObject({ orders: 1, sales_minor: 2_000, net_minor: 1_800 })
    const others = days.filter((_, index) => index !== 29 && index !== 26)
    expect(others.every(({ orders, sales_minor, net_minor }) => orders + sales_minor + net_minor === 0)).toBe(true)
    expect((await daysOf(seller, '?days=60')).reduce((sum, { orders }) => sum + orders, 0)).toBe(3)
    expect(third).not.toBe(first)
  })

  it('ignores payouts', async () => {
    await market.server.call('PUT', '/v1/payout-destination', seller.token, { json: {} })
    const account = String(market.stripe.books.all('account').at(-1)?.id)
    await market.tell(market.stripe.books.completeOnboarding(account, `bank-${account}`))
    const before = await daysOf(seller)
    const { status } = await market.server.call('POST', '/v1/payouts', seller.token, { json: { amount_minor: 500 } })
    expect(status).toBe(201)
    expect(await daysOf(seller)).toEqual(before)
  })

  it('shows accounts only their own', async () => {
    const other = await market.trader()
    const days = await daysOf(other, '?days=2')
    expect(days.map(({ orders }) => orders)).toEqual([0, 0])
    const { status, code } = await market.server.call(
      'GET',
      `/v1/earnings/days?account=${seller.actor.username}`,
      other.token,
    )
    expect([status, code]).toEqual([403, 'forbidden'])
    for (const days of ['0', '367', '1.5', 'x'])
      expect((await market.server.call('GET', `/v1/earnings/days?days=${days}`, seller.token)).status).toBe(422)
  })
})
