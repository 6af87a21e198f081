import { describeOnBothEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { ahead, sendAhead } from './flights.ts'
import { prepared } from './prepared-statements.ts'
import { sqlState } from './violated-constraint.ts'

describeOnBothEngines('statements that are sent ahead on $kind', ({ open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
    await database.execute('create table flown (id integer primary key, note text)')
  })
  afterAll(() => database.close())

  const add = (id: number) =>
    sql<{ id: number }>`${prepared}${ahead}
    insert into flown (id) values (${id}) returning id`.compile(database.query)
  const ids = async () => (await database.execute('select id from flown order by id')).rows.map(({ id }) => id)

  it('are there with the commit, and give their rows to whoever asks', async () => {
    const given = await database.transaction(async (query) => {
      const first = await sendAhead(query, add(1))
      await sendAhead(query, add(2))
      const seen = await sql<{ id: number }>`select id from flown order by id`.execute(query)
      const third = await sendAhead(query, add(3))
      return [await first(), seen.rows, await third()]
    })
    expect(given).toEqual([[{ id: 1 }], [{ id: 1 }, { id: 2 }], [{ id: 3 }]])
    await database.transaction(async (query) => void (await sendAhead(query, add(4))))
    expect(await ids()).toEqual([1, 2, 3, 4])
  })

  it('fail with the commit or before it, and nothing of their transaction is there', async () => {
    const twice = database.transaction(async (query) => {
      await sendAhead(query, add(5))
      await sendAhead(query, add(1))
      await sendAhead(query, add(6))
    })
    expect(sqlState(await twice.catch((error: unknown) => error))).toBe('23505')
    const before = database.transaction(async (query) => {
      await sendAhead(query, add(7))
      await sendAhead(query, add(1))
      await sql`${prepared} insert into flown (id) values (${8})`.execute(query)
    })
    expect(sqlState(await before.catch((error: unknown) => error))).toBe('23505')
    expect(await ids()).toEqual([1, 2, 3, 4])
  })

  it('are undone with what was held back, whether it was sent or not, and the connection serves the next one', async () => {
    const left = new Error('left')
    for (let attempt = 0; attempt < 20; attempt++) {
      const undone = database.transaction(async (query) => {
        await sendAhead(query, add(9))
        if (attempt % 2 === 0) await sql`select`.execute(query)
        throw left
      })
      await expect(undone).rejects.toBe(left)
      await database.transaction(async () => {})
    }
    await database.transaction(async (query) => void (await sendAhead(query, add(10))))
    expect(await ids()).toEqual([1, 2, 3, 4, 10])
  })

  it('are followed by statements with lists, objects and bytes, as the job queue sends them, the first ones too', async () => {
    const given = await database.transaction(async (query) => {
      const listed = await sql<{ id: number }>`select unnest(${sql.val([1, 2])}::integer[]) as id`.execute(query)
      await sendAhead(query, add(11))
      const values = sql<{ bytes: string; object: unknown }>`
        select encode(${sql.val(new Uint8Array([7]))}::bytea, 'hex') as bytes, ${sql.val({ a: 1 })}::jsonb as object`
      return [listed.rows, (await values.execute(query)).rows]
    })
    expect(given).toEqual([[{ id: 1 }, { id: 2 }], [{ bytes: '07', object: { a: 1 } }]])
    const failed = database.transaction(async (query) => {
      await sendAhead(query, add(11))
      await sql`select ${sql.val([1])}::integer[]`.execute(query)
    })
    expect(sqlState(await failed.catch((error: unknown) => error))).toBe('23505')
    expect(await ids()).toEqual([1, 2, 3, 4, 10, 11])
  })
})
