import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { backgroundSettled } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import { openAccounts } from '../ledger/accounts.ts'
import { mustTransfer } from '../orders/sale.ts'
import type { Listed } from '../orders/testing/marketplace.ts'
import { expireOrders } from '../orders/unpaid-orders.ts'
import { askPayments } from './payments.tasks.ts'
import { openStripeMarket, type StripeMarket, type Trader } from './testing/payments-server.ts'

/** A tenth is the platform's. */
const price = 2_000
const sellers = 1_800

describeOnEngines('orders paid at Stripe on $kind', ({ open }) => {
  let market: StripeMarket
  let seller: Trader
  let buyer: Trader
  let listed: Listed

  beforeAll(async () => {
    market = await openStripeMarket(await open())
  })
  afterEach(() => market.audit())
  afterAll(() => market.close())

  const trade = async () => {
    seller = await market.trader()
    buyer = await market.trader()
    listed = await market.listing(seller, price)
  }
  const stateOf = (id: string) => market.stateOf(buyer, `/v1/orders/${id}`)
  const isEntitled = async () => {
    const { body } = await market.server.call('GET', '/v1/entitlements', buyer.token)
    return (body.entitlements as unknown[]).length === 1
  }
  const expire = (id: string) =>
    sql`update orders set expires_at = now() - interval '1 second' where id = ${id}`.execute(market.database.query)
  const mails = async () => {
    await backgroundSettled()
    const sent = await market.server.services.mail.sent()
    return sent.filter(({ to }) => to.startsWith(buyer.actor.username)).map(({ text }) => text)
  }

  it('an order is fulfilled when Stripe confirms the payment, even repeatedly', async () => {
    await trade()
    const order = await market.buy(buyer, listed, 'provider')
    expect(await stateOf(order.id)).toBe('awaiting_payment')
    expect(await isEntitled()).toBe(false)
    const again = await market.buy(buyer, listed, 'provider')
    expect(again).toEqual(order)
    const event = market.stripe.books.pay(order.session)
    for (const status of await Promise.all(Array.from({ length: 10 }, () => market.tell(event))))
      expect(status).toBe(200)
    expect(await stateOf(order.id)).toBe('paid')
    expect(await isEntitled()).toBe(true)
    expect(await seller.has()).toMatchObject({ earnings: sellers })
    expect(await buyer.balance()).toBe(0)
  })

  it('a payment after the order has expired goes to the buyer’s balance, with a notice', async () => {
    await trade()
    const order = await market.buy(buyer, listed, 'provider')
    await expire(order.id)
    await expireOrders(market.server.services)
    await market.tell(market.stripe.books.pay(order.session))
    expect(await stateOf(order.id)).toBe('expired')
    expect(await isEntitled()).toBe(false)
    expect(await buyer.balance()).toBe(price)
    expect(await seller.has()).not.toMatchObject({ earnings: sellers })
    expect(await mails()).toEqual([expect.stringMatching(/\$20\.00 was credited to your balance/)])
    const { payments } = (await market.server.call('GET', '/v1/payments', buyer.token)).body
    expect(payments).toMatchObject([{ state: 'succeeded', order: order.id, message: expect.stringMatching(/expired/) }])
  })

  it('a canceled order cannot be paid', async () => {
    await trade()
    const order = await market.buy(buyer, listed, 'provider')
    await market.server.call('POST', `/v1/orders/${order.id}/cancel`, buyer.token)
    await askPayments(market.server.services, { olderThanMs: 0 })
    expect(market.stripe.books.get(order.session)).toMatchObject({ status: 'expired' })
    const { payments } = (await market.server.call('GET', '/v1/payments', buyer.token)).body
    expect(payments).toMatchObject([{ state: 'expired', checkout_url: null }])
  })

  it('a late payment goes to the balance if the buyer bought it from the balance meanwhile', async () => {
    await trade()
    const order = await market.buy(buyer, listed, 'provider')
    await market.paid(buyer, price)
    await market.buy(buyer, listed, 'balance')
    await market.tell(market.stripe.books.pay(order.session))
    expect(await buyer.balance()).toBe(price)
    expect(await seller.has()).toMatchObject({ earnings: sellers })
    expect(await mails()).toHaveLength(1)
  })

  it('a failed payment is replaced by a new one for the same order', async () => {
    await trade()
    const order = await market.buy(buyer, listed, 'provider')
    await market.tell(market.stripe.books.expire(order.session))
    const again = await market.buy(buyer, listed, 'provider')
    expect(again.id).toBe(order.id)
    expect(again.session).not.toBe(order.session)
    await market.tell(market.stripe.books.pay(again.session))
    expect(await stateOf(order.id)).toBe('paid')
    // Both were paid in the end: the second one is the buyer's.
    await market.tell(market.stripe.books.pay(order.session))
    expect(await buyer.balance()).toBe(price)
    // And its dispute takes that, not the order that it did not pay for.
    await market.tell(market.stripe.books.dispute(order.session).withdrawn)
    expect(await buyer.has()).toMatchObject({ balance: 0 })
    expect(await stateOf(order.id)).toBe('paid')
  })

  it('a disputed payment reverses the order for seller, platform and buyer', async () => {
    await trade()
    const order = await market.buy(buyer, listed, 'provider')
    await market.tell(market.stripe.books.pay(order.session))
    const { created, withdrawn } = market.stripe.books.dispute(order.session)
    await Promise.all([market.tell(created), market.tell(withdrawn)])
    expect(await stateOf(order.id)).toBe('charged_back')
    expect(await isEntitled()).toBe(false)
    expect(await seller.has()).toMatchObject({ earnings: 0, debt: 0 })
    expect(await buyer.has()).toMatchObject({ balance: 0, debt: 0 })
  })

  it('a dispute reported before the payment leaves all balances at zero', async () => {
    await trade()
    const order = await market.buy(buyer, listed, 'provider')
    const paid = market.stripe.books.pay(order.session)
    await market.tell(market.stripe.books.dispute(order.session).withdrawn)
    await market.tell(paid)
    expect(await stateOf(order.id)).toBe('charged_back')
    expect(await isEntitled()).toBe(false)
    expect(await buyer.has()).toMatchObject({ balance: 0 })
    expect(await seller.has()).toMatchObject({ earnings: 0 })
  })

  it('a disputed top-up reverses the purchases made with it, newest first', async () => {
    await trade()
    const second = await market.listing(seller, price)
    const before = await market.listing(seller, price)
    await market.paid(buyer, price)
    const early = await market.buy(buyer, before, 'balance')
    const { session } = await market.paid(buyer, 2 * price + 500)
    const [older, newer] = [await market.buy(buyer, listed, 'balance'), await market.buy(buyer, second, 'balance')]
    await market.tell(market.stripe.books.dispute(session, { amount: price }).withdrawn)
    expect(await stateOf(newer.id)).toBe('charged_back')
    expect(await stateOf(older.id)).toBe('paid')
    expect(await buyer.has()).toMatchObject({ balance: 500 })
    await market.tell(market.stripe.books.dispute(session, { amount: price + 500 }).withdrawn)
    expect(await stateOf(older.id)).toBe('charged_back')
    // What other money has paid for stays bought.
    expect(await stateOf(early.id)).toBe('paid')
    expect(await buyer.has()).toMatchObject({ balance: 0, debt: 0 })
    expect(await seller.has()).toMatchObject({ earnings: sellers })
  })

  it('the rest of a disputed top-up becomes a debt, repaid by the next one', async () => {
    await trade()
    const { session } = await market.paid(buyer, 3_000)
    await spend(market.database, { from: buyer, to: seller, amountMinor: 2_400n })
    const { withdrawn, reinstated } = market.stripe.books.dispute(session)
    await market.tell(withdrawn)
    expect(await buyer.has()).toMatchObject({ balance: 0, debt: -2_400 })
    await market.paid(buyer, 1_000)
    expect(await buyer.has()).toMatchObject({ balance: 0, debt: -1_400 })
    // The dispute is won after all.
    await market.tell(reinstated)
    expect(await buyer.has()).toMatchObject({ balance: 1_600, debt: 0 })
  })
})

/** As hosted calls are paid for: there is no order that could be taken back. */
async function spend(database: Database, { from, to, amountMinor }: { from: Trader; to: Trader; amountMinor: bigint }) {
  const currency = 'USD'
  await database.transaction(async (query) => {
    const [balance, earnings] = await openAccounts(query, [
      { owner: from.actor.accountId, code: 'balance', currency },
      { owner: to.actor.accountId, code: 'earnings', currency },
    ])
    const accounts = { debitAccountId: balance, creditAccountId: earnings }
    await mustTransfer(query, [{ ...accounts, id: randomUUID(), kind: 'posted', code: 'calls', amountMinor, currency }])
  })
}
