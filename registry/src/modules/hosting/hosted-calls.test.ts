import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { callAt } from '@agentgym/testkit/registry'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { meteredAgent, type Terms } from '../metering/testing/metered-agents.ts'
import { auditMarket } from '../orders/audit-market.ts'
import { createTrader, type Listed } from '../orders/testing/marketplace.ts'
import { hostingTasks } from './hosting.tasks.ts'
import { acted, failed, type HostingServer, startHosting, waitFor } from './testing/hosting-server.ts'

const times = { waitMs: 30_000, leaseMs: 20_000, pollMs: 50 }

describeOnEngines('hosted calls, on $kind', ({ open }) => {
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

  const openCalls = () => database.query.selectFrom('hosted_calls').select('id').where('ended_at', 'is', null).execute()
  /** Calls that wait are so much older, or younger. */
  const age = (by: string) =>
    sql`update hosted_calls set created_at = created_at - ${by}::interval where state = 'waiting'`.execute(
      database.query,
    )
  /** What workers have is overdue. */
  const forget = () =>
    sql`update hosted_calls set leased_until = now() - interval '1 second' where state = 'leased'`.execute(
      database.query,
    )

  it('a call waits for a worker, and its answer is counted once', async () => {
    const agent = await agentOf({ licenseMinor: 500, trialCalls: 3 })
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

  it('answers ten of fifty concurrent calls in a trial of ten, and returns the price to the others', async () => {
    const agent = await agentOf({ licenseMinor: 500, trialCalls: 10 })
    const workers = [server.work(), server.work()]
    const answers = await Promise.all(Array.from({ length: 50 }, () => server.call(token, agent)))
    await Promise.all(workers.map((worker) => worker.stop()))
    const answered = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ code }) => code === 'trial_exhausted')
    expect([answered.length, refused.length]).toEqual([10, 40])
    const left = answered.map(({ body }) => body.trial_calls_left).sort()
    expect(left).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(refused[0]).toMatchObject({ status: 402, body: { error: { data: { trial_calls: 10 } } } })
    expect(JSON.stringify(refused[0].body)).toContain(`agentgym buy ${agent.name}@1`)
    expect(JSON.stringify(refused[0].body)).toContain('$5.00')
    expect(await trialOf(agent)).toBe(10)
    expect((await eventsOf(agent)).map(({ trial_calls }) => trial_calls)).toEqual(Array(10).fill(1))
  })

  it('failed calls cost nothing and do not count toward the trial, which can still be used up', async () => {
    const agent = await agentOf({ licenseMinor: 500, trialCalls: 1 })
    const broken = server.work(failed)
    const failure = await server.call(token, agent)
    const again = await server.call(token, agent)
    await broken.stop()
    expect(failure).toMatchObject({ status: 502, code: 'agent_failed' })
    expect(failure.body.error).toMatchObject({ data: { version: '1.0.0', cause: 'model_timeout' } })
    expect(again.code).toBe('agent_failed')
    expect([await trialOf(agent), await eventsOf(agent)]).toEqual([0, []])
    const working = server.work()
    expect(await server.call(token, agent)).toMatchObject({ status: 200, body: { trial_calls_left: 0 } })
    expect((await server.call(token, agent)).code).toBe('trial_exhausted')
    await working.stop()
  })

  it('passes on the worker’s error about an observation, but hides errors of the worker itself', async () => {
    const agent = await agentOf()
    const reports = [
      {
        code: 'observation_invalid' as const,
        message: 'observation.0 is no number.',
        data: { field: 'observation.0' },
      },
      { code: 'internal_error' as const, message: 'The worker is at fault: /secret/path.' },
    ]
    const worker = server.work(({ id, observation }) => ({ id, error: reports[Number(observation)] }))
    const invalid = await server.call(token, agent, { observation: 0 })
    const broken = await server.call(token, agent, { observation: 1 })
    await worker.stop()
    expect(invalid).toMatchObject({ status: 422, body: { error: reports[0] } })
    expect(broken).toMatchObject({ status: 503, code: 'agent_unavailable' })
    expect(JSON.stringify(broken.body)).not.toContain('secret')
  })

  it('calls of one version are batched, oldest first, with loaded versions preferred', async () => {
    const [one, other] = [await agentOf(), await agentOf()]
    const calls = []
    for (const [agent, observation] of [
      [one, 1],
      [other, 2],
      [one, 3],
    ] as const) {
      calls.push(server.call(token, agent, { observation }))
      await waitFor(async () => (await openCalls()).length === calls.length)
    }
    await age('3 seconds')
    const first = await server.lease(0, [other.versions['1.0.0']])
    expect(first?.calls.map(({ observation }) => observation)).toEqual([1, 3])
    calls.push(server.call(token, one, { observation: 4 }))
    await waitFor(async () => (await openCalls()).length === 4)
    await age('-1 hours')
    const second = await server.lease(0, [one.versions['1.0.0']])
    expect(second?.calls.map(({ observation }) => observation)).toEqual([4])
    const third = await server.lease()
    expect(third?.calls.map(({ observation }) => observation)).toEqual([2])
    expect(await server.lease()).toBeUndefined()
    for (const leased of [first, second, third]) if (leased) await server.answer(leased.lease, leased.calls.map(acted))
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  it('a worker that stops responding loses its calls to another one, once, and its answers are late', async () => {
    const agent = await agentOf({ licenseMinor: 500, trialCalls: 5 })
    const calling = server.call(token, agent)
    const lost = await server.lease(5_000)
    expect(await server.lease()).toBeUndefined()
    await forget()
    const second = await server.lease()
    expect(second?.calls).toEqual(lost?.calls)
    expect(second?.lease).not.toBe(lost?.lease)
    expect((await server.answer(lost?.lease ?? '', lost?.calls.map(acted) ?? [])).body).toEqual({ taken: 0, late: 1 })
    const tarball = new URL(lost?.agent.tarball_url ?? '')
    const headers = { 'agentgym-lease': lost?.lease ?? '' }
    expect((await callAt(server.url, 'GET', tarball.pathname, { headers })).code).toBe('lease_lost')
    await forget()
    // At most twice, so that a call that crashes its workers does not reach all of them.
    expect(await server.lease()).toBeUndefined()
    expect((await server.answer(second?.lease ?? '', second?.calls.map(acted) ?? [])).body).toEqual({
      taken: 1,
      late: 0,
    })
    expect((await calling).status).toBe(200)
    expect(await trialOf(agent)).toBe(1)
  })

  it('a key makes one call under concurrency, and keeps its response', async () => {
    const agent = await agentOf({ licenseMinor: 500, trialCalls: 5 })
    const key = randomUUID()
    const asking = Array.from({ length: 8 }, () => server.call(token, agent, { key }))
    const leased = await server.lease(10_000)
    expect(leased?.calls.map(({ id }) => id)).toEqual([key])
    await server.answer(leased?.lease ?? '', leased?.calls.map(acted) ?? [])
    const answers = await Promise.all(asking)
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(await server.call(token, agent, { key: key.toUpperCase() })).toEqual(answers[0])
    expect([(await callsOf(agent)).length, (await eventsOf(agent)).length, await trialOf(agent)]).toEqual([1, 1, 1])
    const other = await server.call(token, agent, { key, observation: [2] })
    expect(other).toMatchObject({ status: 409, code: 'idempotency_key_reused' })
    const stranger = await server.callerToken(await createTrader(database, 'stranger'))
    expect((await server.call(stranger, agent, { key })).code).toBe('idempotency_key_reused')
    expect((await server.call(token, agent, { key: 'mine' })).code).toBe('request_invalid')
    // Once the response is deleted, the key cannot be used again.
    await database.query.deleteFrom('hosted_calls').where('id', '=', key).execute()
    expect((await server.call(token, agent, { key })).code).toBe('idempotency_key_reused')
  })

  it('a failed call can be retried with its key', async () => {
    const agent = await agentOf({ licenseMinor: 500, trialCalls: 5 })
    const key = randomUUID()
    const broken = server.work(failed)
    expect((await server.call(token, agent, { key })).code).toBe('agent_failed')
    await broken.stop()
    const working = server.work()
    expect((await server.call(token, agent, { key })).status).toBe(200)
    await working.stop()
    expect(await eventsOf(agent)).toMatchObject([{ id: key }])
  })

  it('a call whose client disconnected is dropped, unless a worker has it', async () => {
    const agent = await agentOf({ licenseMinor: 500, trialCalls: 5 })
    for (const leased of [false, true]) {
      const client = new AbortController()
      const calling = server.call(token, agent, { signal: client.signal }).catch(() => 'gone')
      await waitFor(async () => (await callsOf(agent)).length === 1)
      const taken = leased ? await server.lease() : undefined
      client.abort()
      expect(await calling).toBe('gone')
      if (taken === undefined) await waitFor(async () => (await callsOf(agent)).length === 0)
      else expect((await server.answer(taken.lease, taken.calls.map(acted))).body).toEqual({ taken: 1, late: 0 })
    }
    expect(await trialOf(agent)).toBe(1)
  })

  it('does not charge for calls that time out, and rejects late answers', async () => {
    const brief = await startHosting(database, { ...times, waitMs: 400 })
    const agent = await agentOf({ licenseMinor: 500, trialCalls: 1 })
    const calling = brief.call(token, agent)
    const leased = await server.lease(5_000)
    const answer = await calling
    expect(answer).toMatchObject({ status: 503, code: 'agent_unavailable' })
    expect(JSON.stringify(answer.body)).toContain('did not answer')
    expect((await server.answer(leased?.lease ?? '', leased?.calls.map(acted) ?? [])).body).toEqual({
      taken: 0,
      late: 1,
    })
    expect(JSON.stringify((await brief.call(token, agent)).body)).toContain('No worker accepted')
    expect([await trialOf(agent), await eventsOf(agent)]).toEqual([0, []])
    await brief.close()
  })

  it('ends calls of a dead server in a scheduled task, and deletes old ones', async () => {
    const agent = await agentOf({ licenseMinor: 500, trialCalls: 1 })
    const [kept, gone] = [randomUUID(), randomUUID()]
    const version_id = agent.versions['1.0.0']
    const row = { account_id: caller.accountId, token_id: null, package_id: agent.id, version_id, price_minor: 0 }
    const past = new Date(Date.now() - 60_000)
    for (const [id, keyed] of [
      [kept, true],
      [gone, false],
    ] as const)
      await database.query
        .insertInto('hosted_calls')
        .values({ id, keyed, ...row, because: 'trial', request_hash: 'x', request: '{}', expires_at: past })
        .execute()
    expect((await server.call(token, agent)).code).toBe('trial_exhausted')
    const [upkeep] = hostingTasks(server.services)
    await upkeep.run()
    expect((await callsOf(agent)).map(({ state }) => state)).toEqual(['failed', 'failed'])
    await database.query
      .updateTable('hosted_calls')
      .set({ ended_at: past })
      .where('package_id', '=', agent.id)
      .execute()
    await upkeep.run()
    expect(await callsOf(agent)).toHaveLength(2)
    const longAgo = new Date(Date.now() - 3_000_000)
    await database.query
      .updateTable('hosted_calls')
      .set({ ended_at: longAgo })
      .where('package_id', '=', agent.id)
      .execute()
    await upkeep.run()
    expect((await callsOf(agent)).map(({ id }) => id)).toEqual([kept])
    const working = server.work()
    expect((await server.call(token, agent)).status).toBe(200)
    await working.stop()
  })
})
