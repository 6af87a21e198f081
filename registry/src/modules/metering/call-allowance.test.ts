import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type Asking, serveRoutes } from '@agentgym/testkit/registry'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import { putMember } from '../../core/access/memberships.store.ts'
import type { Database } from '../../core/database/database.ts'
import { createOrganization, createTrader, fund, listPackage } from '../orders/testing/marketplace.ts'
import { insertLicense } from '../reviews/testing/licenses.ts'
import { meteringRoutes } from './metering.routes.ts'
import { meteredAgent, usageEvent } from './testing/metered-agents.ts'

describeOnEngines('who may call an agent on $kind', ({ open }) => {
  let database: Database
  let server: Asking
  let operator: Actor
  let worker: string
  beforeAll(async () => {
    database = await open()
    server = await serveRoutes(database, (services) => [meteringRoutes(services)])
    operator = await createTrader(database, 'op')
    await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', operator.accountId).execute()
    worker = await server.tokenOf(operator, 'worker')
  })
  afterAll(async () => {
    await server.close()
    await database.close()
  })

  const ask = (agent: { name: string }, { username }: { username: string }, more: object = {}) =>
    server.ask(worker, 'POST', '/v1/call-allowance', {
      package: agent.name,
      version: '1.0.0',
      account: username,
      ...more,
    })
  const update = (id: string, change: object) =>
    database.query.updateTable('packages').set(change).where('id', '=', id).execute()

  it('allows its owner and members for free', async () => {
    const member = await createTrader(database)
    const organisation = await createOrganization(database, { [member.accountId]: 'viewer' })
    const agent = await listPackage(database, {
      ...{ ownerId: organisation.id, owner: organisation.username, kind: 'agent' },
      price: { kind: 'one_time', amountMinor: 500 },
    })
    for (const who of [member, organisation])
      expect(await ask(agent, who)).toMatchObject({
        status: 200,
        body: { allowed: true, because: 'own', trial_calls_left: null },
      })
    expect(await ask(agent, await createTrader(database))).toMatchObject({
      body: { allowed: false, because: 'not_bought' },
    })
  })

  it('allows license holders of the major version, directly or through an organization, until a refund', async () => {
    const agent = await meteredAgent(database, { licenseMinor: 500 })
    const [buyer, member] = [await createTrader(database), await createTrader(database)]
    const organisation = await createOrganization(database, { [member.accountId]: 'viewer' })
    const order = await insertLicense(database, { buyer: buyer.accountId, name: agent.name })
    await insertLicense(database, { buyer: organisation.id, name: agent.name })
    for (const who of [buyer, member, organisation])
      expect((await ask(agent, who)).body).toMatchObject({ allowed: true, because: 'bought' })
    await database.query
      .updateTable('entitlements')
      .set({ revoked_at: new Date() })
      .where('order_id', '=', order)
      .execute()
    expect((await ask(agent, buyer)).body).toMatchObject({ allowed: false, because: 'not_bought' })
  })

  it('allows everyone for free agents', async () => {
    const agent = await meteredAgent(database, {})
    expect((await ask(agent, await createTrader(database))).body).toMatchObject({ allowed: true, because: 'free' })
  })

  it('grants the trial to each account, also without a balance', async () => {
    const agent = await meteredAgent(database, { licenseMinor: 500, trialCalls: 3, callsPriceMinor: 10_000 })
    const [buyer, stranger] = [await createTrader(database), await createTrader(database)]
    await insertLicense(database, { buyer: buyer.accountId, name: agent.name })
    for (const who of [buyer, stranger]) {
      for (const left of [2, 1, 0])
        expect((await ask(agent, who, { call: randomUUID() })).body).toMatchObject({
          ...{ allowed: true, because: 'trial', trial_calls_left: left },
        })
    }
    expect((await ask(agent, stranger, { call: randomUUID() })).body).toMatchObject({ because: 'trial_used_up' })
    expect((await ask(agent, buyer, { call: randomUUID() })).body).toMatchObject({ because: 'balance_empty' })
    await fund(database, buyer.accountId, 10)
    expect((await ask(agent, buyer, { call: randomUUID() })).body).toMatchObject({ allowed: true, because: 'bought' })
    expect((await ask(agent, buyer, { call: randomUUID() })).body).toMatchObject({ because: 'balance_empty' })
  })

  it('denies calls beyond the balance or a spend cap', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 5_000 })
    const caller = await createTrader(database)
    expect((await ask(agent, caller)).body).toMatchObject({ allowed: false, because: 'balance_empty' })
    await fund(database, caller.accountId, 5)
    expect((await ask(agent, caller)).body, 'one call is 0.05').toMatchObject({ allowed: true, because: 'free' })
    await server.ask(worker, 'POST', '/v1/usage-events', { events: [usageEvent(agent, caller, 1)] })
    expect((await ask(agent, caller)).body).toMatchObject({ allowed: false, because: 'balance_empty' })
    await fund(database, caller.accountId, 100)
    expect((await ask(agent, caller)).body).toMatchObject({ allowed: true })
    const cap = {
      account_id: caller.accountId,
      token_id: null,
      period: 'day',
      amount_minor: 9,
      set_by: caller.accountId,
    } as const
    await database.query.insertInto('spend_caps').values(cap).execute()
    expect((await ask(agent, caller)).body).toMatchObject({ allowed: false, because: 'balance_empty' })
  })

  it('lets buyers call an agent that was taken down, unless it is malicious', async () => {
    const agent = await meteredAgent(database, { licenseMinor: 500, trialCalls: 5 })
    const [buyer, stranger] = [await createTrader(database), await createTrader(database)]
    await insertLicense(database, { buyer: buyer.accountId, name: agent.name })
    await update(agent.id, { taken_down_at: new Date(), taken_down_reason: 'Copied.' })
    expect((await ask(agent, buyer)).body).toMatchObject({ because: 'bought' })
    expect(await ask(agent, stranger, { call: randomUUID() })).toMatchObject({
      status: 410,
      code: 'package_taken_down',
    })
    await update(agent.id, { taken_down_for_all: true })
    expect(await ask(agent, buyer)).toMatchObject({ code: 'package_taken_down' })
    expect((await ask(agent, agent.seller)).body).toMatchObject({ because: 'own' })
  })

  it('reports missing and invisible subjects', async () => {
    const agent = await meteredAgent(database, {})
    const caller = await createTrader(database)
    expect(await ask({ name: '@nobody/nothing' }, caller)).toMatchObject({ code: 'package_not_found' })
    expect(await ask(agent, caller, { version: '9.0.0' })).toMatchObject({ code: 'version_not_found' })
    expect(await ask(agent, { username: 'nobody-of-that-name' })).toMatchObject({ code: 'account_not_found' })
    const scenario = await listPackage(database, { ownerId: caller.accountId, owner: caller.username })
    expect(await ask(scenario, await createTrader(database))).toMatchObject({ code: 'request_invalid' })
    await update(agent.id, { visibility: 'private' })
    expect(await ask(agent, caller)).toMatchObject({ code: 'package_not_found' })
    const disabled = { disabled_at: new Date() }
    await database.query.updateTable('accounts').set(disabled).where('id', '=', caller.accountId).execute()
    expect(await ask(agent, caller)).toMatchObject({ code: 'account_not_found' })
  })

  it('is restricted to workers', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 1_000 })
    const caller = await createTrader(database)
    await putMember(database.query, (await createOrganization(database, {})).id, caller.accountId, 'owner')
    const strangers = [
      null,
      await server.tokenOf(caller, 'worker', 'market:buy', 'market:sell'),
      await server.tokenOf(agent.seller, 'market:sell'),
      await server.tokenOf(operator, 'account:manage'),
    ]
    for (const as of strangers) {
      const status = as === null ? 401 : 403
      const events = [usageEvent(agent, caller, 1_000)]
      expect((await server.ask(as, 'POST', '/v1/usage-events', { events })).status).toBe(status)
      const request = { package: agent.name, version: '1.0.0', account: caller.username }
      expect((await server.ask(as, 'POST', '/v1/call-allowance', request)).status).toBe(status)
    }
    const counted = await database.query
      .selectFrom('usage_events')
      .select('id')
      .where('package_id', '=', agent.id)
      .execute()
    expect(counted).toEqual([])
  })

  it.each([
    ['no events', () => []],
    ['too many', (event: object) => Array.from({ length: 1_001 }, () => event)],
    ['no calls', (event: object) => [{ ...event, calls: 0 }]],
    ['fewer than none', (event: object) => [{ ...event, calls: -5 }]],
    ['half a call', (event: object) => [{ ...event, calls: 1.5 }]],
    ['a NUL', (event: object) => [{ ...event, version: '1.0.0\0' }]],
    ['no id', (event: object) => [{ ...event, id: '1' }]],
    ['a price of its own', (event: object) => [{ ...event, price_minor: 0 }]],
  ])('what is no usage is refused: %s', async (_, eventsOf) => {
    const event = usageEvent({ name: '@nobody/nothing' }, operator, 1)
    expect(await server.ask(worker, 'POST', '/v1/usage-events', { events: eventsOf(event) })).toMatchObject({
      status: 422,
      code: 'request_invalid',
    })
  })
})
