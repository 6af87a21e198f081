import type { EventData, PricePage, SetPriceRequest } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { heldPrice } from '../entitlements/prices.store.ts'
import { buy, codeOf, createOrganization, createTrader, fund, listPackage } from '../orders/testing/marketplace.ts'
import { pricePage } from './price-page.ts'
import { takeEffect } from './prices.tasks.ts'
import { setPrice } from './set-price.ts'

const dayMs = 86_400_000

describeOnEngines('prices on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let seller: Actor

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    seller = await createTrader(database, 'seller')
  })
  afterAll(async () => {
    await services.remove()
    await database.close()
  })

  const list = (kind: 'scenario' | 'agent' = 'scenario') =>
    listPackage(database, { ownerId: seller.accountId, owner: seller.username, kind })
  const set = (name: string, request: SetPriceRequest, actor: Actor | null = seller): Promise<PricePage> =>
    setPrice(services, { actor, name, ip: null }, request)
  const oneTime = (amount_minor: number, more: Partial<SetPriceRequest> = {}): SetPriceRequest => ({
    ...{ kind: 'one_time', amount_minor },
    ...more,
  })
  /** A user has installed it, so price increases need notice. */
  const rely = async ({ id }: { id: string }) => {
    await database.query.updateTable('packages').set({ downloads: 1 }).where('id', '=', id).execute()
  }
  const shown = ({ id }: { id: string }) =>
    database.query
      .selectFrom('packages')
      .select(['price_kind', 'price_minor'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  const daysAway = (page: PricePage) =>
    page.upcoming && Math.round((Date.parse(page.upcoming.effective_at) - Date.now()) / dayMs)

  it('a package is free by default, and an unused one is priced immediately', async () => {
    const listed = await list()
    const before = await pricePage(services, null, listed.name)
    expect(before).toMatchObject({
      current: { id: listed.id, kind: 'free', amount_minor: 0, currency: 'USD' },
      ...{ upcoming: null, history: [], royalty_basis_points: 0, trial_calls: 0, terms: '', upcoming_terms: null },
    })
    const priced = await set(listed.name, oneTime(500, { terms: 'For one team.' }))
    expect(priced).toMatchObject({
      current: { kind: 'one_time', amount_minor: 500, currency: 'USD' },
      ...{ upcoming: null, terms: 'For one team.' },
    })
    expect(await shown(listed)).toEqual({ price_kind: 'one_time', price_minor: 500 })
    // Nothing was bought for 500 either.
    expect(await set(listed.name, oneTime(900))).toMatchObject({ current: { amount_minor: 900 }, upcoming: null })
  })

  it('an UNLICENSED package cannot have a price without the seller’s terms', async () => {
    const licensed = (license: string) =>
      listPackage(database, { ownerId: seller.accountId, owner: seller.username, kind: 'agent', license })
    const agent = await licensed('UNLICENSED')
    const calls = { kind: 'free', calls_price_minor: 5 } as const
    for (const request of [oneTime(500), oneTime(500, { terms: ' ' }), calls])
      expect(await codeOf(set(agent.name, request))).toBe('request_invalid')
    expect(await codeOf(set(agent.name, { kind: 'free' }))).toBe('done')
    expect(await codeOf(set(agent.name, oneTime(500, { terms: 'For one team.' })))).toBe('done')
    expect(await codeOf(set(agent.name, oneTime(500, { terms: '' })))).toBe('request_invalid')
    const buyer = await createTrader(database, 'buyer')
    await fund(database, buyer.accountId, 1_000)
    // As a package that was priced before there was this rule.
    await sql`update sale_terms set terms = '' where package_id = ${agent.id}`.execute(database.query)
    expect(await codeOf(buy(services, buyer, agent))).toBe('not_for_sale')
    const other = await licensed('SEE LICENSE IN LICENSE.md')
    expect(await codeOf(set(other.name, oneTime(400)))).toBe('done')
    expect(await codeOf(buy(services, buyer, other))).toBe('done')
  })

  it('higher call prices and fewer trial calls need notice', async () => {
    const terms = { kind: 'free', calls_price_minor: 1, trial_calls: 100 } as const
    const caller = await createTrader(database, 'caller')
    const relying: ((agent: { id: string; versions: Record<string, string> }) => Promise<unknown>)[] = [
      ({ id: package_id }) =>
        database.query.insertInto('trials').values({ account_id: caller.accountId, package_id, calls: 1 }).execute(),
      ({ id: package_id, versions }) =>
        database.query
          .insertInto('usage_events')
          .values({
            ...{ id: crypto.randomUUID(), account_id: caller.accountId, package_id, version_id: versions['1.0.0'] },
            ...{ calls: 1, price_minor: 1, currency: 'USD', at: new Date() },
          })
          .execute(),
    ]
    for (const rely of relying) {
      const agent = await list('agent')
      await set(agent.name, terms)
      expect(await set(agent.name, { ...terms, calls_price_minor: 2 })).toMatchObject({ calls_price_minor: 2 })
      await rely(agent)
      const raised = await set(agent.name, { ...terms, calls_price_minor: 50_000, trial_calls: 100 })
      expect(raised).toMatchObject({ calls_price_minor: 2, upcoming_terms: { calls_price_minor: 50_000 } })
      const fewer = await set(agent.name, { ...terms, calls_price_minor: 2, trial_calls: 5 })
      expect(fewer).toMatchObject({ trial_calls: 100, upcoming_terms: { trial_calls: 5, calls_price_minor: 2 } })
      const more = await set(agent.name, { ...terms, calls_price_minor: 2, trial_calls: 200 })
      expect(more).toMatchObject({ trial_calls: 200, upcoming_terms: null })
      await set(agent.name, { ...terms, calls_price_minor: 2, trial_calls: 7 })
      await sql`update sale_terms set next_at = now() - interval '1 second' where package_id = ${agent.id}`.execute(
        database.query,
      )
      await takeEffect(services)
      expect(await pricePage(services, null, agent.name)).toMatchObject({ trial_calls: 7, upcoming_terms: null })
    }
  })

  it('a higher royalty needs notice if agents trained on the scenario are published', async () => {
    const scenario = await list()
    await set(scenario.name, { kind: 'free', royalty_basis_points: 100 })
    expect(await set(scenario.name, { kind: 'free', royalty_basis_points: 200 })).toMatchObject({
      upcoming_terms: null,
    })
    const { accountId: ownerId, username: owner } = await createTrader(database, 'trainer')
    await listPackage(database, { ownerId, owner, kind: 'agent', scenario })
    expect(await set(scenario.name, { kind: 'free', royalty_basis_points: 300 })).toMatchObject({
      ...{ royalty_basis_points: 200, upcoming_terms: { royalty_basis_points: 300 } },
    })
  })

  it('a raise is announced and buyers pay the old price meanwhile; a cut applies immediately', async () => {
    const listed = await list()
    await set(listed.name, oneTime(500))
    await rely(listed)
    const raised = await set(listed.name, oneTime(800))
    expect(raised).toMatchObject({ current: { amount_minor: 500 }, upcoming: { amount_minor: 800 } })
    expect(daysAway(raised)).toBe(7)
    expect(await shown(listed)).toMatchObject({ price_minor: 500 })
    const buyer = await createTrader(database, 'buyer')
    await fund(database, buyer.accountId, 1_000)
    const { order } = await buy(services, buyer, listed)
    expect(order.total_minor).toBe(500)

    // Repeating it does not delay it; the last change counts.
    expect((await set(listed.name, oneTime(800))).upcoming).toEqual(raised.upcoming)
    const cut = await set(listed.name, oneTime(300))
    expect(cut).toMatchObject({ current: { amount_minor: 300 }, upcoming: null })
    expect(cut.history.map(({ amount_minor }) => amount_minor)).toEqual([300, 500])
    await set(listed.name, oneTime(800))
    const other = await set(listed.name, oneTime(700))
    expect(other).toMatchObject({ current: { amount_minor: 300 }, upcoming: { amount_minor: 700 } })
    const same = await set(listed.name, oneTime(300))
    expect(same).toMatchObject({ current: cut.current, upcoming: null, history: cut.history })
    // Announced to users, at most three times a day; cuts and repetitions are not.
    await set(listed.name, oneTime(900))
    await set(listed.name, oneTime(1_000))
    const { rows } = await database.execute(
      `select data from events where type = 'price.announced' and data ->> 'package' = '${listed.name}' order by created_at, id`,
    )
    expect(rows.map(({ data }) => (data as EventData['price.announced']).price?.amount_minor).sort()).toEqual([
      700, 800, 800,
    ])
  })

  it('a price for a free package and a switch to per-run are announced, too', async () => {
    const listed = await list()
    await rely(listed)
    expect(daysAway(await set(listed.name, oneTime(1)))).toBe(7)
    expect(await set(listed.name, { kind: 'free' })).toMatchObject({ current: { kind: 'free' }, upcoming: null })
    const sold = await list()
    await set(sold.name, oneTime(500))
    await rely(sold)
    const byRun = await set(sold.name, { kind: 'per_run', amount_minor: 1 })
    expect(byRun).toMatchObject({ current: { kind: 'one_time' }, upcoming: { kind: 'per_run' } })
  })

  it('others’ orders, downloads and runs make a package count as used', async () => {
    const ordered = await list()
    const buyer = await createTrader(database, 'buyer')
    await buy(services, buyer, ordered)
    expect(daysAway(await set(ordered.name, oneTime(100)))).toBe(7)
    const trained = await list()
    const run = (owner: Actor) =>
      sql`insert into training_runs (owner_id, created_by, scenario_version_id, algorithm, settings, seed, request_hash)
        values (${owner.accountId}, ${owner.accountId}, ${trained.versions['1.0.0']}, 'ppo', '{}', 1, '')`.execute(
        database.query,
      )
    await run(seller)
    expect(daysAway(await set(trained.name, oneTime(100)))).toBeNull()
    await run(buyer)
    expect(daysAway(await set(trained.name, oneTime(200)))).toBe(7)
  })

  it('a due raise applies automatically: to orders immediately, to lists after the scheduled task', async () => {
    const soon = await testServices(database, {
      market: { ...services.config.market, priceNoticeDays: 300 / dayMs },
    })
    const listed = await list('agent')
    await set(listed.name, oneTime(500, { calls_price_minor: 5 }))
    await rely(listed)
    const change = { actor: seller, name: listed.name, ip: null }
    const raised = await setPrice(soon, change, oneTime(900, { calls_price_minor: 9 }))
    expect(raised).toMatchObject({ calls_price_minor: 5, upcoming_terms: { calls_price_minor: 9 } })
    await expect.poll(async () => (await heldPrice(database.query, listed.id)).amountMinor).toBe(900)
    expect(await pricePage(services, null, listed.name)).toMatchObject({
      ...{ current: { amount_minor: 900 }, upcoming: null, calls_price_minor: 9, upcoming_terms: null },
      history: [{ amount_minor: 900 }, { amount_minor: 500 }],
    })
    await takeEffect(services)
    await takeEffect(services)
    expect(await shown(listed)).toEqual({ price_kind: 'one_time', price_minor: 900 })
    const terms = database.query.selectFrom('sale_terms').selectAll().where('package_id', '=', listed.id)
    expect(await terms.executeTakeFirstOrThrow()).toMatchObject({ calls_price_minor: 9, next_at: null })
    await soon.remove()
  })

  it('terms that cost others more are announced; omitted ones are unchanged', async () => {
    const listed = await list()
    await set(listed.name, { kind: 'free', royalty_basis_points: 500, terms: 'Cite us.' })
    await rely(listed)
    const raised = await set(listed.name, { kind: 'free', royalty_basis_points: 1_500 })
    expect(raised).toMatchObject({
      ...{ royalty_basis_points: 500, terms: 'Cite us.' },
      upcoming_terms: { royalty_basis_points: 1_500, calls_price_minor: 0 },
    })
    const at = raised.upcoming_terms?.effective_at
    // Another word changes nothing of it, and less than was announced needs no new notice.
    expect((await set(listed.name, { kind: 'free', terms: 'Cite us!' })).upcoming_terms).toEqual(raised.upcoming_terms)
    const less = await set(listed.name, { kind: 'free', royalty_basis_points: 900 })
    expect(less.upcoming_terms).toMatchObject({ royalty_basis_points: 900, effective_at: at })
    const taken = await set(listed.name, { kind: 'free', royalty_basis_points: 100 })
    expect(taken).toMatchObject({ royalty_basis_points: 100, upcoming_terms: null, terms: 'Cite us!' })
  })

  it.each<[string, 'scenario' | 'agent', SetPriceRequest, string]>([
    ['an agent by the run', 'agent', { kind: 'per_run', amount_minor: 5 }, 'kind'],
    ['royalties of an agent', 'agent', oneTime(5, { royalty_basis_points: 1 }), 'royalty_basis_points'],
    ['royalties above the cap', 'scenario', oneTime(5, { royalty_basis_points: 2_001 }), 'royalty_basis_points'],
    ['trials of a scenario', 'scenario', oneTime(5, { trial_calls: 1 }), 'trial_calls'],
    ['calls of a scenario', 'scenario', oneTime(5, { calls_price_minor: 1 }), 'calls_price_minor'],
    ['a price of what is free', 'scenario', { kind: 'free', amount_minor: 5 }, 'amount_minor'],
    ['no price of what is sold', 'scenario', { kind: 'one_time' }, 'amount_minor'],
  ])('refuses %s', async (_what, kind, request, field) => {
    const { name } = await list(kind)
    await expect(set(name, request)).rejects.toMatchObject({ code: 'request_invalid', data: { field } })
    expect((await pricePage(services, null, name)).history).toEqual([])
  })

  it('can only be set by managers of the account with the scope', async () => {
    const [member, admin, stranger] = await Promise.all(
      ['member', 'admin', 'stranger'].map((prefix) => createTrader(database, prefix)),
    )
    const org = await createOrganization(database, { [member.accountId]: 'member', [admin.accountId]: 'admin' })
    const { name } = await listPackage(database, { ownerId: org.id, owner: org.username })
    for (const actor of [member, stranger]) expect(await codeOf(set(name, oneTime(5), actor))).toBe('forbidden')
    expect(await codeOf(set(name, oneTime(5), null))).toBe('unauthenticated')
    const unscoped = { ...admin, scopes: new Set([...admin.scopes].filter((scope) => scope !== 'market:sell')) }
    expect(await codeOf(set(name, oneTime(5), unscoped))).toBe('forbidden')
    expect(await codeOf(set(name, oneTime(5), { ...stranger, operator: true }))).toBe('forbidden')
    expect(await codeOf(set(name, oneTime(5), admin))).toBe('done')
    const audited = database.query.selectFrom('audit').selectAll().where('action', '=', 'price.set')
    expect(await audited.where('subject', '=', name).execute()).toMatchObject([
      { actor_id: admin.accountId, data: { price: { kind: 'one_time', amount_minor: 5 } } },
    ])
    // A private package is hidden from non-members.
    await database.query.updateTable('packages').set({ visibility: 'private' }).where('name', '=', name).execute()
    for (const actor of [stranger, null]) {
      expect(await codeOf(set(name, oneTime(6), actor))).toBe('package_not_found')
      expect(await codeOf(pricePage(services, actor, name))).toBe('package_not_found')
    }
  })

  it('the database prevents changing or deleting prices, and withdrawing effective ones', async () => {
    const listed = await list()
    await set(listed.name, oneTime(500))
    const prices = database.query.updateTable('prices').where('package_id', '=', listed.id)
    await expect(prices.set({ withdrawn_at: new Date() }).execute()).rejects.toThrow(/never changed/)
    for (const change of ['amount_minor = 1', "effective_at = now() + interval '1 day'", "currency = 'EUR'"])
      await expect(
        database.execute(`update prices set ${change} where package_id = $1`, [listed.id]),
        change,
      ).rejects.toThrow(/never changed/)
    await expect(database.execute('delete from prices where package_id = $1', [listed.id])).rejects.toThrow(/kept/)
  })

  it('of concurrent prices one applies, and the history contains each effective price once', async () => {
    const listed = await list()
    const amounts = [100, 200, 300, 400, 500, 600]
    await Promise.all(amounts.map((amount) => set(listed.name, oneTime(amount))))
    const { current, history, upcoming } = await pricePage(services, null, listed.name)
    expect(history.map(({ amount_minor }) => amount_minor).sort()).toEqual(amounts)
    expect(upcoming).toBeNull()
    expect(await shown(listed)).toMatchObject({ price_minor: current.amount_minor })
    expect((await heldPrice(database.query, listed.id)).id).toBe(current.id)
    expect(new Set(history.map(({ effective_at }) => effective_at)).size).toBe(history.length)
  })

  it('users never pay more than was announced a notice period before', async () => {
    const requested = fc.oneof(
      fc.constant<SetPriceRequest>({ kind: 'free' }),
      fc.record({
        kind: fc.constantFrom('one_time' as const, 'per_run' as const),
        amount_minor: fc.integer({ min: 1, max: 50 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(requested, { minLength: 1, maxLength: 6 }), async (requests) => {
        const listed = await list()
        await rely(listed)
        let before = await pricePage(services, null, listed.name)
        for (const request of requests) {
          const after = await set(listed.name, request)
          const isSame = after.current.id === before.current.id
          const cheaper =
            after.current.kind === 'free' ||
            (after.current.amount_minor <= before.current.amount_minor && before.current.kind !== 'free')
          expect(isSame || cheaper).toBe(true)
          const wanted = after.upcoming ?? after.current
          expect(wanted).toMatchObject({ kind: request.kind, amount_minor: request.amount_minor ?? 0 })
          before = after
        }
      }),
      { numRuns: 15 },
    )
  })
})
