import { setTimeout as delay } from 'node:timers/promises'
import { describeOnBothEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database, Queries } from './database.ts'

describeOnBothEngines('Database on $kind', ({ kind, open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
    await database.execute('create table notes (id integer primary key, text text not null)')
  })
  afterAll(() => database.close())

  const notes = async () =>
    (await database.execute('select id, text from notes order by id')).rows.map(({ id, text }) => `${id} ${text}`)

  it('returns every type as the same JavaScript value', async () => {
    expect(database.kind).toBe(kind)
    const { rows } = await sql`select
      9007199254740991::int8 as counter, '{1,2,null}'::int8[] as counters, 7::int4 as small, 0.5::float8 as real,
      '12.50'::numeric as exact, true as yes, '{"a": [1, "b", null]}'::jsonb as json, '[1]'::jsonb as list,
      '2026-11-28T12:00:00.123+02'::timestamptz(3) as at, '2026-11-28'::date as day, '{2026-11-28}'::date[] as days,
      '1 day'::interval as span, '3b241101-e2bb-4255-8caf-4136c566a962'::uuid as id, '{a,"b c"}'::text[] as words,
      null::int8 as nothing, '2026-11-28T23:30:00Z'::timestamptz::date as today`.execute(database.query)
    expect(rows).toEqual([
      {
        counter: Number.MAX_SAFE_INTEGER,
        counters: [1, 2, null],
        small: 7,
        real: 0.5,
        exact: '12.50',
        yes: true,
        json: { a: [1, 'b', null] },
        list: [1],
        at: new Date('2026-11-28T10:00:00.123Z'),
        day: '2026-11-28',
        days: ['2026-11-28'],
        span: '1 day',
        id: '3b241101-e2bb-4255-8caf-4136c566a962',
        words: ['a', 'b c'],
        nothing: null,
        today: '2026-11-28',
      },
    ])
  })

  it('reports the number of connections in use', async () => {
    expect(database.connections()).toMatchObject({ active: 0, waiting: 0 })
    await database.transaction(async (query) => {
      await sql`select 1`.execute(query)
      expect(database.connections()).toMatchObject({ active: 1, waiting: 0 })
    })
    const held = Promise.withResolvers<void>()
    const many = 12
    const begun = Array.from({ length: many }, () => database.transaction(() => held.promise))
    // PostgreSQL opens connections on demand; PGlite has one.
    const active = kind === 'pglite' ? 1 : 10
    await expect
      .poll(() => database.connections(), { timeout: 30_000 })
      .toMatchObject({ active, waiting: many - active })
    held.resolve()
    await Promise.all(begun)
    expect(database.connections()).toMatchObject({ active: 0, waiting: 0 })
  })

  it('never rounds a bigint', async () => {
    await expect(sql`select 9007199254740993::int8`.execute(database.query)).rejects.toThrow('9007199254740993')
  })

  it('accepts the values that it returns', async () => {
    const at = new Date('2026-11-28T10:00:00.123Z')
    const { rows } = await sql<{ at: Date; json: unknown; counter: number }>`select
      ${at}::timestamptz as at, ${JSON.stringify(['a'])}::jsonb as json, ${2 ** 53 - 1}::int8 as counter`.execute(
      database.query,
    )
    expect(rows).toEqual([{ at, json: ['a'], counter: 2 ** 53 - 1 }])
  })

  it('reports the number of changed rows, with and without RETURNING', async () => {
    const limit = { key: 'a', window_start: new Date(0), count: 1 }
    await database.query
      .insertInto('rate_limits')
      .values([limit, { ...limit, key: 'b' }])
      .execute()
    const raised = await database.query.updateTable('rate_limits').set({ count: 2 }).executeTakeFirstOrThrow()
    expect(raised.numUpdatedRows).toBe(2n)
    const removed = await database.query.deleteFrom('rate_limits').returning('key').execute()
    expect(removed.map(({ key }) => key).sort()).toEqual(['a', 'b'])
  })

  it('keeps transactions atomic, and rolls back one that throws', async () => {
    await database.transaction(async (query) => {
      await sql`insert into notes values (1, 'kept'), (2, 'kept')`.execute(query)
    })
    const failure = new Error('no')
    await expect(
      database.transaction(async (query) => {
        await sql`insert into notes values (3, 'undone')`.execute(query)
        throw failure
      }),
    ).rejects.toBe(failure)
    expect(await notes()).toEqual(['1 kept', '2 kept'])
  })

  it('does not report a commit after a swallowed error', async () => {
    const swallowing = database.transaction(async (query) => {
      await sql`insert into notes values (4, 'undone')`.execute(query)
      await sql`insert into notes values (1, 'taken')`.execute(query).catch(() => {})
    })
    await expect(swallowing).rejects.toThrow()
    expect(await notes()).toEqual(['1 kept', '2 kept'])
  })

  it('keeps statements out of other callers’ transactions', async () => {
    const started = Promise.withResolvers<void>()
    const undone = database.transaction(async (query) => {
      await sql`insert into notes values (5, 'undone')`.execute(query)
      started.resolve()
      await delay(20)
      throw new Error('no')
    })
    await started.promise
    const beside = sql`insert into notes values (6, 'kept')`.execute(database.query)
    await expect(undone).rejects.toThrow('no')
    await beside
    expect(await notes()).toEqual(['1 kept', '2 kept', '6 kept'])
  })

  it('refuses a query that bypasses its own transaction, instead of hanging', async () => {
    const message = 'must use the transaction it was given'
    const inside = (work: () => Promise<unknown>) => database.transaction(() => work())
    await expect(inside(() => database.query.selectFrom('accounts').selectAll().execute())).rejects.toThrow(message)
    await expect(inside(() => database.transaction(async () => {}))).rejects.toThrow(message)
    await expect(inside(() => database.execute('select 1'))).rejects.toThrow(message)
    // Work started without awaiting may continue after the transaction.
    let later: Promise<unknown> | undefined
    await inside(async () => {
      later = delay(20).then(() => database.execute('select 1'))
    })
    await later
  })

  it('refuses queries in a finished transaction', async () => {
    let over: Queries = database.query
    await database.transaction(async (query) => {
      over = query
    })
    await expect(sql`insert into notes values (8, 'late')`.execute(over)).rejects.toThrow('already committed')
    await expect(
      database.transaction(async (query) => {
        over = query
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await expect(sql`insert into notes values (8, 'late')`.execute(over)).rejects.toThrow('already rolled back')
    expect(await notes()).not.toContain('8 late')
  })

  it('counts concurrent updates correctly', async () => {
    await sql`insert into notes values (100, '0')`.execute(database.query)
    const add = () =>
      database.transaction(async (query) => {
        await database.lock(query, 'note 100')
        const { rows } = await sql<{ text: string }>`select text from notes where id = 100`.execute(query)
        await sql`update notes set text = ${String(Number(rows[0].text) + 1)} where id = 100`.execute(query)
      })
    await Promise.all(Array.from({ length: 40 }, add))
    expect(await notes()).toContain('100 40')
  })

  it('runs several raw statements and returns the rows of all', async () => {
    const { rows } = await database.execute(`begin; select 1 as a; select 2 as a union select 3 order by a; commit`)
    expect(rows).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }])
    expect((await database.execute('select $1::int8 as b', [4])).rows).toEqual([{ b: 4 }])
  })

  it('leaves no open transaction after failed raw statements', async () => {
    await expect(database.execute(`begin; insert into notes values (7, 'undone'); select nonsense`)).rejects.toThrow()
    await Promise.all(Array.from({ length: 12 }, () => database.execute('select 1')))
    expect(await notes()).not.toContain('7 undone')
  })
})
