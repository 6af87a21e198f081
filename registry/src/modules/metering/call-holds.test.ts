import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { auditMarket } from '../orders/audit-market.ts'
import { spendCapsOf } from '../orders/spend-caps.ts'
import {
  buy,
  codeOf,
  createTokenActor,
  createTrader,
  fund,
  holdings,
  listPackage,
} from '../orders/testing/marketplace.ts'
import { readBalance } from '../payments/read-payments.ts'
import { callAllowance } from './call-terms.ts'
import { countUsage } from './count-usage.ts'
import { fitHolds, postUsage } from './post-usage.ts'
import { meteredAgent, usageEvent } from './testing/metered-agents.ts'

describeOnEngines('money that hosted calls were promised, on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
  })
  afterAll(async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
    await services.remove()
    await database.close()
  })

  const payer = async (minor: number): Promise<Actor> => {
    const actor = await createTrader(database, 'payer')
    if (minor > 0) await fund(database, actor.accountId, minor)
    return actor
  }
  const license = async (amountMinor: number) => {
    const { accountId: ownerId, username: owner } = await createTrader(database, 'seller')
    return listPackage(database, { ownerId, owner, kind: 'agent', price: { kind: 'one_time', amountMinor } })
  }
  /** One call that a host asked for and was allowed, so that it is counted. */
  const call = async (agent: { name: string }, { username: account }: Actor, id: string = crypto.randomUUID()) =>
    callAllowance(services, { package: agent.name, version: '1.0.0', account, call: id })
  const shown = ({ accountId: id, username }: Actor) => readBalance(database.query, { id, username }, 'USD')

  it('cannot be spent on a license as well: 9.90 of answered calls leave 0.10', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 990_000 })
    const buyer = await payer(1_000)
    await countUsage(services, [usageEvent(agent, buyer, 1)])
    expect(await shown(buyer)).toMatchObject({ available_minor: 10, held_minor: 990 })
    expect(await codeOf(buy(services, buyer, await license(1_000)))).toBe('insufficient_funds')
    expect(await codeOf(buy(services, buyer, await license(10)))).toBe('done')
    await postUsage(services, { fromMinor: 0 })
    expect(await shown(buyer)).toMatchObject({ available_minor: 0, held_minor: 0 })
    expect((await holdings(database, agent.seller.accountId)).earnings).toBe(891)
  })

  it('is reserved once for concurrent callers, and not again for repeated requests', async () => {
    const agents = [
      await meteredAgent(database, { callsPriceMinor: 1_000 }),
      await meteredAgent(database, { callsPriceMinor: 1_000 }),
    ]
    const caller = await payer(5)
    const ids = Array.from({ length: 12 }, () => crypto.randomUUID())
    const ask = () => Promise.all(ids.map((id, index) => call(agents[index % 2], caller, id)))
    const first = await ask()
    expect(first.filter(({ allowed }) => allowed)).toHaveLength(5)
    expect((await ask()).map(({ allowed }) => allowed)).toEqual(first.map(({ allowed }) => allowed))
    expect(await shown(caller)).toMatchObject({ available_minor: 0, held_minor: 5 })
    await postUsage(services, { fromMinor: 0 })
    expect(await shown(caller)).toMatchObject({ available_minor: 0, held_minor: 0 })
  })

  it('is held in advance in proportion to the cost so far, and released without further calls', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 400 })
    const caller = await payer(1_000)
    for (let calls = 1; calls <= 30; calls++) {
      expect(await call(agent, caller)).toMatchObject({ allowed: true })
      const { held_minor: held } = await shown(caller)
      expect(held * 1_000).toBeGreaterThanOrEqual(calls * 400)
      expect(held).toBeLessThanOrEqual(2 * Math.ceil((calls * 400) / 1_000))
    }
    await fitHolds(services, -1)
    expect(await shown(caller)).toMatchObject({ available_minor: 988, held_minor: 12 })
    const transfers = await database.query
      .selectFrom('ledger_transfers')
      .select('kind')
      .where('reference', '=', caller.accountId)
      .execute()
    expect(transfers.length, 'not one for every call').toBeLessThan(15)
  })

  it('is held for reported or earlier usage, as far as the balance allows', async () => {
    const agent = await meteredAgent(database, { callsPriceMinor: 1_000 })
    const caller = await payer(3)
    await countUsage(services, [usageEvent(agent, caller, 5)])
    expect(await shown(caller)).toMatchObject({ available_minor: 0, held_minor: 3 })
    await fund(database, caller.accountId, 10)
    // As a database of an earlier version has it: calls without a hold, and without a currency.
    await database.query
      .insertInto('usage_events')
      .values({
        ...{ id: crypto.randomUUID(), account_id: caller.accountId, package_id: agent.id },
        ...{ version_id: agent.versions['1.0.0'], calls: 2, price_minor: 1_000, at: new Date() },
      })
      .execute()
    await fitHolds(services)
    expect(await shown(caller)).toMatchObject({ available_minor: 6, held_minor: 7 })
    await postUsage(services, { fromMinor: 0 })
    expect(await shown(caller)).toMatchObject({ available_minor: 6, held_minor: 0 })
  })

  it('remainders are held only while calls of their agent wait to be posted', async () => {
    const agents = await Promise.all([1, 2, 3].map(() => meteredAgent(database, { callsPriceMinor: 999 })))
    const caller = await payer(100)
    for (const agent of agents) await countUsage(services, [usageEvent(agent, caller, 1)])
    expect(await shown(caller)).toMatchObject({ held_minor: 3 })
    await postUsage(services, { fromMinor: 0, afterSeconds: 0 })
    await fitHolds(services, -1)
    expect(await shown(caller)).toMatchObject({ available_minor: 100, held_minor: 0 })
    // 0.999 + 0.999 of each agent.
    for (const agent of agents) expect(await call(agent, caller)).toMatchObject({ allowed: true })
    await postUsage(services, { fromMinor: 0, afterSeconds: 0 })
    await fitHolds(services, -1)
    expect(await shown(caller)).toMatchObject({ available_minor: 97, held_minor: 0 })
  })

  describe('caps', () => {
    const cap = (actor: Actor, amount_minor: number, more: { token_id?: string; currency?: string } = {}) =>
      database.query
        .insertInto('spend_caps')
        .values({
          ...{ account_id: actor.accountId, token_id: null, period: 'day', amount_minor, set_by: actor.accountId },
          ...more,
        })
        .execute()

    it('count calls that are not posted: 9.90 of calls and a license of 10.00 under a cap of 10.00', async () => {
      const agent = await meteredAgent(database, { callsPriceMinor: 990_000 })
      const buyer = await payer(10_000)
      await cap(buyer, 1_000)
      await countUsage(services, [usageEvent(agent, buyer, 1)])
      expect(await codeOf(buy(services, buyer, await license(1_000)))).toBe('spend_cap_exceeded')
      expect(await codeOf(buy(services, buyer, await license(10)))).toBe('done')
      expect(await call(agent, buyer)).toMatchObject({ allowed: false })
    })

    it('of an account and of a token count only spending in their own currency', async () => {
      const agent = await meteredAgent(database, { callsPriceMinor: 100_000 })
      const buyer = await payer(10_000)
      const token = await createTokenActor(database, buyer)
      for (const token_id of [token.tokenId, undefined]) await cap(buyer, 1_000, { token_id, currency: 'USD' })
      const spent = async () => {
        const { caps } = await spendCapsOf(services, { actor: buyer, account: undefined })
        return caps.map(({ spent_minor, currency }) => `${spent_minor} ${currency}`)
      }
      const event = (currency: string) => ({
        ...{ id: crypto.randomUUID(), account_id: buyer.accountId, package_id: agent.id, token_id: token.tokenId },
        ...{ version_id: agent.versions['1.0.0'], calls: 3, price_minor: 100_000, at: new Date(), currency },
      })
      await database.query
        .insertInto('usage_events')
        .values([event('EUR'), event('USD')])
        .execute()
      expect(await spent()).toEqual(['300 USD', '300 USD'])
      expect(await codeOf(buy(services, token, await license(701)))).toBe('spend_cap_exceeded')
      expect(await codeOf(buy(services, token, await license(700)))).toBe('done')
    })

    it('are not exceeded by carried remainders', async () => {
      const agents = [
        await meteredAgent(database, { callsPriceMinor: 500 }),
        await meteredAgent(database, { callsPriceMinor: 500 }),
      ]
      const buyer = await payer(10_000)
      await cap(buyer, 1)
      const post = () => postUsage(services, { fromMinor: 0, afterSeconds: 0 })
      for (const agent of agents) {
        expect(await call(agent, buyer)).toMatchObject({ allowed: true })
        await post()
      }
      // Half a unit is carried over for each of them: another half of both would come to two units.
      expect(await call(agents[0], buyer)).toMatchObject({ allowed: true })
      expect(await call(agents[1], buyer)).toMatchObject({ allowed: false })
      await post()
      expect((await shown(buyer)).available_minor).toBeGreaterThanOrEqual(9_999)
    })

    it('in another currency refuse, because amounts cannot be compared', async () => {
      const agent = await meteredAgent(database, { callsPriceMinor: 1 })
      const buyer = await payer(10_000)
      await cap(buyer, 1_000_000, { currency: 'JPY' })
      expect(await codeOf(buy(services, buyer, await license(1)))).toBe('spend_cap_exceeded')
      expect(await call(agent, buyer)).toMatchObject({ allowed: false })
    })
  })

  it('never exceeds the balance, for any sequence of operations', async () => {
    const agents = [
      await meteredAgent(database, { callsPriceMinor: 333 }),
      await meteredAgent(database, { callsPriceMinor: 7_001 }),
    ]
    const licenses = [await license(40), await license(90)]
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ call: fc.nat(1), times: fc.integer({ min: 1, max: 8 }) }) },
      { weight: 1, arbitrary: fc.record({ buy: fc.nat(1) }) },
      { weight: 1, arbitrary: fc.record({ post: fc.integer({ min: 1, max: 5 }) }) },
      { weight: 1, arbitrary: fc.constant('fit' as const) },
      { weight: 1, arbitrary: fc.record({ fund: fc.integer({ min: 1, max: 60 }) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const caller = await payer(100)
        let funded = 100
        let promised = 0
        for (const one of steps) {
          if (one === 'fit') await fitHolds(services, -1)
          else if ('post' in one) await postUsage(services, { fromMinor: 0, afterSeconds: 0, events: one.post })
          else if ('buy' in one) {
            const price = [40, 90][one.buy]
            const answer = await buy(services, caller, licenses[one.buy]).catch(() => null)
            if (answer?.status === 201) promised += price * 1_000
          } else if ('fund' in one) {
            await fund(database, caller.accountId, one.fund)
            funded += one.fund
          } else {
            const asked = Array.from({ length: one.times }, () => call(agents[one.call], caller))
            const allowed = (await Promise.all(asked)).filter((answer) => answer.allowed).length
            promised += allowed * [333, 7_001][one.call]
          }
          // What each of the two agents carries over is less than one, and is charged with its next calls.
          expect(promised).toBeLessThan((funded + 2) * 1_000)
          const { available_minor: available, held_minor: held } = await shown(caller)
          expect(available, 'nothing was promised of what is free').toBeLessThan(funded + 2 - promised / 1_000)
          expect(available + held).toBeLessThanOrEqual(funded)
        }
        await postUsage(services, { fromMinor: 0, afterSeconds: 0 })
        await fitHolds(services, -1)
        const { available_minor: available, held_minor: held } = await shown(caller)
        expect(held).toBe(0)
        expect(available - (funded - promised / 1_000)).toBeLessThan(2)
      }),
      { numRuns: process.env.AGENTGYM_TEST_LONG === '1' ? 200 : 10, endOnFailure: true },
    )
  }, 120_000)
})
