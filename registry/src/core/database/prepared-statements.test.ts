import { describeOnBothEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { prepared } from './prepared-statements.ts'

describeOnBothEngines('marked statements on $kind', ({ kind, open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database.close())

  it('are planned once a connection where there are several, and give what others give', async () => {
    await database.transaction(async (query) => {
      const double = async (value: number) =>
        (await sql<{ doubled: number }>`${prepared} select ${value}::bigint * 2 as doubled`.execute(query)).rows[0]
          .doubled
      expect([await double(1), await double(2), await double(3)]).toEqual([2, 4, 6])
      const built = query.selectFrom('accounts').select('id').where('username', '=', 'nobody').modifyEnd(prepared)
      expect([await built.execute(), await built.execute()]).toEqual([[], []])
      const { rows } = await sql<{ uses: number }>`
        select (generic_plans + custom_plans)::int as uses from pg_prepared_statements
        where statement like '%prepared%' order by uses`.execute(query)
      if (kind === 'postgresql') expect(rows).toEqual([{ uses: 2 }, { uses: 3 }])
    })
  })

  it('that fail are no harm to the next one', async () => {
    const divide = (by: number) =>
      sql<{ result: number }>`${prepared} select 10 / ${by}::int as result`.execute(database.query)
    await expect(divide(0)).rejects.toThrow('division by zero')
    expect((await divide(5)).rows).toEqual([{ result: 2 }])
    expect((await divide(2)).rows).toEqual([{ result: 5 }])
  })
})
