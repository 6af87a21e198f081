import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { foldHotAccounts } from '../ledger/ledger.tasks.ts'
import { auditMarket } from './audit-market.ts'
import { openMarketWorld, packageCount, type Step, traderCount } from './testing/market-world.ts'

const trials = isLong ? 200 : 5
const stepsATrial = isLong ? 500 : 50
/** How often everything is audited: it grows with the trials. */
const trialsAnAudit = isLong ? 20 : 1

const trader = fc.nat(traderCount - 1)
const listed = fc.nat(packageCount - 1)
const order = fc.nat(20)
const amount = fc.integer({ min: 1, max: 3_000 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('topUp' as const), trader, amount }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('buy' as const),
      ...{
        trader,
        listed,
        provider: fc.constantFrom(false, false, false, true),
        stale: fc.constantFrom(false, false, false, true),
      },
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('crowd' as const),
      trader,
      listed: fc.uniqueArray(listed, { minLength: 2, maxLength: 5 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('repeat' as const), back: fc.nat(5) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      ...{ order, by: fc.constantFrom('seller' as const, 'seller' as const, 'buyer' as const, 'stranger' as const) },
      amount: fc.option(amount, { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('use' as const), order }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('price' as const), listed, amount }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('run' as const), trader, listed }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      order,
      outcome: fc.constantFrom('post' as const, 'void' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('chargeBack' as const), order }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('payOut' as const), trader, amount }) },
)

describeOnEngines('a market on $kind', ({ open }) => {
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

  const audit = async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
  }

  it(
    `does what the model says, and the auditors find nothing, over ${trials} × up to ${stepsATrial} random operations`,
    async () => {
      const seed = Number(process.env.AGENTGYM_TEST_SEED ?? Date.now() % 2 ** 31)
      console.log(`seed ${seed}`)
      let trial = 0
      let operations = 0
      const steps = fc.array(step, { minLength: isLong ? stepsATrial : 10, maxLength: stepsATrial, size: 'max' })
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const world = await openMarketWorld(services)
          for (const [index, one] of all.entries()) {
            await world.take(one)
            if (index % 10 === 9) await world.compare()
          }
          await world.compare()
          operations += world.operations
          if (trial % 3 === 0) await foldHotAccounts(database)
          if (++trial % trialsAnAudit === 0) {
            await audit()
            console.log(`${trial} of ${trials} trials, ${operations} operations: the auditors find nothing`)
          }
        }),
        { seed, numRuns: trials, endOnFailure: isLong },
      )
      await audit()
      console.log(`${operations} operations`)
    },
    isLong ? 3 * 3_600_000 : 300_000,
  )
})
