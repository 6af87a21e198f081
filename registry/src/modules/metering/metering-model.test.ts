import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { auditMarket } from '../orders/audit-market.ts'
import { createTrader, fullBalance, fund, type Listed } from '../orders/testing/marketplace.ts'
import { callAllowance } from './call-terms.ts'
import { countUsage } from './count-usage.ts'
import { postUsage } from './post-usage.ts'
import { meteredAgent, setCallTerms, usageEvent } from './testing/metered-agents.ts'

const runs = isLong ? 300 : 12

type Step =
  | { do: 'tell'; calls: number[] }
  | { do: 'repeat'; back: number }
  | { do: 'trial'; times: number }
  | { do: 'price'; callsPriceMinor: number }
  | { do: 'fund'; amountMinor: number }
  | { do: 'post'; replicas: number; events: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('tell' as const),
    calls: fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 6 }),
  }),
  fc.record({ do: fc.constant('repeat' as const), back: fc.nat({ max: 10 }) }),
  fc.record({ do: fc.constant('trial' as const), times: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('price' as const), callsPriceMinor: fc.integer({ min: 1, max: 5_000 }) }),
  fc.record({ do: fc.constant('fund' as const), amountMinor: fc.integer({ min: 1, max: 20_000 }) }),
  fc.record({
    do: fc.constant('post' as const),
    replicas: fc.integer({ min: 1, max: 3 }),
    events: fc.integer({ min: 1, max: 5 }),
  }),
)

/** A free agent whose calls cost something after a trial: what one account has made of it, and what that comes to. */
class Model {
  trialLeft: number
  priceMinor: number
  fundedMinor = 0
  /** In thousandths of a minor unit. */
  owed = 0n
  calls = 0

  constructor(terms: { trialCalls: number; callsPriceMinor: number }) {
    this.trialLeft = terms.trialCalls
    this.priceMinor = terms.callsPriceMinor
  }

  call(calls: number): void {
    const trial = Math.min(this.trialLeft, calls)
    this.trialLeft -= trial
    this.calls += calls
    this.owed += BigInt(calls - trial) * BigInt(this.priceMinor)
  }
}

describeOnEngines('metered calls against a model on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
  })
  afterAll(async () => {
    await services.remove()
    await database.close()
  })

  const balance = ({ accountId }: Actor) => fullBalance(database, accountId)

  async function play(steps: Step[], trialCalls: number): Promise<void> {
    const model = new Model({ trialCalls, callsPriceMinor: 100 })
    const agent: Listed = await meteredAgent(database, { trialCalls, callsPriceMinor: 100 })
    const caller = await createTrader(database, 'caller')
    const reported: ReturnType<typeof usageEvent>[] = []
    const take: { [Kind in Step['do']]: (step: Extract<Step, { do: Kind }>) => Promise<unknown> } = {
      tell: async ({ calls }) => {
        const events = calls.map((count) => usageEvent(agent, caller, count))
        expect(await countUsage(services, events)).toEqual({ counted: events.length, repeated: 0 })
        reported.push(...events)
        // In whatever order they took of the trial, together they took as much.
        for (const count of calls) model.call(count)
      },
      repeat: async ({ back }) => {
        const events = reported.slice(-1 - back)
        if (events.length === 0) return
        expect(await countUsage(services, events)).toEqual({ counted: 0, repeated: events.length })
      },
      trial: async ({ times }) => {
        const { username: account } = caller
        const requested = Array.from({ length: times }, () => ({
          package: agent.name,
          version: '1.0.0',
          account,
          call: randomUUID(),
        }))
        const answers = await Promise.all(requested.map((request) => callAllowance(services, request)))
        const onTrial = answers.filter(({ because }) => because === 'trial').length
        expect(onTrial).toBe(Math.min(times, model.trialLeft))
        // Beyond the trial those that the balance covers are counted and held as well.
        const paid = answers.filter(({ because }) => because === 'free').length
        for (let call = 0; call < onTrial + paid; call++) model.call(1)
      },
      price: async ({ callsPriceMinor }) => {
        await setCallTerms(database, agent, { trialCalls, callsPriceMinor })
        model.priceMinor = callsPriceMinor
      },
      fund: async ({ amountMinor }) => {
        await fund(database, caller.accountId, amountMinor)
        model.fundedMinor += amountMinor
      },
      post: async ({ replicas, events }) => {
        const limits = { fromMinor: 0, afterSeconds: 0, events }
        await Promise.all(Array.from({ length: replicas }, () => postUsage(services, limits)))
      },
    }
    for (const one of steps) {
      await (take[one.do] as (step: Step) => Promise<unknown>)(one)
      const paid = model.fundedMinor - (await balance(caller))
      expect(BigInt(paid) * 1_000n, 'never more than was called').toBeLessThanOrEqual(model.owed)
    }
    const lacking = Number(model.owed / 1_000n) - model.fundedMinor
    if (lacking > 0) await take.fund({ do: 'fund', amountMinor: lacking })
    await take.post({ do: 'post', replicas: 2, events: 3 })
    expect(model.fundedMinor - (await balance(caller)), 'in the end all of it').toBe(Number(model.owed / 1_000n))
    const { calls } = await database.query
      .selectFrom('usage_batches')
      .select(({ fn }) => fn.sum<number>('calls').as('calls'))
      .where('account_id', '=', caller.accountId)
      .executeTakeFirstOrThrow()
    expect(Number(calls ?? 0)).toBe(model.calls)
  }

  it('payments equal calls, for any sequence of operations', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), fc.nat({ max: 2_000 }), play), {
      numRuns: runs,
      endOnFailure: true,
    })
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
    expect(services.logged.filter(({ level }) => level === 'error')).toEqual([])
  }, 600_000)
})
