import { randomUUID } from 'node:crypto'
import type { SpendCap } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type Asking, serveRoutes } from '@agentgym/testkit/registry'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { accountRoutes } from '../accounts/accounts.routes.ts'
import { spendCapRoutes } from './spend-caps.routes.ts'
import { setSpendCap, spendCapsOf } from './spend-caps.ts'
import {
  buy,
  codeOf,
  createOrganization,
  createTokenActor,
  createTrader,
  fund,
  listPackage,
} from './testing/marketplace.ts'

describeOnEngines('spend caps on $kind', ({ open }) => {
  let database: Database
  let asking: Asking
  let seller: Actor

  beforeAll(async () => {
    database = await open()
    asking = await serveRoutes(database, (services) => [spendCapRoutes(services), accountRoutes(services)])
    seller = await createTrader(database, 'seller')
  })
  afterAll(async () => {
    await asking.close()
    await database.close()
  })

  const buyer = async (): Promise<Actor> => {
    const actor = await createTrader(database, 'buyer')
    await fund(database, actor.accountId, 100_000)
    return actor
  }

  const purchase = async (actor: Actor, amountMinor: number, account?: string) =>
    buy(
      asking.services,
      actor,
      await listPackage(database, {
        ownerId: seller.accountId,
        owner: seller.username,
        price: { kind: 'one_time', amountMinor },
      }),
      { account },
    )

  const cap = (
    actor: Actor,
    period: SpendCap['period'],
    amount: number,
    more: { token_id?: string; account?: string } = {},
  ) => setSpendCap(asking.services, { actor, ip: null, request: { period, amount_minor: amount, ...more } })

  it('limits an account’s spending per period, reports what is left, and allows free packages', async () => {
    const actor = await buyer()
    await purchase(actor, 300)
    const set = await cap(actor, 'day', 1_000)
    expect(set).toMatchObject({
      account: actor.username,
      token: null,
      period: 'day',
      amount_minor: 1_000,
      spent_minor: 300,
    })
    await purchase(actor, 700)
    await expect(purchase(actor, 1)).rejects.toMatchObject({
      code: 'spend_cap_exceeded',
      data: { cap: set.id, of: 'account', period: 'day', cap_minor: 1_000, left_minor: 0, needed_minor: 1 },
    })
    const { id: free } = await listPackage(database, { ownerId: seller.accountId, owner: seller.username })
    const { name } = await database.query
      .selectFrom('packages')
      .select('name')
      .where('id', '=', free)
      .executeTakeFirstOrThrow()
    expect((await buy(asking.services, actor, { name })).order.state).toBe('paid')
    // Raised, it is the same cap.
    expect((await cap(actor, 'day', 1_001)).id).toBe(set.id)
    expect((await purchase(actor, 1)).status).toBe(201)
  })

  it('does not count past periods, except for the lifetime cap', async () => {
    const actor = await buyer()
    await purchase(actor, 500)
    const longAgo = new Date(Date.now() - 40 * 86_400_000)
    await database.query
      .updateTable('orders')
      .set({ created_at: longAgo } as never)
      .where('buyer_id', '=', actor.accountId)
      .execute()
    await cap(actor, 'day', 600)
    await cap(actor, 'month', 700)
    await purchase(actor, 600)
    expect(await codeOf(purchase(actor, 1))).toBe('spend_cap_exceeded')
    const { caps } = await spendCapsOf(asking.services, { actor, account: undefined })
    expect(caps.map(({ period, spent_minor }) => [period, spent_minor])).toEqual([
      ['day', 600],
      ['month', 600],
    ])
    const everything = await cap(actor, 'total', 1_150)
    expect(everything.spent_minor).toBe(1_100)
  })

  it('counts unpaid orders, not canceled or expired ones, and ignores refunds', async () => {
    const actor = await buyer()
    const { order } = await purchase(actor, 400)
    await cap(actor, 'total', 1_000)
    const states = [
      { state: 'awaiting_payment', expires_at: new Date(Date.now() + 60_000) },
      { state: 'awaiting_payment', expires_at: new Date(Date.now() - 1) },
      { state: 'cancelled', ended_at: new Date() },
      { state: 'expired', ended_at: new Date() },
    ] as const
    const like = await database.query
      .selectFrom('orders')
      .selectAll()
      .where('id', '=', order.id)
      .executeTakeFirstOrThrow()
    for (const state of states)
      await database.query
        .insertInto('orders')
        .values({ ...like, id: randomUUID(), paid_at: null, created_at: new Date(), pay_with: 'provider', ...state })
        .execute()
    const { caps } = await spendCapsOf(asking.services, { actor, account: undefined })
    expect(caps[0].spent_minor).toBe(800)
    expect(await codeOf(purchase(actor, 201))).toBe('spend_cap_exceeded')
  })

  it('a token has its own limit across accounts, in addition to the account’s', async () => {
    const actor = await buyer()
    const token = await createTokenActor(database, actor)
    const team = await createOrganization(database, { [actor.accountId]: 'owner' })
    await fund(database, team.id, 100_000)
    const set = await cap(actor, 'month', 1_000, { token_id: token.tokenId })
    expect(set).toMatchObject({ token: { id: token.tokenId, name: 'card' }, spent_minor: 0 })
    await purchase(token, 600)
    await purchase(token, 300, team.username)
    await expect(purchase(token, 101)).rejects.toMatchObject({ data: { of: 'token', left_minor: 100 } })
    // It does not apply to other members of the account.
    expect((await purchase(actor, 5_000)).status).toBe(201)
    await cap(actor, 'total', 5_600)
    expect(await codeOf(purchase(token, 50))).toBe('spend_cap_exceeded')
  })

  it('a token with a cap can neither change caps nor create tokens', async () => {
    const actor = await buyer()
    const card = await asking.tokenOf(actor, 'market:buy', 'account:manage')
    const { id } = await database.query
      .selectFrom('tokens')
      .select('id')
      .where('account_id', '=', actor.accountId)
      .executeTakeFirstOrThrow()
    const free = await asking.tokenOf(actor, 'market:buy', 'account:manage')
    const limit = { token_id: id, period: 'total', amount_minor: 100 }
    const set = await asking.ask(free, 'PUT', '/v1/spend-caps', limit)
    expect([set.status, set.body.amount_minor]).toEqual([200, 100])
    const attempts = [
      ['PUT', '/v1/spend-caps', { ...limit, amount_minor: 1_000_000 }],
      ['PUT', '/v1/spend-caps', { ...limit, period: 'day', amount_minor: 1 }],
      ['PUT', '/v1/spend-caps', { period: 'total', amount_minor: 1 }],
      ['DELETE', `/v1/spend-caps/${set.body.id}`, undefined],
      ['POST', '/v1/tokens', { name: 'way out', scopes: ['market:buy'] }],
    ] as const
    for (const [method, path, body] of attempts) {
      const answer = await asking.ask(card, method, path, body)
      expect([method, path, answer.status, answer.code]).toEqual([method, path, 403, 'forbidden'])
    }
    expect((await asking.ask(free, 'POST', '/v1/tokens', { name: 'another', scopes: ['market:buy'] })).status).toBe(201)
    expect((await asking.ask(card, 'GET', '/v1/spend-caps')).body.caps).toHaveLength(1)
    expect((await asking.ask(free, 'DELETE', `/v1/spend-caps/${set.body.id}`)).status).toBe(204)
  })

  it('a token with only the buy scope cannot change caps', async () => {
    const actor = await buyer()
    const buysOnly = await asking.tokenOf(actor, 'market:buy')
    const { status, code } = await asking.ask(buysOnly, 'PUT', '/v1/spend-caps', { period: 'day', amount_minor: 1 })
    expect([status, code]).toEqual([403, 'forbidden'])
  })

  it('others’ caps are not visible; admins manage an organization’s caps', async () => {
    const [owner, admin, member, stranger] = [await buyer(), await buyer(), await buyer(), await buyer()]
    const team = await createOrganization(database, {
      ...{ [owner.accountId]: 'owner', [admin.accountId]: 'admin', [member.accountId]: 'member' },
    })
    const account = team.username
    const { id } = await cap(admin, 'day', 100, { account })
    expect(await codeOf(cap(member, 'day', 1_000, { account }))).toBe('forbidden')
    expect(await codeOf(cap(stranger, 'day', 1_000, { account }))).toBe('forbidden')
    const ask = async (actor: Actor, method: string, path: string) => {
      const { status, code } = await asking.ask(
        await asking.tokenOf(actor, 'account:manage', 'market:buy'),
        method,
        path,
      )
      return [status, code]
    }
    expect(await ask(member, 'GET', `/v1/spend-caps?account=${account}`)).toEqual([200, undefined])
    expect(await ask(stranger, 'GET', `/v1/spend-caps?account=${account}`)).toEqual([403, 'forbidden'])
    for (const actor of [member, stranger]) {
      expect(await ask(actor, 'DELETE', `/v1/spend-caps/${id}`)).toEqual([404, 'spend_cap_not_found'])
      expect(await ask(actor, 'DELETE', `/v1/spend-caps/${randomUUID()}`)).toEqual([404, 'spend_cap_not_found'])
    }
    expect(await ask(owner, 'DELETE', `/v1/spend-caps/${id}`)).toEqual([204, undefined])
  })

  it('a cap can only be set on the user’s own tokens', async () => {
    const [actor, other] = [await buyer(), await buyer()]
    const { tokenId } = await createTokenActor(database, other)
    expect(await codeOf(cap(actor, 'day', 100, { token_id: tokenId }))).toBe('token_not_found')
    expect(await codeOf(cap(actor, 'day', 100, { token_id: randomUUID() }))).toBe('token_not_found')
    const team = await createOrganization(database, { [actor.accountId]: 'owner' })
    const own = await createTokenActor(database, actor)
    expect(await codeOf(cap(actor, 'day', 100, { token_id: own.tokenId, account: team.username }))).toBe(
      'token_not_found',
    )
  })
})
