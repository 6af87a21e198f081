import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, Scope } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { createToken } from '../accounts/tokens.store.ts'
import { orderRoutes } from './orders.routes.ts'
import {
  buy,
  createOrganization,
  createTrader,
  fund,
  holdings,
  type Listed,
  listPackage,
} from './testing/marketplace.ts'

type Answer = {
  status: number
  code?: string
  body: Record<string, unknown> & { orders?: { id: string }[]; entitlements?: { order: string }[] }
}

describeOnEngines('the routes of orders on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let app: ServedApp
  const people: Record<string, Actor> = {}
  let team: { id: string; username: string }
  let shop: { id: string; username: string }
  let listed: Listed
  let order: string

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    app = await serveApp(database, [orderRoutes(services)])
    for (const name of ['buyer', 'member', 'viewer', 'admin', 'clerk', 'author', 'stranger', 'operator'])
      people[name] = await createTrader(database, name)
    await database.query
      .updateTable('accounts')
      .set({ operator: true })
      .where('id', '=', people.operator.accountId)
      .execute()
    team = await createOrganization(database, {
      ...{
        [people.buyer.accountId]: 'owner',
        [people.member.accountId]: 'member',
        [people.viewer.accountId]: 'viewer',
      },
    })
    shop = await createOrganization(database, { [people.admin.accountId]: 'admin', [people.clerk.accountId]: 'member' })
    const scenario = await listPackage(database, {
      ...{ ownerId: people.author.accountId, owner: people.author.username, royaltyBasisPoints: 500 },
    })
    const price = { kind: 'one_time' as const, amountMinor: 500 }
    listed = await listPackage(database, { ownerId: shop.id, owner: shop.username, kind: 'agent', scenario, price })
    await fund(database, team.id, 10_000)
    order = (await buy(services, people.buyer, listed, { account: team.username })).order.id
  })
  afterAll(async () => {
    await app.close()
    await services.remove()
    await database.close()
  })

  const tokenOf = async ({ accountId }: Actor, scopes: Scope[] = ['market:buy', 'market:sell']) =>
    (await createToken(database.query, { accountId, name: 'test', scopes, expiresAt: null })).token

  const ask = async (
    actor: Actor | null,
    method: string,
    path: string,
    { body, key, scopes }: { body?: unknown; key?: string; scopes?: Scope[] } = {},
  ): Promise<Answer> => {
    const headers: Record<string, string> = {}
    if (actor !== null) headers.authorization = `Bearer ${await tokenOf(actor, scopes)}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (key !== undefined) headers['idempotency-key'] = key
    const response = await fetch(app.url + path, { method, headers, body: JSON.stringify(body) })
    const parsed = (await response.json()) as Answer['body'] & { error?: { code: string } }
    return { status: response.status, code: parsed.error?.code, body: parsed }
  }

  it('an order is placed once per key, and the header is required', async () => {
    const actor = await createTrader(database, 'shopper')
    await fund(database, actor.accountId, 600)
    const body = { package: listed.name, expected_price: { id: listed.priceId, amount_minor: 500 } }
    const keyless = await ask(actor, 'POST', '/v1/orders', { body })
    expect([keyless.status, keyless.code]).toEqual([422, 'request_invalid'])
    expect(keyless.body).toMatchObject({ error: { data: { field: 'idempotency-key', in: 'header' } } })
    const key = randomUUID()
    const first = await ask(actor, 'POST', '/v1/orders', { body, key })
    expect([first.status, first.body.state]).toEqual([201, 'paid'])
    expect(await ask(actor, 'POST', '/v1/orders', { body, key })).toEqual(first)
    expect((await ask(actor, 'POST', '/v1/orders', { body, key: randomUUID() })).status).toBe(200)
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 100 })
    const other = await ask(actor, 'POST', '/v1/orders', { body: { ...body, range: '1.0.0' }, key })
    expect([other.status, other.code]).toEqual([409, 'idempotency_key_reused'])
    const poor = await ask(await createTrader(database), 'POST', '/v1/orders', { body, key: randomUUID() })
    expect([poor.status, poor.code]).toEqual([402, 'insufficient_funds'])
    for (const wrong of [{ ...body, expected_price: { amount_minor: -1 } }, { ...body, price: 1 }, { package: 7 }]) {
      const { status } = await ask(actor, 'POST', '/v1/orders', { body: wrong, key: randomUUID() })
      expect(status).toBe(422)
    }
  })

  it('an order is visible to buyer, seller and operators only', async () => {
    const seen: Record<string, unknown> = {}
    for (const [name, actor] of Object.entries(people)) {
      const { status, code } = await ask(actor, 'GET', `/v1/orders/${order}`)
      seen[name] = code ?? status
    }
    expect(seen).toEqual({
      ...{ buyer: 200, member: 200, viewer: 'order_not_found', admin: 200, clerk: 'order_not_found' },
      ...{ author: 'order_not_found', stranger: 'order_not_found', operator: 200 },
    })
    const there = await ask(people.stranger, 'GET', `/v1/orders/${order}`)
    const nowhere = await ask(people.stranger, 'GET', `/v1/orders/${randomUUID()}`)
    const withoutId = ({ body }: Answer) => JSON.stringify(body).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    expect([there.status, withoutId(there)]).toEqual([nowhere.status, withoutId(nowhere)])
    expect((await ask(null, 'GET', `/v1/orders/${order}`)).code).toBe('unauthenticated')
    for (const id of [order, randomUUID()]) {
      const answer = await ask(people.buyer, 'GET', `/v1/orders/${id}`, {
        scopes: ['packages:manage', 'account:manage'],
      })
      expect(answer.code).toBe('forbidden')
    }
  })

  it.each(['cancel', 'refunds'])('POST …/%s reveals nothing to others', async (what) => {
    const given = what === 'refunds' ? { body: { reason: 'give it' }, key: randomUUID() } : {}
    for (const name of ['viewer', 'clerk', 'author', 'stranger'])
      for (const id of [order, randomUUID()]) {
        const { code } = await ask(people[name], 'POST', `/v1/orders/${id}/${what}`, given)
        expect([name, code]).toEqual([name, 'order_not_found'])
      }
    expect((await ask(null, 'POST', `/v1/orders/${order}/${what}`, given)).code).toBe('unauthenticated')
  })

  it('lists contain the user’s own purchases, sales and licenses', async () => {
    const lists: Record<string, unknown[]> = {}
    for (const [name, actor] of Object.entries(people)) {
      const purchases = (await ask(actor, 'GET', '/v1/orders')).body.orders ?? []
      const sales = (await ask(actor, 'GET', '/v1/orders?role=sales')).body.orders ?? []
      const licenses = (await ask(actor, 'GET', '/v1/entitlements')).body.entitlements ?? []
      lists[name] = [
        ...[purchases, sales].map((orders) => orders.some(({ id }) => id === order)),
        licenses.some((license) => license.order === order),
      ]
    }
    expect(lists).toEqual({
      ...{ buyer: [true, false, true], member: [true, false, true], viewer: [false, false, true] },
      ...{ admin: [false, true, false], clerk: [false, false, false], author: [false, false, false] },
      ...{ stranger: [false, false, false], operator: [false, false, false] },
    })
  })

  it('a list for another account is refused', async () => {
    const list = async (actor: Actor, path: string) => {
      const { status, code } = await ask(actor, 'GET', path)
      return code ?? status
    }
    expect(await list(people.member, `/v1/orders?account=${team.username}`)).toBe(200)
    expect(await list(people.viewer, `/v1/orders?account=${team.username}`)).toBe('forbidden')
    expect(await list(people.viewer, `/v1/entitlements?account=${team.username}`)).toBe(200)
    expect(await list(people.stranger, `/v1/entitlements?account=${team.username}`)).toBe('forbidden')
    expect(await list(people.admin, `/v1/orders?role=sales&account=${shop.username}`)).toBe(200)
    expect(await list(people.clerk, `/v1/orders?role=sales&account=${shop.username}`)).toBe('forbidden')
    expect(await list(people.operator, `/v1/orders?account=${team.username}`)).toBe('forbidden')
    expect(await list(people.stranger, '/v1/orders?account=nobody-at-all')).toBe('account_not_found')
  })

  it('pages contain every order once, newest first; a cursor is valid only for its list', async () => {
    const actor = await createTrader(database, 'collector')
    const bought: string[] = []
    for (let index = 0; index < 5; index++)
      bought.unshift(
        (await buy(services, actor, await listPackage(database, { ownerId: shop.id, owner: shop.username }))).order.id,
      )
    const seen: string[] = []
    let cursor: string | null = ''
    let last = ''
    while (cursor !== null) {
      const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { body } = await ask(actor, 'GET', `/v1/orders?limit=2${query}`)
      seen.push(...(body.orders ?? []).map(({ id }) => id))
      last = cursor === '' ? last : cursor
      cursor = body.next_cursor as string | null
    }
    expect(seen).toHaveLength(5)
    expect(new Set(seen)).toEqual(new Set(bought))
    for (const [asking, path] of [
      [actor, `/v1/entitlements?limit=2&cursor=${encodeURIComponent(last)}`],
      [actor, `/v1/orders?state=paid&cursor=${encodeURIComponent(last)}`],
      [people.stranger, `/v1/orders?limit=2&cursor=${encodeURIComponent(last)}`],
      [actor, '/v1/orders?cursor=made-up'],
    ] as const)
      expect((await ask(asking, 'GET', path)).code).toBe('request_invalid')
    expect((await ask(actor, 'GET', `/v1/orders?package=${encodeURIComponent(listed.name)}`)).body.orders).toEqual([])
    expect((await ask(actor, 'GET', '/v1/orders?state=refunded')).body.orders).toEqual([])
  })

  it('a refund needs a key and the right scope, and reports what is left', async () => {
    const path = `/v1/orders/${order}/refunds`
    const body = { amount_minor: 100, reason: 'a discount that was promised' }
    expect((await ask(people.admin, 'POST', path, { body })).code).toBe('request_invalid')
    expect((await ask(people.admin, 'POST', path, { body, key: randomUUID(), scopes: ['market:buy'] })).code).toBe(
      'forbidden',
    )
    const key = randomUUID()
    const first = await ask(people.admin, 'POST', path, { body, key })
    expect(first.body).toMatchObject({
      state: 'paid',
      refunded_minor: 100,
      refunds: [{ amount_minor: 100, by: people.admin.username }],
    })
    expect(await ask(people.admin, 'POST', path, { body, key })).toEqual(first)
    const part = await ask(people.member, 'POST', path, { body, key: randomUUID() })
    expect(part.code).toBe('refund_refused')
    const rest = await ask(people.member, 'POST', path, { body: { reason: 'not for us' }, key: randomUUID() })
    expect(rest.body).toMatchObject({ state: 'refunded', refunded_minor: 500 })
    expect((await ask(people.viewer, 'GET', '/v1/entitlements')).body.entitlements).toEqual([])
  })
})
