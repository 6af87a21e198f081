import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { openDatabase } from './open-database.ts'
import type { Schema } from './schema.ts'

// Needs several connections: on PGlite, which has one, these tests would be meaningless.
describe('PostgreSQL, two replicas', () => {
  let one: Database
  let other: Database
  beforeAll(async () => {
    const url = await createPostgresqlDatabase()
    one = await openDatabase({ url })
    other = await openDatabase({ url })
    await one.execute('create table counters (name text primary key, value integer not null)')
    await one.execute(`insert into counters values ('a', 0), ('b', 0), ('c', 0)`)
  })
  afterAll(() => Promise.all([one.close(), other.close()]))

  const value = async (name: string) =>
    (await one.execute('select value from counters where name = $1', [name])).rows[0].value
  const add = (query: Transaction<Schema>, name: string) =>
    sql`update counters set value = value + 1 where name = ${name}`.execute(query)
  const waiting = async () =>
    (await one.execute(`select count(*) as waiting from pg_locks where locktype = 'advisory' and not granted`)).rows[0]
      .waiting

  it('a lock blocks the other replica until the transaction ends, for that name only', async () => {
    const events: string[] = []
    const mayEnd = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const first = one.transaction(async (query) => {
      await one.lock(query, '@acme/maze')
      locked.resolve()
      await mayEnd.promise
      events.push('first ends')
    })
    await locked.promise
    const second = other.transaction(async (query) => {
      await other.lock(query, '@acme/maze')
      events.push('second has it')
    })
    await other.transaction((query) => other.lock(query, '@acme/other'))
    while ((await waiting()) !== 1) await new Promise(setImmediate)
    expect(events).toEqual([])
    mayEnd.resolve()
    await Promise.all([first, second])
    expect(events).toEqual(['first ends', 'second has it'])
  })

  it('a lock is released when its transaction fails', async () => {
    await expect(
      one.transaction(async (query) => {
        await one.lock(query, '@acme/maze')
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await other.transaction((query) => other.lock(query, '@acme/maze'))
  })

  it('retries after a deadlock', async () => {
    let runs = 0
    let holding = 0
    const bothHoldOne = Promise.withResolvers<void>()
    const addBoth = (database: Database, first: string, second: string) =>
      database.transaction(async (query) => {
        runs++
        await add(query, first)
        // Counted once the row is locked; otherwise the first could continue and lock both rows.
        holding++
        if (holding === 2) bothHoldOne.resolve()
        await bothHoldOne.promise
        await add(query, second)
      })
    await Promise.all([addBoth(one, 'a', 'b'), addBoth(other, 'b', 'a')])
    // The one that PostgreSQL undid ran again; it may have met the other a second time.
    expect(runs).toBeGreaterThanOrEqual(3)
    expect([await value('a'), await value('b')]).toEqual([2, 2])
  })

  it('retries serialization failures until nothing is lost', async () => {
    let runs = 0
    const increment = (database: Database) =>
      database.transaction(async (query) => {
        runs++
        await sql`set transaction isolation level serializable`.execute(query)
        const { rows } = await sql<{ value: number }>`select value from counters where name = 'c'`.execute(query)
        await sql`update counters set value = ${rows[0].value + 1} where name = 'c'`.execute(query)
      })
    await Promise.all(Array.from({ length: 12 }, (_, index) => increment(index % 2 === 0 ? one : other)))
    expect(await value('c')).toBe(12)
    expect(runs).toBeGreaterThan(12)
  })

  it('does not retry other failures', async () => {
    let runs = 0
    await expect(
      one.transaction(async (query) => {
        runs++
        await sql`insert into counters values ('a', 0)`.execute(query)
      }),
    ).rejects.toMatchObject({ code: '23505' })
    expect(runs).toBe(1)
  })

  it('recovers after the server has cut every connection', async () => {
    await Promise.all(Array.from({ length: 5 }, () => one.execute('select 1')))
    await other.execute(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    // A connection that is cut while it is used is an error of that query; once they are known to be gone, all is well.
    await expect.poll(() => one.execute('select 1 as one').catch(() => undefined)).toEqual({ rows: [{ one: 1 }] })
    expect(await value('a')).toBe(2)
  })

  it('ends statements that run too long and idle transactions', async () => {
    const setting = async (name: string) => (await one.execute(`show ${name}`)).rows[0][name]
    expect(await setting('statement_timeout')).toBe('30s')
    expect(await setting('idle_in_transaction_session_timeout')).toBe('30s')
  })
})

describe('openDatabase with an unusable URL', () => {
  it('includes the error from PostgreSQL', async () => {
    const url = (await createPostgresqlDatabase()).replace(/\/[^/?]+\?/, '/nowhere?')
    await expect(openDatabase({ url })).rejects.toMatchObject({
      code: 'database_unavailable',
      message: expect.stringContaining('database "nowhere" does not exist'),
    })
  })

  it('reports a server that does not respond', async () => {
    await expect(openDatabase({ url: 'postgresql://127.0.0.1:1/agentgym' })).rejects.toMatchObject({
      code: 'database_unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it('never shows the password', async () => {
    const refused = await openDatabase({ url: 'postgresql://jane:hunter2@127.0.0.1:1/agentgym' }).catch(
      (error) => error,
    )
    expect(JSON.stringify(refused.toReport())).not.toContain('hunter2')
    const invalid = await openDatabase({ url: 'postgresql://jane:hunter2@:x/y' }).catch((error) => error)
    expect(JSON.stringify(invalid.toReport())).not.toContain('hunter2')
    expect(invalid.code).toMatch(/config_invalid|database_unavailable/)
  })
})
