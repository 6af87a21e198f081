import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { auditMarket } from '../orders/audit-market.ts'
import { takeBack } from '../orders/debts.ts'
import { buy, codeOf, createTrader, fullBalance, fund, holdings } from '../orders/testing/marketplace.ts'
import { callAllowance } from './call-terms.ts'
import { countUsage } from './count-usage.ts'
import { postUsage } from './post-usage.ts'
import { meteredAgent, setCallTerms, usageEvent } from './testing/metered-agents.ts'

describeOnEngines('metered calls on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
  })
  afterAll(async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
    expect(services.logged.filter(({ level }) => level === 'error')).toEqual([])
    await services.remove()
    await database.close()
  })

  const tell = (...events: ReturnType<typeof usageEvent>[]) => countUsage(services, events)
  const postAll = () => postUsage(services, { fromMinor: 0, afterSeconds: 0 })
  const balance = ({ accountId }: Actor) => fullBalance(database, accountId)
  const earned = async ({ accountId }: Actor) => (await holdings(database, accountId)).earnings ?? 0
  const eventsOf = ({ accountId }: Actor) =>
    database.query
      .selectFrom('usage_events')
      .select(['calls', 'trial_calls', 'price_minor', 'batch_id'])
      .where('account_id', '=', accountId)
      .orderBy('created_at')
      .orderBy('calls')
      .execute()
  /** A user with money and, if the agent is paid, a license. */
  async function buyerOf(agent: { name: string }, licenseMinor: number, moneyMinor = 10_000): Promise<Actor> {
    const buyer = await createTrader(database, 'buyer')
    await fund(database, buyer.accountId, moneyMinor + licenseMinor)
    if (licenseMinor > 0) await buy(services, buyer, agent)
    return buyer
  }

  it('an event counts once: repeated, twice in a request, or concurrently', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 100 })
    const caller = await buyerOf(agent, 0)
    const events = Array.from({ length: 30 }, (_, index) => usageEvent(agent, caller, index + 1))
    expect(await tell(events[0], events[0])).toEqual({ counted: 1, repeated: 1 })
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, round) => tell(...(round % 2 === 0 ? events : events.toReversed()))),
    )
    expect(answers.reduce((sum, { counted }) => sum + counted, 0)).toBe(29)
    expect((await eventsOf(caller)).map(({ calls }) => calls)).toHaveLength(30)
    expect(
      await tell({ ...events[0], id: events[0].id.toUpperCase(), at: new Date(Date.now() - 5_000).toISOString() }),
    ).toEqual({
      counted: 0,
      repeated: 1,
    })
  })

  it('a changed event is refused with its whole request', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 100 })
    const [caller, other] = [await buyerOf(agent, 0), await buyerOf(agent, 0)]
    const event = usageEvent(agent, caller, 5)
    await tell(event)
    for (const change of [
      { calls: 6 },
      { account: other.username },
      { package: (await meteredAgent(database, {})).name },
    ]) {
      const more = usageEvent(agent, caller, 1)
      expect(await codeOf(tell(more, { ...event, ...change }))).toBe('idempotency_key_reused')
      expect(await codeOf(tell({ ...more, ...change }, more))).toBe('idempotency_key_reused')
    }
    expect(await eventsOf(caller)).toHaveLength(1)
    expect(await eventsOf(other)).toEqual([])
  })

  it('events of missing subjects are refused by name with their whole request', async () => {
    const agent = await meteredAgent(database, {})
    const caller = await createTrader(database)
    const year = 366 * 86_400_000
    const wrong = [
      usageEvent(agent, { username: 'nobody-of-that-name' }, 1),
      usageEvent({ name: '@nobody/nothing' }, caller, 1),
      usageEvent(agent, caller, 1, { version: '9.0.0' }),
      usageEvent(agent, caller, 1, { at: new Date(Date.now() - year - 60_000).toISOString() }),
      usageEvent(agent, caller, 1, { at: new Date(Date.now() + 7_200_000).toISOString() }),
      usageEvent(agent, caller, 1, { at: '0000-01-01T00:00:00Z' }),
    ]
    const reported = tell(usageEvent(agent, caller, 1), ...wrong)
    await expect(reported).rejects.toMatchObject({
      code: 'request_invalid',
      data: {
        events: Object.fromEntries(
          wrong.map(({ id }, index) => [id, ['account', 'package', 'version'][index] ?? 'at']),
        ),
      },
    })
    expect(await eventsOf(caller)).toEqual([])
  })

  it('are paid in batches: seller’s part, fee and royalty', async () => {
    await postAll()
    const agent = await meteredAgent(database, { callsPriceMinor: 500, licenseMinor: 1_000, royaltyBasisPoints: 1_500 })
    const { seller, author } = agent
    const buyer = await buyerOf(agent, 1_000)
    const [sold, royalties] = [await earned(seller), author === null ? 0 : await earned(author)]
    await tell(usageEvent(agent, buyer, 1_500))
    expect(await postUsage(services), 'not before it is worth while').toBe(0)
    await tell(usageEvent(agent, buyer, 500))
    expect(await postUsage(services)).toBe(1)
    expect(await balance(buyer)).toBe(10_000 - 1_000)
    expect((await earned(seller)) - sold).toBe(1_000 - 100 - 150)
    expect(author && (await earned(author)) - royalties).toBe(150)
    expect(await postAll()).toBe(0)
    const batches = await database.query
      .selectFrom('usage_batches')
      .selectAll()
      .where('account_id', '=', buyer.accountId)
      .execute()
    expect(batches).toMatchObject([
      {
        calls: 2_000,
        amount_minor: 1_000,
        fee_minor: 100,
        royalty_minor: 150,
        royalty_to: author?.accountId,
        remainder: 0,
      },
    ])
    expect((await eventsOf(buyer)).map(({ batch_id }) => batch_id)).toEqual([batches[0].id, batches[0].id])
  })

  it('fractions of a minor unit are carried over, never lost', async () => {
    await postAll()
    const agent = await meteredAgent(database, { callsPriceMinor: 7 })
    const buyer = await buyerOf(agent, 0)
    for (let round = 0; round < 20; round++) {
      await tell(usageEvent(agent, buyer, 73))
      expect(await postAll()).toBe(1)
    }
    expect(await balance(buyer)).toBe(10_000 - Math.floor((20 * 73 * 7) / 1_000))
  })

  it('cost the price at the time of the report', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 1_000 })
    const buyer = await buyerOf(agent, 0)
    await tell(usageEvent(agent, buyer, 1_000))
    await setCallTerms(database, agent, { trialCalls: 0, callsPriceMinor: 3_000 })
    await tell(usageEvent(agent, buyer, 1_000))
    await postAll()
    expect(await balance(buyer)).toBe(10_000 - 1_000 - 3_000)
  })

  it('are paid once under concurrent posting', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 1_000 })
    const buyer = await buyerOf(agent, 0, 100_000)
    await tell(...Array.from({ length: 50 }, () => usageEvent(agent, buyer, 1_000)))
    const limits = { fromMinor: 0, afterSeconds: 0, events: 7 }
    const posted = await Promise.all(Array.from({ length: 6 }, () => postUsage(services, limits)))
    expect(posted.reduce((sum, count) => sum + count, 0)).toBe(Math.ceil(50 / 7))
    expect(await balance(buyer)).toBe(50_000)
  })

  it('wait for the next top-up if the balance is too low, and further calls are denied', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 1_000 })
    const buyer = await buyerOf(agent, 0, 2_500)
    const ask = () => callAllowance(services, { package: agent.name, version: '1.0.0', account: buyer.username })
    expect(await ask()).toMatchObject({ allowed: true, because: 'free' })
    await tell(...[1, 2, 3, 4].map(() => usageEvent(agent, buyer, 1_000)))
    expect(await ask(), 'what is not posted yet counts').toMatchObject({ allowed: false, because: 'balance_empty' })
    expect(await postAll()).toBe(1)
    expect(await balance(buyer), 'as many events as it covers').toBe(500)
    expect(await postAll()).toBe(0)
    await fund(database, buyer.accountId, 10_000)
    expect(await ask()).toMatchObject({ allowed: true })
    expect(await postAll()).toBe(1)
    expect(await balance(buyer)).toBe(500 + 10_000 - 2_000)
    expect(await earned(agent.seller)).toBe(3_600)
  })

  it('repay a seller’s debt first', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 1_000 })
    const { accountId } = agent.seller
    const owing = { accountId, amountMinor: 1_000n, currency: 'USD', reference: randomUUID() }
    await database.transaction((query) => takeBack(query, owing))
    const buyer = await buyerOf(agent, 0)
    await tell(usageEvent(agent, buyer, 2_000))
    await postAll()
    expect(await holdings(database, accountId)).toMatchObject({ earnings: 1_800 - 1_000, debt: 0 })
  })

  describe('a trial', () => {
    const ask = (agent: { name: string }, { username }: Actor, call?: string) =>
      callAllowance(services, { package: agent.name, version: '1.0.0', account: username, call })

    it('concurrent calls never exceed it; a repeated one counts once', async () => {
      const agent = await meteredAgent(database, { trialCalls: 10, licenseMinor: 500, callsPriceMinor: 5 })
      const caller = await createTrader(database)
      const calls = Array.from({ length: 40 }, () => randomUUID())
      const first = await Promise.all(calls.map((call) => ask(agent, caller, call)))
      const given = calls.filter((_, index) => first[index].allowed)
      expect(given).toHaveLength(10)
      expect(first.filter(({ allowed }) => !allowed).map(({ because }) => because)).toEqual(
        Array(30).fill('trial_used_up'),
      )
      const again = await Promise.all(calls.map((call) => ask(agent, caller, call)))
      expect(calls.filter((_, index) => again[index].allowed)).toEqual(given)
      expect(await tell(...given.map((id) => usageEvent(agent, caller, 1, { id })))).toEqual({
        counted: 0,
        repeated: 10,
      })
      expect(await codeOf(tell(usageEvent(agent, caller, 2, { id: given[0] })))).toBe('idempotency_key_reused')
      await postAll()
      expect(await balance(caller)).toBe(0)
      expect(await ask(agent, caller)).toEqual({ allowed: false, because: 'trial_used_up', trial_calls_left: 0 })
    })

    it('is per account and agent, across versions', async () => {
      const agent = await meteredAgent(database, { trialCalls: 1, licenseMinor: 500 })
      const [one, other] = [await createTrader(database), await createTrader(database)]
      expect(await ask(agent, one)).toEqual({ allowed: true, because: 'trial', trial_calls_left: 1 })
      expect(await ask(agent, one, randomUUID())).toEqual({ allowed: true, because: 'trial', trial_calls_left: 0 })
      expect(await ask(agent, one, randomUUID())).toMatchObject({ because: 'trial_used_up' })
      expect(await ask(agent, other, randomUUID())).toMatchObject({ because: 'trial' })
    })

    it('reported by events: trial calls are free, and non-buyers pay nothing for the rest', async () => {
      const agent = await meteredAgent(database, { trialCalls: 100, licenseMinor: 500, callsPriceMinor: 1_000 })
      const caller = await createTrader(database)
      await fund(database, caller.accountId, 1_000)
      await Promise.all([30, 50, 60].map((calls) => tell(usageEvent(agent, caller, calls))))
      const events = await eventsOf(caller)
      expect(events.reduce((sum, { trial_calls }) => sum + trial_calls, 0)).toBe(100)
      expect(await ask(agent, caller)).toMatchObject({ because: 'trial_used_up' })
      await postAll()
      expect(await balance(caller)).toBe(1_000)
    })

    it('of a free agent: calls cost money once it is used up', async () => {
      const agent = await meteredAgent(database, { trialCalls: 100, callsPriceMinor: 1_000 })
      const caller = await buyerOf(agent, 0, 1_000)
      await tell(usageEvent(agent, caller, 600))
      expect((await eventsOf(caller)).map(({ trial_calls }) => trial_calls)).toEqual([100])
      expect(await ask(agent, caller)).toMatchObject({ allowed: true, because: 'free' })
      await postAll()
      expect(await balance(caller)).toBe(500)
    })
  })
})
