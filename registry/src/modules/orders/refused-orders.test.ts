import { describeOnEngines } from '@agentgym/testkit/databases'
import type { TestServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import {
  buy,
  codeOf,
  createOrganization,
  createTokenActor,
  fund,
  holdings,
  type Listed,
  listPackage,
  openShop,
  type Shop,
} from './testing/marketplace.ts'

const oneTime = (amountMinor: number) => ({ kind: 'one_time' as const, amountMinor })

describeOnEngines('who may buy what on $kind', ({ open }) => {
  let database: Database
  let shop: Shop
  let services: TestServices
  let seller: Actor
  let agent: Listed

  beforeAll(async () => {
    database = await open()
    shop = await openShop(database)
    ;({ services, seller } = shop)
    agent = await list(oneTime(1_999), { kind: 'agent', scenario: shop.scenario })
  })
  afterAll(() => shop.close())

  const list: Shop['list'] = (...given) => shop.list(...given)
  const buyer = (funds: number) => shop.buyer(funds)

  it('is refused for private, unpublished, yanked, taken-down and per-run packages', async () => {
    const actor = await buyer(10_000)
    expect(await codeOf(buy(services, actor, { name: '@nobody/nothing' }))).toBe('package_not_found')
    expect(await codeOf(buy(services, actor, { name: 'no name' }))).toBe('package_not_found')
    expect(await codeOf(buy(services, actor, agent, { range: '9' }))).toBe('version_not_found')
    const hidden = await list(oneTime(500))
    await database.query.updateTable('packages').set({ visibility: 'private' }).where('id', '=', hidden.id).execute()
    expect(await codeOf(buy(services, actor, hidden))).toBe('package_not_found')
    const yanked = await list(oneTime(500))
    await database.query
      .updateTable('versions')
      .set({ yanked_at: new Date() })
      .where('package_id', '=', yanked.id)
      .execute()
    expect(await codeOf(buy(services, actor, yanked, { range: '1.0.0' }))).toBe('version_yanked')
    expect(await codeOf(buy(services, actor, yanked, { range: '^1' }))).toBe('version_not_found')
    const down = await list(oneTime(500))
    await database.query
      .updateTable('packages')
      .set({ taken_down_at: new Date(), taken_down_reason: 'stolen' })
      .where('id', '=', down.id)
      .execute()
    expect(await codeOf(buy(services, actor, down))).toBe('package_taken_down')
    expect(await codeOf(buy(services, actor, await list({ kind: 'per_run', amountMinor: 50 })))).toBe('not_for_sale')
    expect(await holdings(database, actor.accountId)).toEqual({ balance: 10_000 })
  })

  it('is refused for the seller, its members and its organizations', async () => {
    await fund(database, seller.accountId, 5_000)
    expect(await codeOf(buy(services, seller, agent))).toBe('self_purchase')
    const friend = await buyer(5_000)
    const shop = await createOrganization(database, { [seller.accountId]: 'owner', [friend.accountId]: 'viewer' })
    const sold = await listPackage(database, { ownerId: shop.id, owner: shop.username, price: oneTime(500) })
    expect(await codeOf(buy(services, seller, sold))).toBe('self_purchase')
    expect(await codeOf(buy(services, friend, sold))).toBe('self_purchase')
    // An organization that the seller controls, regardless of who places the order.
    const partner = await createOrganization(database, { [seller.accountId]: 'admin', [friend.accountId]: 'member' })
    await fund(database, partner.id, 5_000)
    expect(await codeOf(buy(services, friend, agent, { account: partner.username }))).toBe('self_purchase')
    const stranger = await buyer(0)
    const other = await createOrganization(database, { [stranger.accountId]: 'owner', [seller.accountId]: 'admin' })
    await fund(database, other.id, 5_000)
    expect(await codeOf(buy(services, stranger, sold, { account: other.username }))).toBe('self_purchase')
  })

  it('an organization buys with its own balance, through members but not viewers or others', async () => {
    const [owner, member, viewer, stranger] = [await buyer(0), await buyer(0), await buyer(0), await buyer(0)]
    const team = await createOrganization(database, {
      ...{ [owner.accountId]: 'owner', [member.accountId]: 'member', [viewer.accountId]: 'viewer' },
    })
    await fund(database, team.id, 2_500)
    const account = team.username
    expect(await codeOf(buy(services, viewer, agent, { account }))).toBe('forbidden')
    expect(await codeOf(buy(services, stranger, agent, { account }))).toBe('forbidden')
    expect(await codeOf(buy(services, member, agent, { account: 'no-such-account' }))).toBe('account_not_found')
    const { order } = await buy(services, member, agent, { account })
    expect([order.buyer, order.placed_by]).toEqual([team.username, member.username])
    expect(await holdings(database, team.id)).toEqual({ balance: 501 })
    expect((await buy(services, owner, agent, { account })).order).toEqual(order)
    // Their own license is another one.
    expect(await codeOf(buy(services, member, agent))).toBe('insufficient_funds')
  })

  it('a token needs the scope market:buy', async () => {
    const actor = await buyer(5_000)
    const token = await createTokenActor(database, actor)
    const narrow = { ...token, scopes: new Set([...token.scopes].filter((scope) => scope !== 'market:buy')) }
    expect(await codeOf(buy(services, narrow, agent))).toBe('forbidden')
    expect(await codeOf(buy(services, null as unknown as Actor, agent))).toBe('unauthenticated')
    const { order } = await buy(services, token, agent)
    const row = await database.query
      .selectFrom('orders')
      .select('token_id')
      .where('id', '=', order.id)
      .executeTakeFirst()
    expect(row?.token_id).toBe(token.tokenId)
  })
})
