import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { backgroundSettled } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import { openAccounts } from '../ledger/accounts.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { auditMarket } from './audit-market.ts'
import { repayDebt } from './debts.ts'
import { refundOrder, refundOrdersOf } from './refunds.ts'
import { mustTransfer } from './sale.ts'
import {
  buy,
  codeOf,
  createOrganization,
  createTrader,
  fund,
  holdings,
  type Listed,
  listPackage,
} from './testing/marketplace.ts'

describeOnEngines('refunds on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let seller: Actor
  let author: Actor
  let buyer: Actor
  let agent: Listed

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    ;[seller, author, buyer] = [
      await createTrader(database, 'seller'),
      await createTrader(database, 'author'),
      await createTrader(database, 'buyer'),
    ]
    await fund(database, buyer.accountId, 1_000_000)
    agent = await newAgent(999)
  })
  afterAll(async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
    await services.remove()
    await database.close()
  })

  const newAgent = async (amountMinor: number): Promise<Listed> => {
    const royaltyBasisPoints = 1_234
    const scenario = await listPackage(database, {
      ownerId: author.accountId,
      owner: author.username,
      royaltyBasisPoints,
    })
    const price = { kind: 'one_time' as const, amountMinor }
    return listPackage(database, { ownerId: seller.accountId, owner: seller.username, kind: 'agent', scenario, price })
  }

  const refund = (actor: Actor, id: string, amount?: number, key: string = randomUUID()) =>
    refundOrder(services, {
      actor,
      id,
      request: { amount_minor: amount, reason: 'asked' },
      idempotencyKey: key,
      ip: null,
    })

  const all = async () => {
    const [b, s, a, p] = [buyer.accountId, seller.accountId, author.accountId, null]
    return Object.fromEntries(
      await Promise.all(Object.entries({ b, s, a, p }).map(async ([name, id]) => [name, await holdings(database, id)])),
    )
  }

  const useLicense = (order: string) =>
    database.query.updateTable('entitlements').set({ used_at: new Date() }).where('order_id', '=', order).execute()

  it('returns the parts exactly over partial refunds, and ends the license with the last one', async () => {
    await buy(services, await funded(999), agent)
    const before = await all()
    const { order } = await buy(services, buyer, agent)
    for (const amount of [1, 7, 500]) expect((await refund(seller, order.id, amount)).state).toBe('paid')
    expect(await codeOf(refund(seller, order.id, 492))).toBe('refund_exceeds')
    const last = await refund(seller, order.id)
    expect(last).toMatchObject({ state: 'refunded', refunded_minor: 999, refundable: { by_buyer: false } })
    expect(last.refunds.map((one) => [one.amount_minor, one.by, one.reason])).toEqual(
      [1, 7, 500, 491].map((amount) => [amount, seller.username, 'asked']),
    )
    expect(await all()).toEqual({ ...before, s: { ...before.s, debt: 0 }, a: { ...before.a, debt: 0 } })
    const held = await database.query
      .selectFrom('entitlements')
      .select('revoked_at')
      .where('order_id', '=', order.id)
      .executeTakeFirst()
    expect(held?.revoked_at).toBeInstanceOf(Date)
    expect(await codeOf(refund(seller, order.id))).toBe('order_state_conflict')
    // It can be bought and refunded again.
    const again = await buy(services, buyer, agent)
    expect(again.status).toBe(201)
    expect((await refund(buyer, again.order.id)).state).toBe('refunded')
  })

  const funded = async (amount: number): Promise<Actor> => {
    const actor = await createTrader(database, 'other')
    await fund(database, actor.accountId, amount)
    return actor
  }

  it('refunds once for repeated requests, and rejects a reused key', async () => {
    const { order } = await buy(services, buyer, agent)
    const key = randomUUID()
    const first = await refund(seller, order.id, 100, key)
    expect(await refund(seller, order.id, 100, key)).toEqual(first)
    expect(await codeOf(refund(seller, order.id, 200, key))).toBe('idempotency_key_reused')
    expect((await refund(seller, order.id)).refunded_minor).toBe(999)
  })

  it('lets buyers refund the full price within 14 days if unused, but no part', async () => {
    const { order } = await buy(services, buyer, agent)
    expect(await codeOf(refund(buyer, order.id, 500))).toBe('refund_refused')
    await useLicense(order.id)
    await expect(refund(buyer, order.id)).rejects.toMatchObject({
      code: 'refund_refused',
      message: expect.stringMatching(/first used/),
    })
    await refund(seller, order.id)
    const late = await buy(services, buyer, agent)
    await database.query
      .updateTable('orders')
      .set({ paid_at: new Date(Date.now() - 14 * 86_400_000 - 1) })
      .where('id', '=', late.order.id)
      .execute()
    await expect(refund(buyer, late.order.id)).rejects.toMatchObject({
      code: 'refund_refused',
      message: expect.stringMatching(/14-day/),
    })
    await refund(seller, late.order.id)
  })

  it('allows operators, and rejects strangers, viewers and members of the seller', async () => {
    const { order } = await buy(services, buyer, agent)
    const stranger = await createTrader(database)
    expect(await codeOf(refund(stranger, order.id))).toBe('order_not_found')
    expect(await codeOf(refund(stranger, randomUUID()))).toBe('order_not_found')
    expect(await codeOf(refund(author, order.id))).toBe('order_not_found')
    const admin = await createTrader(database)
    const shop = await createOrganization(database, { [admin.accountId]: 'admin', [stranger.accountId]: 'member' })
    const sold = await listPackage(database, {
      ownerId: shop.id,
      owner: shop.username,
      price: { kind: 'one_time', amountMinor: 300 },
    })
    const bought = await buy(services, buyer, sold)
    expect(await codeOf(refund(stranger, bought.order.id))).toBe('order_not_found')
    expect((await refund(admin, bought.order.id, 100)).refunded_minor).toBe(100)
    const buysOnly = { ...admin, scopes: new Set(['market:buy'] as const) }
    expect(await codeOf(refund(buysOnly, bought.order.id, 100))).toBe('forbidden')
    const operator = { ...stranger, operator: true }
    expect((await refund(operator, order.id)).state).toBe('refunded')
  })

  it('treats an operator who bought it as a buyer', async () => {
    const operator = { ...(await funded(999)), operator: true }
    const { order } = await buy(services, operator, agent)
    await useLicense(order.id)
    expect(await codeOf(refund(operator, order.id))).toBe('refund_refused')
  })

  it('records a debt for paid-out earnings, and repays it from later sales', async () => {
    const broke = await createTrader(database, 'seller')
    const price = { kind: 'one_time' as const, amountMinor: 1_000 }
    const sold = await listPackage(database, { ownerId: broke.accountId, owner: broke.username, price })
    const { order } = await buy(services, buyer, sold)
    await payOut(broke, 600)
    await refund(broke, order.id)
    // 900 were theirs: 300 left, 600 owed.
    expect(await holdings(database, broke.accountId)).toEqual({ earnings: 0, debt: -600 })
    await buy(services, await funded(1_000), sold)
    expect(await holdings(database, broke.accountId)).toMatchObject({ earnings: 300, debt: 0 })
    const entries = await database.query
      .selectFrom('ledger_transfers')
      .select('amount')
      .where('code', '=', 'debt_repaid')
      .execute()
    expect(entries).toContainEqual({ amount: 600 })
  })

  it('repays a debt from earnings and then from the balance, never more than is owed', async () => {
    const broke = await createTrader(database, 'seller')
    const sold = await listPackage(database, {
      ownerId: broke.accountId,
      owner: broke.username,
      price: { kind: 'one_time', amountMinor: 1_000 },
    })
    const { order } = await buy(services, buyer, sold)
    await payOut(broke, 900)
    await refund(broke, order.id)
    const repay = () =>
      database.transaction((query) =>
        repayDebt(query, { accountId: broke.accountId, currency: 'USD', reference: order.id }),
      )
    await repay()
    expect(await holdings(database, broke.accountId)).toEqual({ earnings: 0, debt: -900 })
    await fund(database, broke.accountId, 500)
    await repay()
    expect(await holdings(database, broke.accountId)).toEqual({ earnings: 0, debt: -400, balance: 0 })
    await fund(database, broke.accountId, 500)
    await repay()
    await repay()
    expect(await holdings(database, broke.accountId)).toEqual({ earnings: 0, debt: 0, balance: 100 })
  })

  /** Earnings leave, as a payout that the provider has made. */
  const payOut = ({ accountId }: Actor, amountMinor: number) =>
    database.transaction(async (query) => {
      const [earnings, provider] = await openAccounts(query, [
        { owner: accountId, code: 'earnings', currency: 'USD' },
        { owner: null, code: 'provider', currency: 'USD' },
      ])
      const money = { amountMinor: BigInt(amountMinor), currency: 'USD', code: 'payout', kind: 'posted' as const }
      await mustTransfer(query, [{ ...money, id: randomUUID(), debitAccountId: earnings, creditAccountId: provider }])
    })

  it('refunds and emails all buyers of a version whose claims are false', async () => {
    const bad = await newAgent(2_000)
    const [first, second, third] = [await funded(2_000), await funded(2_000), await funded(2_000)]
    const orders = []
    for (const actor of [first, second, third]) orders.push((await buy(services, actor, bad)).order)
    await refund(seller, orders[0].id, 500)
    await refund(seller, orders[2].id)
    const versionId = bad.versions['1.0.0']
    const reason = 'Run again, it did otherwise than it claims.'
    expect(await refundOrdersOf(services, { of: { versionId }, reason })).toBe(2)
    expect(await refundOrdersOf(services, { of: { versionId }, reason })).toBe(0)
    for (const actor of [first, second, third]) expect((await holdings(database, actor.accountId)).balance).toBe(2_000)
    await backgroundSettled()
    const mails = (await services.mail.sent()).filter(({ text }) => text.includes(reason))
    expect(mails.map(({ to }) => to).sort()).toEqual(
      [first, second].map(({ username }) => `${username}@example.org`).sort(),
    )
    expect(mails.map(({ subject }) => subject).join()).toMatch(/\$15\.00.*\$20\.00|\$20\.00.*\$15\.00/)
  })

  it('refunds only orders since a given time', async () => {
    const bad = await newAgent(100)
    await buy(services, await funded(100), bad)
    const since = new Date(Date.now() + 60_000)
    expect(await refundOrdersOf(services, { of: { packageId: bad.id }, reason: 'taken down', since })).toBe(0)
    expect(await refundOrdersOf(services, { of: { packageId: bad.id }, reason: 'taken down' })).toBe(1)
  })
})
