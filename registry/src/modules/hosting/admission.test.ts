import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Actor, scopes } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { postUsage } from '../metering/post-usage.ts'
import { meteredAgent, setCallTerms, type Terms } from '../metering/testing/metered-agents.ts'
import { auditMarket } from '../orders/audit-market.ts'
import {
  buy,
  codeOf,
  createOrganization,
  createTrader,
  fund,
  holdings,
  type Listed,
  listPackage,
} from '../orders/testing/marketplace.ts'
import { type HostingServer, startHosting, waitFor } from './testing/hosting-server.ts'

const times = { waitMs: 30_000, leaseMs: 20_000, pollMs: 50 }
const callers = ['nobody', 'stranger', 'buyer', 'colleague', 'owner', 'narrow', 'worker'] as const

describeOnEngines('who may call which agent, on $kind', ({ open }) => {
  let database: Database
  let server: HostingServer
  let working: ReturnType<HostingServer['work']>
  let buyer: Actor
  let orgOwner: Actor
  let org: { id: string; username: string }
  const tokens: Partial<Record<(typeof callers)[number], string>> = {}

  beforeAll(async () => {
    database = await open()
    server = await startHosting(database, times)
    working = server.work()
    const [stranger, colleague] = [await createTrader(database), await createTrader(database)]
    ;[buyer, orgOwner] = [await createTrader(database), await createTrader(database)]
    org = await createOrganization(database, { [orgOwner.accountId]: 'owner', [colleague.accountId]: 'viewer' })
    for (const id of [buyer.accountId, org.id]) await fund(database, id, 100_000)
    const all = scopes.filter((scope) => scope !== 'agents:call')
    tokens.stranger = await server.callerToken(stranger)
    tokens.buyer = await server.callerToken(buyer)
    tokens.colleague = await server.callerToken(colleague)
    tokens.narrow = await server.tokenOf(buyer, ...all)
    tokens.worker = await server.tokenOf(buyer, 'worker')
  })
  afterAll(async () => {
    await working.stop()
    await postUsage(server.services, { fromMinor: 0 })
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
    await server.close()
    await database.close()
  })

  type Agent = Awaited<ReturnType<typeof meteredAgent>>

  /** An agent that the buyer and the organization have bought, where it costs something. */
  async function sold(terms: Terms): Promise<Agent> {
    const agent = await meteredAgent(database, terms)
    if (terms.licenseMinor === undefined) return agent
    await buy(server.services, buyer, agent)
    await buy(server.services, orgOwner, agent, { account: org.username })
    return agent
  }
  const change = (agent: Listed, set: Record<string, unknown>) =>
    database.query.updateTable('packages').set(set).where('id', '=', agent.id).execute()
  const yank = (agent: Listed) =>
    database.query.updateTable('versions').set({ yanked_at: new Date() }).where('package_id', '=', agent.id).execute()

  /** Expected response per caller. */
  async function reported(agent: Agent, more: { version?: string } = {}): Promise<string[]> {
    const owner = await server.callerToken(agent.seller)
    const answers = callers.map((caller) =>
      server.call(caller === 'owner' ? owner : (tokens[caller] ?? null), agent, more),
    )
    return (await Promise.all(answers)).map(({ code, body }) => code ?? String(body.because))
  }

  it('a paid agent: owners and license holders, directly or through an organization', async () => {
    const no = ['forbidden', 'forbidden']
    const agent = await sold({ licenseMinor: 500 })
    expect(await reported(agent)).toEqual(['unauthenticated', 'payment_required', 'bought', 'bought', 'own', ...no])
    const tried = await sold({ licenseMinor: 500, trialCalls: 1 })
    expect(await reported(tried)).toEqual(['unauthenticated', 'trial', 'bought', 'bought', 'own', ...no])
    expect(await reported(tried)).toEqual(['unauthenticated', 'trial_exhausted', 'bought', 'bought', 'own', ...no])
    const free = await sold({})
    expect(await reported(free)).toEqual(['unauthenticated', 'free', 'free', 'free', 'own', ...no])
  })

  it('private, taken down, yanked and missing agents', async () => {
    const no = ['forbidden', 'forbidden']
    const hidden = await sold({})
    await change(hidden, { visibility: 'private' })
    const absent = Array(3).fill('package_not_found')
    expect(await reported(hidden)).toEqual(['unauthenticated', ...absent, 'own', ...no])
    const nothing = await server.call(tokens.stranger ?? '', { name: '@nobody/nothing' })
    const secret = await server.call(tokens.stranger ?? '', hidden)
    expect(JSON.stringify(secret.body).replaceAll(hidden.name, 'X')).toBe(
      JSON.stringify(nothing.body).replaceAll('@nobody/nothing', 'X'),
    )
    const down = await sold({ licenseMinor: 500 })
    await change(down, { taken_down_at: new Date(), taken_down_reason: 'Copied.' })
    expect(await reported(down)).toEqual(['unauthenticated', 'package_taken_down', 'bought', 'bought', 'own', ...no])
    await change(down, { taken_down_for_all: true })
    expect((await reported(down)).slice(1, 5)).toEqual([...Array(3).fill('package_taken_down'), 'own'])
    const pulled = await sold({ licenseMinor: 500, trialCalls: 5 })
    await yank(pulled)
    expect((await reported(pulled, { version: '1.0.0' })).slice(1, 5)).toEqual([
      'version_yanked',
      'bought',
      'bought',
      'own',
    ])
    expect((await reported(pulled, { version: '^1.0.0' })).slice(1, 5)).toEqual(Array(4).fill('version_not_found'))
    const { seller } = hidden
    const scenario = await listPackage(database, { ownerId: seller.accountId, owner: seller.username })
    expect((await server.call(tokens.buyer ?? '', scenario)).code).toBe('request_invalid')
  })

  it('worker routes require an operator’s worker token', async () => {
    const lease = { worker_id: randomUUID(), loaded: [], wait_ms: 0 }
    const answers = { lease: 'x', answers: [{ id: randomUUID(), error: { code: 'model_crashed', message: 'x' } }] }
    for (const [path, body] of [
      ['lease', lease],
      ['answers', answers],
    ] as const)
      for (const [as, status] of [
        [null, 401],
        [tokens.buyer, 403],
        [tokens.worker, 403],
      ] as const)
        expect((await server.ask(as ?? null, 'POST', `/v1/hosted-calls/${path}`, body)).status).toBe(status)
  })

  it('calls are paid from the balance at the price at admission', async () => {
    const agent = await sold({ licenseMinor: 500, callsPriceMinor: 1_000 })
    const payer = await createTrader(database)
    const token = await server.callerToken(payer)
    await fund(database, payer.accountId, 503)
    await buy(server.services, payer, agent)
    // Three units are left, and a call costs one.
    const answers = await Promise.all(Array.from({ length: 8 }, () => server.call(token, agent)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ code }) => code === 'insufficient_funds')).toHaveLength(5)
    await setCallTerms(database, agent, { trialCalls: 0, callsPriceMinor: 5_000 })
    await postUsage(server.services, { fromMinor: 0 })
    expect((await holdings(database, payer.accountId)).balance).toBe(0)
    expect((await server.call(token, agent)).code).toBe('insufficient_funds')
  })

  it('money reserved for calls cannot be spent otherwise', async () => {
    const agent = await sold({ callsPriceMinor: 495_000 })
    const license = await sold({ licenseMinor: 1_000 })
    const payer = await createTrader(database)
    const token = await server.callerToken(payer)
    await fund(database, payer.accountId, 1_000)
    expect((await server.call(token, agent)).status).toBe(200)
    expect((await server.call(token, agent)).status).toBe(200)
    expect((await holdings(database, payer.accountId)).balance).toBe(10)
    expect(await codeOf(buy(server.services, payer, license))).toBe('insufficient_funds')
    expect((await server.call(token, agent)).code).toBe('insufficient_funds')
    await postUsage(server.services, { fromMinor: 0 })
    expect((await holdings(database, payer.accountId)).balance).toBe(10)
    expect((await holdings(database, agent.seller.accountId)).earnings).toBe(891)
  })

  it('a paid call needs a maximum price, from the request or a cap of its token or account', async () => {
    const agent = await sold({ callsPriceMinor: 2_000 })
    const payer = await createTrader(database)
    await fund(database, payer.accountId, 10_000)
    const token = await server.callerToken(payer)
    const call = async (more: Parameters<typeof server.call>[2]) => {
      const { code, body } = await server.call(token, agent, more)
      return code ?? body.because
    }
    const refused = await server.call(token, agent, { maxPrice: null })
    expect(refused).toMatchObject({ status: 402, code: 'payment_required' })
    expect(refused.body).toMatchObject({ error: { hint: expect.stringContaining('AgentGym-Max-Price: 2000') } })
    expect(await call({ maxPrice: 1_999 })).toBe('price_changed')
    expect(await call({ maxPrice: null, max_price_minor: 1_999 })).toBe('price_changed')
    expect((await holdings(database, payer.accountId)).balance, 'nothing is held').toBe(10_000)
    expect(await call({ maxPrice: 2_000 })).toBe('free')
    expect(await call({ maxPrice: null, max_price_minor: 2_000 })).toBe('free')
    const { id } = await database.query
      .selectFrom('tokens')
      .select('id')
      .where('account_id', '=', payer.accountId)
      .executeTakeFirstOrThrow()
    const cap = async (token_id: string | null, amount_minor: number) => {
      const set = { account_id: payer.accountId, period: 'calls' as const, set_by: payer.accountId }
      await database.query.deleteFrom('spend_caps').where('account_id', '=', payer.accountId).execute()
      await database.query
        .insertInto('spend_caps')
        .values({ ...set, token_id, amount_minor })
        .execute()
    }
    for (const tokenId of [id, null]) {
      await cap(tokenId, 2_000)
      expect(await call({ maxPrice: null })).toBe('free')
      const chat = { model: agent.name, messages: [{ role: 'user', content: '[1, 2]' }] }
      expect((await server.ask(token, 'POST', '/v1/chat/completions', chat)).status).toBe(200)
      await cap(tokenId, 1_999)
      expect(await call({ maxPrice: null })).toBe('spend_cap_exceeded')
      expect(await call({ maxPrice: 5_000 }), 'a cap holds whatever the request accepts').toBe('spend_cap_exceeded')
    }
    const license = await sold({ licenseMinor: 500 })
    expect(await codeOf(buy(server.services, payer, license)), 'it limits calls alone').toBe('done')
  })

  it('caps of the account and of the token apply', async () => {
    const agent = await sold({ licenseMinor: 500, callsPriceMinor: 1_000 })
    const payer = await createTrader(database)
    await fund(database, payer.accountId, 10_000)
    await buy(server.services, payer, agent)
    const [capped, other] = [await server.callerToken(payer), await server.callerToken(payer)]
    const made = await database.query
      .selectFrom('tokens')
      .select('id')
      .where('account_id', '=', payer.accountId)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    const cap = (token_id: string | null, amount_minor: number) =>
      database.query
        .insertInto('spend_caps')
        .values({ account_id: payer.accountId, token_id, period: 'day', amount_minor, set_by: payer.accountId })
        .execute()
    for (const { id } of made) await cap(id, 2)
    const codes = async (token: string, calls: number) => {
      const answers = await Promise.all(Array.from({ length: calls }, () => server.call(token, agent)))
      return answers.map(({ code }) => code ?? 'answered').sort()
    }
    expect(await codes(capped, 4)).toEqual(['answered', 'answered', 'spend_cap_exceeded', 'spend_cap_exceeded'])
    await postUsage(server.services, { fromMinor: 0 })
    expect(await codes(capped, 1)).toEqual(['spend_cap_exceeded'])
    expect(await codes(other, 1)).toEqual(['answered'])
    await cap(null, 503)
    expect(await codes(other, 1)).toEqual(['spend_cap_exceeded'])
  })

  it('calls in progress, body size and JSON depth are limited', async () => {
    const agent = await sold({})
    await working.stop()
    const client = new AbortController()
    const token = tokens.buyer ?? ''
    const open = Array.from({ length: 64 }, () => server.call(token, agent, { signal: client.signal }).catch(() => {}))
    const count = () => database.query.selectFrom('hosted_calls').select('id').where('ended_at', 'is', null).execute()
    await waitFor(async () => (await count()).length === 64)
    const refused = await server.call(token, agent)
    expect(refused).toMatchObject({
      status: 429,
      code: 'rate_limited',
      body: { error: { data: { retry_after_seconds: 1 } } },
    })
    client.abort()
    await Promise.all(open)
    await waitFor(async () => (await count()).length === 0)
    working = server.work()
    expect((await server.call(token, agent, { observation: 'x'.repeat(2 ** 18) })).code).toBe('request_too_large')
    const address = `${server.url}/v1/packages/${agent.name}/calls`
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    for (const observation of [
      '['.repeat(60_000) + ']'.repeat(60_000),
      '1e999',
      '',
      `${'{"a":'.repeat(80)}1${'}'.repeat(80)}`,
    ]) {
      const response = await fetch(address, { method: 'POST', headers, body: `{"observation":${observation}}` })
      expect([400, 422], observation.slice(0, 20)).toContain(response.status)
    }
    expect((await server.ask(token, 'POST', `/v1/packages/${agent.name}/calls`, {})).code).toBe('request_invalid')
    expect((await server.call(token, agent)).status).toBe(200)
  })
})
