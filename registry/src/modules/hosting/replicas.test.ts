import { postgresql } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { meteredAgent } from '../metering/testing/metered-agents.ts'
import { auditMarket } from '../orders/audit-market.ts'
import { createTrader } from '../orders/testing/marketplace.ts'
import { acted, type HostingServer, startHosting, waitFor } from './testing/hosting-server.ts'

const times = { waitMs: 30_000, leaseMs: 20_000, pollMs: 50 }

/** Two servers that know of each other by the database alone. */
describe('hosted calls on two servers', () => {
  let databases: Database[]
  let servers: HostingServer[]

  beforeAll(async () => {
    const address = await postgresql.create()
    databases = [await openDatabase(address), await openDatabase(address)]
    servers = [await startHosting(databases[0], times), await startHosting(databases[1], times)]
  })
  afterAll(async () => {
    for (const server of servers) await server.close()
    expect(await auditLedger(databases[0])).toEqual([])
    expect(await auditMarket(databases[0])).toEqual([])
    for (const database of databases) await database.close()
  })

  it('a worker of the other server answers a call, and trials are exact across both', async () => {
    const agent = await meteredAgent(databases[0], { licenseMinor: 500, trialCalls: 6 })
    const caller = await createTrader(databases[0])
    const tokens = await Promise.all(servers.map((server) => server.callerToken(caller)))
    const working = servers[1].work()
    expect((await servers[0].call(tokens[0], agent)).status).toBe(200)
    const both = [servers[0].work(), working]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => servers[index % 2].call(tokens[index % 2], agent)),
    )
    await Promise.all(both.map((worker) => worker.stop()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(answers.filter(({ code }) => code === 'trial_exhausted')).toHaveLength(15)
    const events = await databases[0].query.selectFrom('usage_events').selectAll().execute()
    expect(events.filter(({ package_id }) => package_id === agent.id)).toHaveLength(6)
  })

  it('a key makes one call across both, with the same response', async () => {
    const agent = await meteredAgent(databases[0], { licenseMinor: 500, trialCalls: 6 })
    const caller = await createTrader(databases[0])
    const key = crypto.randomUUID()
    const token = await servers[0].callerToken(caller)
    const asking = servers.map((server) => server.call(token, agent, { key }))
    const working = servers[0].work()
    const [first, second] = await Promise.all(asking)
    await working.stop()
    expect(first.status).toBe(200)
    expect(second).toEqual(first)
  })

  it('calls wake workers and callers across servers without polling', async () => {
    const slow = { ...times, pollMs: 600_000 }
    const unpolled = [await startHosting(databases[0], slow), await startHosting(databases[1], slow)]
    const agent = await meteredAgent(databases[0], {})
    const token = await unpolled[0].callerToken(await createTrader(databases[0]))
    const working = unpolled[1].work(acted, 5_000)
    // The first calls may come before both processes listen.
    const warm = await unpolled[0].call(token, agent)
    expect(warm.status).toBe(200)
    const begun = performance.now()
    for (let calls = 0; calls < 5; calls++) expect((await unpolled[0].call(token, agent)).status).toBe(200)
    // Without signals, each would wait until the worker asks again: five seconds.
    expect(performance.now() - begun).toBeLessThan(12_000)
    await working.stop()
    for (const server of unpolled) await server.close()
  })

  it('a stopping server releases its workers, and later its callers', async () => {
    const agent = await meteredAgent(databases[0], {})
    const token = await servers[0].callerToken(await createTrader(databases[0]))
    const waiting = servers[0].lease(25_000)
    const begun = performance.now()
    await waitFor(async () => servers[0].callBroker.workers === 1)
    servers[0].callBroker.close()
    expect(await waiting).toBeUndefined()
    const calling = servers[0].call(token, agent)
    const working = servers[1].work()
    expect((await calling).status).toBe(200)
    await working.stop()
    expect(performance.now() - begun).toBeLessThan(25_000)
  })
})
