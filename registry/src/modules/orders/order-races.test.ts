import { randomUUID } from 'node:crypto'
import { openPatiently } from '@agentgym/testkit/databases'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { useLicense } from '../entitlements/entitlements.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { auditMarket } from './audit-market.ts'
import { refundOrder } from './refunds.ts'
import {
  buy,
  codeOf,
  createOrganization,
  createTokenActor,
  createTrader,
  fund,
  holdings,
  type Listed,
  listPackage,
  setListPrice,
} from './testing/marketplace.ts'

const many = 200

// PGlite has one connection, so there nothing ever happens at once.
describe('concurrently, on PostgreSQL', () => {
  let database: Database
  let services: TestServices
  /** Each with connections of its own, so that more really happens at once. */
  let replicas: TestServices[]
  let seller: Actor
  let packages: Listed[]

  beforeAll(async () => {
    const url = await createPostgresqlDatabase()
    replicas = await Promise.all([1, 2, 3, 4].map(async () => testServices(await openPatiently({ url }))))
    services = replicas[0]
    database = services.database
    seller = await createTrader(database, 'seller')
    packages = []
    for (let index = 0; index < many; index++) packages.push(await newPackage(500))
  })
  afterAll(async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
    for (const replica of replicas) {
      await replica.remove()
      await replica.database.close()
    }
  })

  const newPackage = (amountMinor: number): Promise<Listed> =>
    listPackage(database, {
      ...{ ownerId: seller.accountId, owner: seller.username, price: { kind: 'one_time' as const, amountMinor } },
    })

  const buyer = async (funds: number): Promise<Actor> => {
    const actor = await createTrader(database, 'buyer')
    await fund(database, actor.accountId, funds)
    return actor
  }

  const at = (index: number): TestServices => replicas[index % replicas.length]

  const counted = (outcomes: string[]) =>
    Object.fromEntries([...new Set(outcomes)].map((one) => [one, outcomes.filter((other) => other === one).length]))

  const refund = (actor: Actor, id: string, amount?: number, key: string = randomUUID()) =>
    refundOrder(services, {
      actor,
      id,
      request: { amount_minor: amount, reason: 'asked' },
      idempotencyKey: key,
      ip: null,
    })

  it(`${many} identical orders with one key: one charge and the same response`, async () => {
    const actor = await buyer(100_000)
    const key = randomUUID()
    const answers = await Promise.all(packages.map((_, index) => buy(at(index), actor, packages[0], { key })))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toMatchObject({ status: 201, order: { state: 'paid' } })
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 99_500 })
  })

  it(`${many} identical orders with different keys: one charge, and its order for all`, async () => {
    const actor = await buyer(100_000)
    const answers = await Promise.all(packages.map((_, index) => buy(at(index), actor, packages[0])))
    expect(new Set(answers.map(({ order }) => order.id)).size).toBe(1)
    expect(counted(answers.map(({ status }) => String(status)))).toEqual({ 201: 1, 200: many - 1 })
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 99_500 })
  })

  it(`${many} orders with funds for one: one succeeds, the others are refused with a reason`, async () => {
    const actor = await buyer(999)
    const outcomes = await Promise.all(packages.map((listed, index) => codeOf(buy(at(index), actor, listed))))
    expect(counted(outcomes)).toEqual({ done: 1, insufficient_funds: many - 1 })
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 499 })
  })

  it('never exceeds a cap of the account, or of a token that buys for two accounts', async () => {
    const actor = await buyer(100_000)
    const token = await createTokenActor(database, actor)
    const team = await createOrganization(database, { [actor.accountId]: 'owner' })
    await fund(database, team.id, 100_000)
    const cap = { period: 'day', set_by: actor.accountId } as const
    await database.query
      .insertInto('spend_caps')
      .values([
        { ...cap, account_id: actor.accountId, token_id: null, amount_minor: 5_000 },
        { ...cap, account_id: actor.accountId, token_id: token.tokenId, amount_minor: 7_600 },
      ])
      .execute()
    const accounts = [undefined, team.username]
    const outcomes = await Promise.all(
      packages
        .slice(0, 60)
        .flatMap((listed, index) => accounts.map((account) => codeOf(buy(at(index), token, listed, { account })))),
    )
    expect(counted(outcomes)).toEqual({ done: 15, spend_cap_exceeded: 105 })
    const spent =
      200_000 - (await holdings(database, actor.accountId)).balance - (await holdings(database, team.id)).balance
    expect(spent).toBe(7_500)
    expect(100_000 - (await holdings(database, actor.accountId)).balance).toBeLessThanOrEqual(5_000)
  })

  it('never charges a price that differs from the one shown', async () => {
    const listed = await newPackage(400)
    const shown = { id: listed.priceId ?? '', amount_minor: 400 }
    const buyers = await Promise.all(Array.from({ length: 60 }, () => buyer(10_000)))
    const [outcomes] = await Promise.all([
      Promise.all(buyers.map((actor) => codeOf(buy(services, actor, listed, { expected_price: shown })))),
      setListPrice(database, listed, { kind: 'one_time', amountMinor: 9_000 }),
    ])
    const { done = 0, price_changed: changed = 0 } = counted(outcomes)
    expect(done + changed).toBe(60)
    const totals = await database.query
      .selectFrom('orders')
      .select('total_minor')
      .where('package_id', '=', listed.id)
      .execute()
    expect(totals).toEqual(Array.from({ length: done }, () => ({ total_minor: 400 })))
    expect(await codeOf(buy(services, await buyer(10_000), listed, { expected_price: shown }))).toBe('price_changed')
  })

  it('concurrent refunds never exceed the payment', async () => {
    const actor = await buyer(500)
    const { order } = await buy(services, actor, packages[0])
    const parts = await Promise.all(Array.from({ length: 50 }, () => codeOf(refund(seller, order.id, 30))))
    expect(counted(parts)).toEqual({ done: 16, refund_exceeds: 34 })
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 480 })
    const whole = await Promise.all(Array.from({ length: 50 }, () => codeOf(refund(seller, order.id))))
    expect(counted(whole)).toEqual({ done: 1, order_state_conflict: 49 })
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 500 })
  })

  it('a concurrently repeated refund counts once', async () => {
    const actor = await buyer(500)
    const { order } = await buy(services, actor, packages[0])
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 50 }, () => refund(seller, order.id, 100, key)))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 100 })
  })

  it('grants either the download or the refund when both are requested concurrently', async () => {
    const actor = await buyer(100_000)
    for (const listed of packages.slice(0, 30)) {
      const { order } = await buy(services, actor, listed)
      const [used, given] = await Promise.all([useLicense(database.query, order.id), codeOf(refund(actor, order.id))])
      expect([used, given]).toEqual(used ? [true, 'refund_refused'] : [false, 'done'])
    }
  })

  it('does not deadlock when users buy from each other', async () => {
    const traders = await Promise.all(Array.from({ length: 6 }, () => buyer(100_000)))
    const shops = await Promise.all(
      traders.flatMap(({ accountId, username }) =>
        [1, 2, 3].map(() =>
          listPackage(database, { ownerId: accountId, owner: username, price: { kind: 'one_time', amountMinor: 700 } }),
        ),
      ),
    )
    const purchases = traders.flatMap((actor) =>
      shops.filter(({ ownerId }) => ownerId !== actor.accountId).map((listed) => ({ actor, listed })),
    )
    const outcomes = await Promise.all(
      purchases.map(({ actor, listed }, index) => codeOf(buy(at(index), actor, listed))),
    )
    expect(counted(outcomes)).toEqual({ done: purchases.length })
  })
})
