// @module-tag full
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Order } from '@agentgym/contract'
import { type Fleet, startFleet } from '@agentgym/testkit/fleet'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor, Scope } from '../../registry/src/core/access/authorize.ts'
import type { Database } from '../../registry/src/core/database/database.ts'
import { openDatabase } from '../../registry/src/core/database/open-database.ts'
import { createToken } from '../../registry/src/modules/accounts/tokens.store.ts'
import { auditLedger } from '../../registry/src/modules/ledger/audit-ledger.ts'
import { auditMarket } from '../../registry/src/modules/orders/audit-market.ts'
import {
  createTrader,
  fund,
  holdings,
  type Listed,
  listPackage,
} from '../../registry/src/modules/orders/testing/marketplace.ts'

const kills = isLong ? 100 : 2
const lanes = 4
const price = 250
/** More than a lane can buy in a round. */
const packagesALane = 60

/** What a lane asked for: a purchase, and perhaps its refund; the answers are null where none came. */
type PurchaseRequest = {
  listed: Listed
  key: string
  refundKey: string | null
  order: Order | null
  refunded: Order | null
}
type Lane = { buyer: Actor; token: string; requests: PurchaseRequest[] }

describe('kill -9 of the server during purchases, on PostgreSQL', () => {
  let fleet: Fleet
  let database: Database
  let seller: Actor
  let sellerToken: string
  let listed: Listed[]

  beforeAll(async () => {
    const databaseUrl = await createPostgresqlDatabase()
    database = await openDatabase({ url: databaseUrl })
    fleet = await startFleet({ databaseUrl })
    seller = await createTrader(database, 'seller')
    sellerToken = await tokenOf(seller, ['market:sell'])
    const own = { ownerId: seller.accountId, owner: seller.username }
    listed = []
    for (let index = 0; index < packagesALane; index++)
      listed.push(await listPackage(database, { ...own, price: { kind: 'one_time', amountMinor: price } }))
  }, 120_000)
  afterAll(async () => {
    await fleet.close()
    await database.close()
  })

  const tokenOf = async ({ accountId }: Actor, scopes: Scope[]) =>
    (await createToken(database.query, { accountId, name: 'test', scopes, expiresAt: null })).token

  const openLane = async (): Promise<Lane> => {
    const buyer = await createTrader(database, 'buyer')
    await fund(database, buyer.accountId, packagesALane * price)
    return { buyer, token: await tokenOf(buyer, ['market:buy']), requests: [] }
  }

  /** Null where no answer came: the server is gone. */
  const post = async (path: string, token: string, key: string, body: unknown): Promise<Order | null> => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': key }
    const response = await fetch(fleet.url + path, { method: 'POST', headers, body: JSON.stringify(body) }).catch(
      () => null,
    )
    const text = await response?.text().catch(() => null)
    if (response === null || text == null) return null
    expect([response.status, text]).toEqual([expect.toBeOneOf([200, 201]), text])
    return JSON.parse(text)
  }

  const ask = async ({ token }: Lane, request: PurchaseRequest): Promise<boolean> => {
    request.order = await post('/v1/orders', token, request.key, {
      package: request.listed.name,
      expected_price: { amount_minor: price },
    })
    if (request.order === null || request.refundKey === null) return request.order !== null
    const path = `/v1/orders/${request.order.id}/refunds`
    request.refunded = await post(path, sellerToken, request.refundKey, { reason: 'asked' })
    return request.refunded !== null
  }

  /** Buys one thing after the other, and gives every fourth back, until no answer comes. */
  const trade = async (lane: Lane): Promise<void> => {
    for (const [index, one] of listed.entries()) {
      const refundKey = index % 4 === 3 ? randomUUID() : null
      const request: PurchaseRequest = { listed: one, key: randomUUID(), refundKey, order: null, refunded: null }
      lane.requests.push(request)
      if (!(await ask(lane, request))) return
    }
  }

  /** Whatever was answered is there, whole, and there is nothing but what was asked for. */
  const holds = async (round: Lane[]) => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
    for (const { buyer, requests } of round) {
      const rows = await database.query
        .selectFrom('orders')
        .selectAll()
        .where('buyer_id', '=', buyer.accountId)
        .execute()
      const keys = await database.query
        .selectFrom('idempotency_keys')
        .select('key')
        .where('actor_id', '=', buyer.accountId)
        .execute()
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const { order, refunded } of requests) {
        if (order === null) continue
        const state = byId.get(order.id)?.state
        if (refunded !== null) expect(state).toBe('refunded')
        else expect(['paid', 'refunded']).toContain(state)
      }
      const [sent, given] = [
        new Set(requests.map(({ key }) => key)),
        requests.filter(({ order }) => order !== null).length,
      ]
      expect(keys.every(({ key }) => sent.has(key))).toBe(true)
      expect(rows).toHaveLength(keys.length)
      expect(rows.length - given, 'beside those answered, at most the one under way').toBeOneOf([0, 1])
      const spent = rows.reduce((sum, { total_minor, refunded_minor }) => sum + total_minor - refunded_minor, 0)
      expect((await holdings(database, buyer.accountId)).balance).toBe(packagesALane * price - spent)
    }
  }

  it(
    `${kills} times: acknowledged purchases are complete, there are no partial ones, and retries buy once`,
    async () => {
      let answered = 0
      for (let kill = 0; kill < kills; kill++) {
        const round = await Promise.all(Array.from({ length: lanes }, openLane))
        const trading = round.map(trade)
        // From the first answer on, so that it strikes during purchases however slow the machine is.
        while (!round.some(({ requests }) => requests.some(({ order }) => order !== null))) await delay(5)
        await delay(Math.random() * 600)
        await fleet.kill('server')
        await Promise.all(trading)
        await sessionsEnd()
        await holds(round)
        answered += round.reduce((sum, { requests }) => sum + requests.filter(({ order }) => order !== null).length, 0)
        await fleet.mend()
        for (const lane of round) for (const request of lane.requests) expect(await ask(lane, request)).toBe(true)
        await holds(round)
        for (const { requests } of round) {
          expect(new Set(requests.map(({ order }) => order?.id)).size).toBe(requests.length)
          expect(requests.every(({ refundKey, refunded }) => (refundKey === null) === (refunded === null))).toBe(true)
        }
      }
      console.log(`${kills} kills during ${answered} answered purchases`)
    },
    isLong ? 3_600_000 : 300_000,
  )

  /** What the killed server had under way has been undone, or is through: PostgreSQL notices by itself. */
  const sessionsEnd = async () => {
    for (;;) {
      const { rows } = await database.execute(
        `select count(*)::int as open from pg_stat_activity where datname = current_database()
          and pid <> pg_backend_pid() and (state <> 'idle' or xact_start is not null)`,
      )
      if (rows[0].open === 0) return
      await delay(20)
    }
  }
})
