import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { auditMarket } from './audit-market.ts'
import { showOrder } from './read-orders.ts'
import { refundOrder } from './refunds.ts'
import { holdAgain, holdForRun, settleRunOrder } from './run-order.ts'
import {
  codeOf,
  createOrganization,
  createTokenActor,
  createTrader,
  fund,
  holdings,
  insertRun,
  type Listed,
  listPackage,
  setListPrice,
} from './testing/marketplace.ts'
import { cancelOrder, expireOrders } from './unpaid-orders.ts'

describeOnEngines('orders of runs on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let seller: Actor
  let scenario: Listed

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    seller = await createTrader(database, 'seller')
    const price = { kind: 'per_run' as const, amountMinor: 400 }
    scenario = await listPackage(database, { ownerId: seller.accountId, owner: seller.username, price })
  })
  afterAll(async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
    await services.remove()
    await database.close()
  })

  const buyer = async (funds: number): Promise<Actor> => {
    const actor = await createTrader(database, 'buyer')
    await fund(database, actor.accountId, funds)
    return actor
  }

  type More = { listed?: Listed; expected?: number; account?: { id: string; username: string } }
  const start = async (actor: Actor, { listed = scenario, expected, account }: More = {}) => {
    const buyer = account ?? { id: actor.accountId, username: actor.username }
    return database.transaction(async (query) => {
      const runId = await insertRun(query, { accountId: buyer.id }, listed.versions['1.0.0'])
      const expectedPrice = expected === undefined ? undefined : { amount_minor: expected }
      const run = { actor, buyer, runId, name: listed.name, version: '1.0.0', expectedPrice, ip: null }
      return { run, orderId: await holdForRun(query, services.config, run) }
    })
  }

  const settle = (runId: string, outcome: 'post' | 'void') =>
    database.transaction((query) => settleRunOrder(query, runId, outcome))

  it('holds the price when the run starts, and pays it once when training starts', async () => {
    const actor = await buyer(1_000)
    const before = (await holdings(database, seller.accountId)).earnings ?? 0
    const { run, orderId } = await start(actor, { expected: 400 })
    const held = await showOrder(services, actor, orderId ?? '')
    expect(held).toMatchObject({
      state: 'awaiting_payment',
      run: run.runId,
      price_kind: 'per_run',
      total_minor: 400,
      paid_at: null,
    })
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 600 })
    expect((await holdings(database, seller.accountId)).earnings).toBe(before)
    await settle(run.runId, 'post')
    await settle(run.runId, 'post')
    await settle(run.runId, 'void')
    expect(await showOrder(services, actor, orderId ?? '')).toMatchObject({
      state: 'paid',
      refundable: { by_buyer: false },
    })
    expect((await holdings(database, seller.accountId)).earnings).toBe(before + 360)
    const licenses = await database.query
      .selectFrom('entitlements')
      .select('order_id')
      .where('holder_id', '=', actor.accountId)
      .execute()
    expect(licenses).toEqual([])
    // Each run is paid for.
    await start(actor)
    expect(await codeOf(start(actor))).toBe('insufficient_funds')
  })

  it('releases the hold of a run that ends before training, and restores it on resume', async () => {
    const actor = await buyer(500)
    const { run, orderId } = await start(actor)
    const again = () => database.transaction((query) => holdAgain(query, services.config, run))
    await again()
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 100 })
    await settle(run.runId, 'void')
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 500 })
    expect((await showOrder(services, actor, orderId ?? '')).state).toBe('cancelled')
    await again()
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 100 })
    await settle(run.runId, 'post')
    await again()
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 100 })
  })

  it('holds nothing for members of the seller, or for scenarios without a price per run', async () => {
    const [owner, member] = [await buyer(0), await buyer(0)]
    const shop = await createOrganization(database, { [owner.accountId]: 'owner', [member.accountId]: 'viewer' })
    const own = { ownerId: shop.id, owner: shop.username }
    const listed = await listPackage(database, { ...own, price: { kind: 'per_run', amountMinor: 400 } })
    expect((await start(member, { listed })).orderId).toBeNull()
    const free = await listPackage(database, own)
    expect((await start(await buyer(0), { listed: free })).orderId).toBeNull()
  })

  it('rejects runs paid by an organization that the seller controls', async () => {
    const member = await buyer(0)
    const team = await createOrganization(database, { [seller.accountId]: 'admin', [member.accountId]: 'member' })
    await fund(database, team.id, 1_000)
    expect(await codeOf(start(member, { account: team }))).toBe('self_purchase')
  })

  it('requires the scope to buy and the shown price, and respects caps', async () => {
    const actor = await buyer(10_000)
    const token = await createTokenActor(database, actor)
    const trains = { ...token, scopes: new Set(['training:start'] as const) }
    expect(await codeOf(start(trains))).toBe('forbidden')
    expect(await codeOf(start(token, { expected: 399 }))).toBe('price_changed')
    await database.query
      .insertInto('spend_caps')
      .values({
        account_id: actor.accountId,
        token_id: token.tokenId,
        period: 'day',
        amount_minor: 900,
        set_by: actor.accountId,
      })
      .execute()
    const { run } = await start(token)
    await start(token)
    expect(await codeOf(start(token))).toBe('spend_cap_exceeded')
    // Failed orders do not count as spent.
    await settle(run.runId, 'void')
    expect((await start(token)).orderId).not.toBeNull()
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 9_200 })
  })

  it('respects caps in the currency of its price, whatever the server’s currency', async () => {
    const actor = await buyer(1_000)
    const cap = async (currency: string) => {
      await database.query.deleteFrom('spend_caps').where('account_id', '=', actor.accountId).execute()
      const set = { period: 'total' as const, amount_minor: 900, currency, set_by: actor.accountId }
      await database.query
        .insertInto('spend_caps')
        .values({ account_id: actor.accountId, token_id: null, ...set })
        .execute()
    }
    services.config.training.currency = 'EUR'
    try {
      await cap('EUR')
      expect(await codeOf(start(actor)), 'a price in USD cannot be compared with it').toBe('spend_cap_exceeded')
      await cap('USD')
      expect([await codeOf(start(actor)), await codeOf(start(actor))]).toEqual(['done', 'done'])
      expect(await codeOf(start(actor))).toBe('spend_cap_exceeded')
    } finally {
      services.config.training.currency = 'USD'
    }
  })

  it('pays the price at the start, even if it changes before training', async () => {
    const listed = await listPackage(database, {
      ownerId: seller.accountId,
      owner: seller.username,
      price: { kind: 'per_run', amountMinor: 100 },
    })
    const actor = await buyer(1_000)
    const { run } = await start(actor, { listed })
    await setListPrice(database, listed, { kind: 'per_run', amountMinor: 900 })
    await settle(run.runId, 'post')
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 900 })
  })

  it('its order cannot be canceled or refunded and does not expire while the run is open; the seller can refund it later', async () => {
    const actor = await buyer(1_000)
    const { run, orderId: id = '' } = await start(actor)
    const refund = (by: Actor) =>
      refundOrder(services, {
        actor: by,
        id: id ?? '',
        request: { reason: 'asked' },
        idempotencyKey: randomUUID(),
        ip: null,
      })
    expect(await codeOf(cancelOrder(services, { actor, id: id ?? '', ip: null }))).toBe('order_state_conflict')
    expect(await codeOf(refund(seller))).toBe('order_state_conflict')
    await expireOrders(services)
    await settle(run.runId, 'post')
    expect(await codeOf(refund(actor))).toBe('refund_refused')
    expect((await refund(seller)).state).toBe('refunded')
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 1_000 })
  })
})
