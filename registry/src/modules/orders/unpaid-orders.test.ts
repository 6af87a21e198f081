import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { auditMarket } from './audit-market.ts'
import { takeBack } from './debts.ts'
import { payOrder } from './pay-order.ts'
import { showOrder } from './read-orders.ts'
import { reverseForChargeback } from './reverse-sale.ts'
import { buy, codeOf, createTrader, fund, holdings, type Listed, listPackage } from './testing/marketplace.ts'
import { cancelOrder, expireOrders } from './unpaid-orders.ts'

describeOnEngines('orders paid at the provider on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let seller: Actor
  let listed: Listed

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    seller = await createTrader(database, 'seller')
    listed = await listPackage(database, {
      ...{ ownerId: seller.accountId, owner: seller.username, price: { kind: 'one_time' as const, amountMinor: 800 } },
    })
  })
  afterAll(async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
    await services.remove()
    await database.close()
  })

  /** An order that waits for the provider, as `placeOrder` leaves it before the provider has answered. */
  const waiting = async (change: { expires_at?: Date } = {}) => {
    const actor = await createTrader(database, 'buyer')
    const { order } = await buy(services, await funded(), listed)
    const like = await database.query
      .selectFrom('orders')
      .selectAll()
      .where('id', '=', order.id)
      .executeTakeFirstOrThrow()
    const id = randomUUID()
    await database.query
      .insertInto('orders')
      .values({
        ...{
          ...like,
          id,
          buyer_id: actor.accountId,
          placed_by: actor.accountId,
          state: 'awaiting_payment',
          paid_at: null,
        },
        ...{ pay_with: 'provider', expires_at: new Date(Date.now() + 3_600_000), ...change },
      })
      .execute()
    return { actor, id }
  }

  const funded = async (): Promise<Actor> => {
    const actor = await createTrader(database, 'other')
    await fund(database, actor.accountId, 800)
    return actor
  }

  const pay = (
    orderId: string,
    { accountId }: Actor,
    { id = randomUUID(), amountMinor = 800n, currency = 'USD' } = {},
  ) => database.transaction((query) => payOrder(query, { orderId, payment: { id, accountId, amountMinor, currency } }))

  it('is paid once when the provider confirms the payment, even repeatedly', async () => {
    const { actor, id } = await waiting()
    const payment = { id: randomUUID() }
    expect(await pay(id, actor, payment)).toEqual({ outcome: 'paid' })
    expect(await pay(id, actor, payment)).toEqual({ outcome: 'paid' })
    expect(await showOrder(services, actor, id)).toMatchObject({ state: 'paid', refundable: { by_buyer: true } })
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 0 })
    const licenses = await database.query
      .selectFrom('entitlements')
      .select('order_id')
      .where('holder_id', '=', actor.accountId)
      .execute()
    expect(licenses).toEqual([{ order_id: id }])
    // A second payment for the same order goes to the buyer's balance.
    expect(await pay(id, actor)).toMatchObject({
      outcome: 'kept',
      reason: expect.stringMatching(/was paid .*\$8\.00 was credited to your balance/),
    })
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 800 })
  })

  const obstacles: [string, RegExp, (one: { actor: Actor; id: string }) => Promise<unknown>][] = [
    ['was cancelled', /was cancelled/, ({ actor, id }) => cancelOrder(services, { actor, id, ip: null })],
    [
      'has expired',
      /was expired/,
      async ({ id }) => {
        await database.query
          .updateTable('orders')
          .set({ expires_at: new Date(0) })
          .where('id', '=', id)
          .execute()
        await expireOrders(services)
      },
    ],
    [
      'has expired, but is not marked yet',
      /had expired/,
      ({ id }) =>
        database.query
          .updateTable('orders')
          .set({ expires_at: new Date(0) })
          .where('id', '=', id)
          .execute(),
    ],
    [
      'was bought from the balance meanwhile',
      /already owned it/,
      async ({ actor }) => {
        await fund(database, actor.accountId, 800)
        await buy(services, actor, listed)
      },
    ],
  ]
  it.each(obstacles)('a payment for an order that %s stays on the balance', async (_, reason, obstruct) => {
    const one = await waiting()
    await obstruct(one)
    expect(await pay(one.id, one.actor)).toMatchObject({ outcome: 'kept', reason: expect.stringMatching(reason) })
    expect(await holdings(database, one.actor.accountId)).toEqual({ balance: 800 })
    expect(['cancelled', 'expired']).toContain((await showOrder(services, one.actor, one.id)).state)
  })

  it('so does a payment of another amount, or for a package that was taken down', async () => {
    const other = await waiting()
    expect(await pay(other.id, other.actor, { amountMinor: 799n })).toMatchObject({ outcome: 'kept' })
    expect(await holdings(database, other.actor.accountId)).toEqual({ balance: 799 })
    const down = await waiting()
    const takeDown = (at: Date | null) =>
      database.query.updateTable('packages').set({ taken_down_at: at }).where('id', '=', listed.id).execute()
    await takeDown(new Date())
    expect(await pay(down.id, down.actor)).toMatchObject({
      outcome: 'kept',
      reason: expect.stringMatching(/taken down/),
    })
    await takeDown(null)
  })

  it('can be canceled once, by its buyer only, and not after payment', async () => {
    const { actor, id } = await waiting()
    const cancel = (by: Actor, order = id) => cancelOrder(services, { actor: by, id: order, ip: null })
    expect(await codeOf(cancel(await funded()))).toBe('order_not_found')
    expect(await codeOf(cancel(seller))).toBe('order_not_found')
    expect((await cancel(actor)).state).toBe('cancelled')
    expect((await cancel(actor)).state).toBe('cancelled')
    const paid = await waiting()
    await pay(paid.id, paid.actor)
    expect(await codeOf(cancel(paid.actor, paid.id))).toBe('order_state_conflict')
  })

  it('a chargeback revokes the license and recovers the money from its recipients; the buyer gains nothing', async () => {
    const { actor, id } = await waiting()
    const paymentId = randomUUID()
    await pay(id, actor, { id: paymentId })
    const before = await holdings(database, seller.accountId)
    const chargeBack = () =>
      database.transaction(async (query) => {
        await reverseForChargeback(query, id, { paymentId, reason: 'fraud' })
        await takeBack(query, { accountId: actor.accountId, amountMinor: 800n, currency: 'USD', reference: paymentId })
      })
    await chargeBack()
    await chargeBack()
    expect(await showOrder(services, actor, id)).toMatchObject({ state: 'charged_back', refunded_minor: 800 })
    expect(await holdings(database, actor.accountId)).toMatchObject({ balance: 0, debt: 0 })
    expect((await holdings(database, seller.accountId)).earnings).toBe(before.earnings - 720)
    // It can be bought again, honestly.
    await fund(database, actor.accountId, 800)
    expect((await buy(services, actor, listed)).status).toBe(201)
  })

  it('spent money becomes a debt', async () => {
    const actor = await createTrader(database, 'buyer')
    await fund(database, actor.accountId, 1_000)
    await buy(services, actor, listed)
    const reference = randomUUID()
    const take = () =>
      database.transaction((query) =>
        takeBack(query, { accountId: actor.accountId, amountMinor: 1_000n, currency: 'USD', reference }),
      )
    await take()
    await take()
    expect(await holdings(database, actor.accountId)).toMatchObject({ balance: 0, debt: -800 })
  })

  it('a repeated request returns the same pending order', async () => {
    const { actor, id } = await waiting()
    const { status, order } = await buy(services, actor, listed, { pay_with: 'provider' })
    expect([status, order.id]).toEqual([200, id])
  })
})
