import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../auth/actor.ts'
import type { Database } from '../database/database.ts'
import { auditLedger } from '../market/ledger/audit-ledger.ts'
import { meteredAgent, type Terms } from '../market/metering/testing/metered-agents.ts'
import { auditMarket } from '../market/orders/audit-market.ts'
import { createTrader, fund, type Listed } from '../market/orders/testing/marketplace.ts'
import { testDatabases } from '../testing/test-databases.ts'
import { acted, failed, type HostingServer, startHosting } from './testing/hosting-server.ts'

const times = { waitMs: 30_000, leaseMs: 20_000, pollMs: 50 }

describe.each(await testDatabases())('hosted calls, on $kind', ({ open }) => {
  let database: Database
  let server: HostingServer
  let caller: Actor
  let token: string

  beforeAll(async () => {
    database = await open()
    server = await startHosting(database, times)
    caller = await createTrader(database, 'caller')
    token = await server.callerToken(caller)
  })
  afterAll(async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
    await server.close()
    await database.close()
  })

  const agentOf = (terms: Terms = {}) => meteredAgent(database, terms)
  const eventsOf = ({ id }: Pick<Listed, 'id'>) =>
    database.query.selectFrom('usage_events').selectAll().where('package_id', '=', id).execute()
  const callsOf = ({ id }: Pick<Listed, 'id'>) =>
    database.query.selectFrom('hosted_calls').selectAll().where('package_id', '=', id).orderBy('created_at').execute()
  const trialOf = async ({ id }: Pick<Listed, 'id'>) =>
    (await database.query.selectFrom('trials').select('calls').where('package_id', '=', id).executeTakeFirst())
      ?.calls ?? 0

  it('a call waits for a worker, and its answer is counted once', async () => {
    const agent = await agentOf({ licenceMinor: 500, trialCalls: 3 })
    const calling = server.call(token, agent, { observation: { seen: [1, 0.5], note: 'a\u0000b' } })
    const leased = await server.lease(2_000)
    expect(leased).toMatchObject({
      agent: { name: agent.name, version: '1.0.0', id: agent.versions['1.0.0'] },
      calls: [{ observation: { seen: [1, 0.5], note: 'a\u0000b' }, action_mask: null }],
    })
    const [{ id }] = leased?.calls ?? [{ id: '' }]
    const taken = await server.answer(leased?.lease ?? '', [acted({ id })])
    expect(taken.body).toEqual({ taken: 1, late: 0 })
    expect(await calling).toEqual({
      status: 200,
      code: undefined,
      body: {
        ...{ id, package: agent.name, version: '1.0.0', action: 1, label: 'right', probabilities: [0.25, 0.75] },
        ...{ because: 'trial', trial_calls_left: 2, model_ms: 0.5 },
      },
    })
    expect(await eventsOf(agent)).toMatchObject([{ id, calls: 1, trial_calls: 1, account_id: caller.accountId }])
    expect(await trialOf(agent)).toBe(1)
    // The same answers again are late, and change nothing.
    expect((await server.answer(leased?.lease ?? '', [acted({ id })])).body).toEqual({ taken: 0, late: 1 })
    expect(await eventsOf(agent)).toHaveLength(1)
  })
})
