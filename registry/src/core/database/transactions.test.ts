import { describeOnBothEngines } from '@agentgym/testkit/databases'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from './database.ts'

const transfer = fc.record({
  from: fc.nat({ max: 3 }),
  to: fc.nat({ max: 3 }),
  amount: fc.integer({ min: 1, max: 60 }),
  fails: fc.boolean(),
})

describeOnBothEngines('transactions on $kind', ({ open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
    await database.execute(
      'create table purses (id integer primary key, amount integer not null constraint purses_amount_check check (amount >= 0))',
    )
  })
  afterAll(() => database.close())

  /** Takes before it gives, in any order of the purses: on PostgreSQL two of them may deadlock, and then one is run again. */
  const run = ({ from, to, amount, fails }: { from: number; to: number; amount: number; fails: boolean }) =>
    database.transaction(async (query) => {
      await sql`update purses set amount = amount - ${amount} where id = ${from}`.execute(query)
      if (fails) throw new Error('on purpose')
      await sql`update purses set amount = amount + ${amount} where id = ${to}`.execute(query)
    })

  it('any concurrent transactions are atomic', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(transfer, { minLength: 1, maxLength: 25 }), async (transfers) => {
        await database.execute('delete from purses')
        await database.execute('insert into purses select id, 100 from generate_series(0, 3) id')
        const results = await Promise.allSettled(transfers.map(run))
        const expected = [100, 100, 100, 100]
        for (const [index, { from, to, amount }] of transfers.entries()) {
          if (results[index].status === 'rejected') continue
          expected[from] -= amount
          expected[to] += amount
        }
        const { rows } = await database.execute('select amount from purses order by id')
        expect(rows.map((row) => row.amount)).toEqual(expected)
        // Only a purse that would be overdrawn, or a failure of its own, keeps a transfer from being done.
        for (const [index, result] of results.entries())
          if (result.status === 'rejected' && !transfers[index].fails)
            expect(result.reason).toMatchObject({ constraint: 'purses_amount_check' })
      }),
      { numRuns: 20 },
    )
  })
})
