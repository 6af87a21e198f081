import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import type { TestServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import {
  buy,
  codeOf,
  fund,
  holdings,
  type Listed,
  listPackage,
  openShop,
  type Shop,
  setListPrice,
} from './testing/marketplace.ts'

const oneTime = (amountMinor: number) => ({ kind: 'one_time' as const, amountMinor })

describeOnEngines('buying on $kind', ({ open }) => {
  let database: Database
  let shop: Shop
  let services: TestServices
  let seller: Actor
  let author: Actor
  let scenario: Listed
  let agent: Listed

  beforeAll(async () => {
    database = await open()
    shop = await openShop(database)
    ;({ services, seller, author, scenario } = shop)
    agent = await list(oneTime(1_999), { kind: 'agent', scenario: shop.scenario })
  })
  afterAll(() => shop.close())

  const list: Shop['list'] = (...given) => shop.list(...given)
  const buyer = (funds: number) => shop.buyer(funds)

  const heldBy = async ({ accountId }: Pick<Actor, 'accountId'>) =>
    (
      await database.query
        .selectFrom('entitlements')
        .select('order_id')
        .where('holder_id', '=', accountId)
        .where('revoked_at', 'is', null)
        .execute()
    ).length

  it('pays seller, platform and author from the balance, and grants a license for the major version', async () => {
    const actor = await buyer(5_000)
    const before = [
      await holdings(database, seller.accountId),
      await holdings(database, author.accountId),
      await holdings(database, null),
    ]
    const { status, order } = await buy(services, actor, agent)
    expect(status).toBe(201)
    expect(order).toMatchObject({
      ...{ state: 'paid', package: agent.name, kind: 'agent', version: '1.0.0', covers: '1.x', price_kind: 'one_time' },
      ...{ buyer: actor.username, placed_by: actor.username, seller: seller.username, total_minor: 1_999 },
      ...{ refunded_minor: 0, currency: 'USD', pay_with: 'balance', checkout_url: null, run: null, refunds: [] },
      refundable: { by_buyer: true },
    })
    // 10 % fee and 15 % royalty, both rounded down.
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 3_001 })
    expect((await holdings(database, seller.accountId)).earnings - (before[0].earnings ?? 0)).toBe(1_999 - 199 - 299)
    expect((await holdings(database, author.accountId)).earnings - (before[1].earnings ?? 0)).toBe(299)
    expect((await holdings(database, null)).fees - (before[2].fees ?? 0)).toBe(199)
    expect(await heldBy(actor)).toBe(1)
    const { rows } = await database.execute(`select action, data from audit where subject = 'order:${order.id}'`)
    expect(rows).toMatchObject([{ action: 'order.place', data: { total_minor: 1_999 } }])
    const { rows: events } = await database.execute(
      `select type, account_id, data from events where data ->> 'order' = '${order.id}'`,
    )
    expect(events).toMatchObject([
      {
        ...{ type: 'order.paid', account_id: seller.accountId },
        data: { package: agent.name, buyer: actor.username, total_minor: 1_999, earned_minor: 1_999 - 199 - 299 },
      },
    ])
  })

  it('caps royalties, and does not apply announced ones yet', async () => {
    const greedy = await listPackage(database, {
      ...{ ownerId: author.accountId, owner: author.username, royaltyBasisPoints: 9_000 },
    })
    const trained = await list(oneTime(1_000), { kind: 'agent', scenario: greedy })
    const before = (await holdings(database, author.accountId)).earnings ?? 0
    await buy(services, await buyer(1_000), trained)
    expect((await holdings(database, author.accountId)).earnings - before).toBe(200)
    await database.query
      .updateTable('sale_terms')
      .set({
        royalty_basis_points: 100,
        next_royalty_basis_points: 1_000,
        next_calls_price_minor: 0,
        next_trial_calls: 0,
        next_at: new Date(Date.now() + 1_000_000),
      })
      .where('package_id', '=', greedy.id)
      .execute()
    await buy(services, await buyer(1_000), trained)
    expect((await holdings(database, author.accountId)).earnings - before).toBe(210)
  })

  it('pays no royalty for the seller’s own scenario, or for a different bundle of the same name', async () => {
    const own = await listPackage(database, {
      ...{ ownerId: seller.accountId, owner: seller.username, royaltyBasisPoints: 1_500 },
    })
    for (const trainedOn of [own, { ...scenario, id: own.id }]) {
      const before = (await holdings(database, author.accountId)).earnings
      const { order } = await buy(
        services,
        await buyer(1_000),
        await list(oneTime(1_000), { kind: 'agent', scenario: trainedOn }),
      )
      const row = await database.query
        .selectFrom('orders')
        .selectAll()
        .where('id', '=', order.id)
        .executeTakeFirstOrThrow()
      expect(row).toMatchObject({ royalty_minor: 0, royalty_to: null, fee_minor: 100 })
      expect((await holdings(database, author.accountId)).earnings).toBe(before)
    }
  })

  it('returns the existing order for an owned license, without a charge', async () => {
    const actor = await buyer(10_000)
    const first = await buy(services, actor, agent)
    const again = await buy(services, actor, agent, { range: '^1.0.0' })
    expect(again).toEqual({ status: 200, order: first.order })
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 8_001 })
  })

  it('requires another license for another major version', async () => {
    const actor = await buyer(10_000)
    const listed = await list(oneTime(100), { versions: ['1.0.0', '2.0.0', '0.3.1'] })
    const orders = [
      await buy(services, actor, listed, { range: '1' }),
      await buy(services, actor, listed, { range: '2.0.0' }),
      await buy(services, actor, listed),
    ]
    expect(orders.map(({ status, order }) => [status, order.covers])).toEqual([
      [201, '1.x'],
      [201, '2.x'],
      [201, '0.x'],
    ])
    expect(await heldBy(actor)).toBe(3)
  })

  it('grants free packages immediately and permanently', async () => {
    const actor = await buyer(0)
    const listed = await list()
    const { status, order } = await buy(services, actor, listed, {
      pay_with: 'provider',
      expected_price: { id: listed.id, amount_minor: 0 },
    })
    expect([status, order.state, order.total_minor, order.price_kind]).toEqual([201, 'paid', 0, 'free'])
    expect(order.refundable.by_buyer).toBe(false)
    await setListPrice(database, listed, oneTime(500))
    expect((await buy(services, actor, listed)).status).toBe(200)
  })

  it('repeats the response for the same key, and refuses the key for another request', async () => {
    const actor = await buyer(10_000)
    const listed = await list(oneTime(700))
    const key = randomUUID()
    const first = await buy(services, actor, listed, { key })
    await setListPrice(database, listed, oneTime(100))
    expect(await buy(services, actor, listed, { key })).toEqual(first)
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 9_300 })
    expect(await codeOf(buy(services, actor, listed, { key, range: '1.0.0' }))).toBe('idempotency_key_reused')
    // Keys are per actor: another actor's key is a different request.
    expect((await buy(services, await buyer(100), listed, { key })).status).toBe(201)
  })

  it('a failed request can be retried with its key', async () => {
    const actor = await buyer(0)
    const key = randomUUID()
    await expect(buy(services, actor, agent, { key })).rejects.toMatchObject({
      code: 'insufficient_funds',
      data: { needed_minor: 1_999, available_minor: 0, currency: 'USD' },
    })
    await fund(database, actor.accountId, 1_999)
    expect((await buy(services, actor, agent, { key })).status).toBe(201)
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 0 })
  })

  it('a changed price is a conflict that names the new price', async () => {
    const actor = await buyer(10_000)
    const listed = await list(oneTime(500))
    const shown = { id: listed.priceId ?? '', amount_minor: 500 }
    const raised = await setListPrice(database, listed, oneTime(900))
    await expect(buy(services, actor, listed, { expected_price: shown })).rejects.toMatchObject({
      code: 'price_changed',
      data: { price: { id: raised, kind: 'one_time', amount_minor: 900, currency: 'USD' } },
    })
    // The same amount under another price is another price: its terms may be others.
    expect(await codeOf(buy(services, actor, listed, { expected_price: { id: shown.id, amount_minor: 900 } }))).toBe(
      'price_changed',
    )
    expect(await codeOf(buy(services, actor, listed, { expected_price: { amount_minor: 899 } }))).toBe('price_changed')
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 10_000 })
    expect((await buy(services, actor, listed, { expected_price: { id: raised, amount_minor: 900 } })).status).toBe(201)
  })

  it('does not charge announced or withdrawn prices', async () => {
    const listed = await list(oneTime(500))
    await database.query
      .insertInto('prices')
      .values([
        {
          package_id: listed.id,
          kind: 'one_time',
          amount_minor: 900,
          currency: 'USD',
          effective_at: new Date(Date.now() + 60_000),
          set_by: seller.accountId,
        },
        {
          package_id: listed.id,
          kind: 'one_time',
          amount_minor: 300,
          currency: 'USD',
          effective_at: new Date(Date.now() - 1),
          withdrawn_at: new Date(),
          set_by: seller.accountId,
        },
      ])
      .execute()
    expect((await buy(services, await buyer(500), listed)).order.total_minor).toBe(500)
  })
})
