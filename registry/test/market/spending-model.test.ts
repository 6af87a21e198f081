import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../src/core/database/database.ts'
import { auditLedger } from '../../src/modules/ledger/audit-ledger.ts'
import { foldHotAccounts } from '../../src/modules/ledger/ledger.tasks.ts'
import { auditMarket } from '../../src/modules/orders/audit-market.ts'
import { hourMinor, Spending, type SpendingMarket } from './spending.ts'
import { createBuyers, openSpendingMarket } from './spending-market.ts'
import { quotaMinor, SpendingWorld, type Step, stepKinds } from './spending-world.ts'

const buyerCount = 2
const trials = isLong ? 1_000 : 3
const stepsATrial = isLong ? 100 : 50
const trialsAnAudit = isLong ? 50 : 2

const step: fc.Arbitrary<Step> = fc.oneof(
  ...Object.entries(stepKinds).map(([kind, weight]) => ({
    weight,
    arbitrary: fc.record({
      do: fc.constant(kind as Step['do']),
      ...{ who: fc.nat(2 * buyerCount - 1), what: fc.nat(20), amount: fc.integer({ min: 1, max: 200 }) },
    }),
  })),
)

describeOnEngines('calls, training, orders and payouts of accounts with little money, on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let market: SpendingMarket
  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    services.config.training.freeMinorPerMonth = quotaMinor
    services.config.market.payoutHoldDays = 0
    market = await openSpendingMarket(services, 0)
    // A worker with a price is connected, or nothing would be held for training.
    expect(await new Spending(services, market).takeTurn(), `${hourMinor} an hour`).toBeUndefined()
  })
  afterAll(async () => {
    await services.remove()
    await database.close()
  })

  const audit = async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
  }

  it(
    `never spend money twice, over ${trials} × up to ${stepsATrial} random operations`,
    async () => {
      const seed = Number(process.env.AGENTGYM_TEST_SEED ?? Date.now() % 2 ** 31)
      console.log(`seed ${seed}`)
      let [trial, operations] = [0, 0]
      const accepted = new Map<string, number>()
      const steps = fc.array(step, { minLength: isLong ? stepsATrial : 20, maxLength: stepsATrial, size: 'max' })
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const world = new SpendingWorld(services, { ...market, buyers: await createBuyers(services, buyerCount) })
          await world.fund()
          try {
            for (const one of all) await world.take(one)
          } catch (error) {
            // So that what is open does not get in the way of the next trial.
            await world.finish().catch(() => {})
            throw error
          }
          await world.finish()
          operations += world.operations
          for (const [what, count] of world.accepted) accepted.set(what, (accepted.get(what) ?? 0) + count)
          if (++trial % trialsAnAudit === 0) {
            await foldHotAccounts(database)
            await audit()
            if (isLong) console.log(`${trial} of ${trials} trials, ${operations} operations: the auditors find nothing`)
          }
        }),
        { seed, numRuns: trials, endOnFailure: isLong },
      )
      await audit()
      console.log(`${operations} operations; accepted: ${JSON.stringify(Object.fromEntries(accepted))}`)
    },
    isLong ? 3 * 3_600_000 : 300_000,
  )
})
