import { describeOnBothEngines } from '@agentgym/testkit/databases'
import { createEmptyPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { migrations } from './migrations/migrations.ts'
import { migrate, openDatabase } from './open-database.ts'

describeOnBothEngines('migrate on $kind', ({ open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database.close())

  const applied = async () => (await database.execute('select name from migrations order by number')).rows
  const tables = async () =>
    (await database.execute(`select relname from pg_class where relname like 'later%'`)).rows.length

  it('applies every migration once', async () => {
    await migrate(database)
    expect(await applied()).toEqual(migrations.map(({ name }) => ({ name })))
  })

  it('rolls back a failed migration', async () => {
    const failing = { name: 'failing', statements: ['create table later (id integer)', 'select nonsense'] }
    await expect(migrate(database, [...migrations, failing])).rejects.toThrow('nonsense')
    expect(await tables()).toBe(0)
    expect(await applied()).toHaveLength(migrations.length)
  })

  it('refuses a database with different migrations', async () => {
    const [first, ...rest] = migrations
    const edited = [{ ...first, statements: [...first.statements, 'select 1'] }, ...rest]
    await expect(migrate(database, edited)).rejects.toMatchObject({
      code: 'database_incompatible',
      data: { number: 1, name: first.name },
    })
  })

  it('builds the indexes that are missing, and those that could not be finished', async () => {
    const indexed = {
      name: 'indexed',
      statements: ['create table if not exists later_indexed (id integer)'],
      indexes: { later_indexed_idx: 'on later_indexed (id)' },
    }
    const valid = async () =>
      (await database.execute(`select indisvalid from pg_index where indexrelid = to_regclass('later_indexed_idx')`))
        .rows
    await database.transaction(async (query) => {
      for (const statement of indexed.statements) await sql.raw(statement).execute(query)
    })
    expect(await valid()).toEqual([])
    await migrate(database, [...migrations, indexed])
    expect(await valid()).toEqual([{ indisvalid: true }])
    if (database.kind === 'postgresql') {
      await database.execute(`update pg_index set indisvalid = false where indexrelid = 'later_indexed_idx'::regclass`)
      await Promise.all([1, 2, 3].map(() => migrate(database, [...migrations, indexed])))
      expect(await valid()).toEqual([{ indisvalid: true }])
    }
    await database.execute('drop table later_indexed')
    await database.execute('delete from migrations where name = $1', ['indexed'])
  })

  it('upgrades, and refuses a database newer than the program', async () => {
    const next = { name: 'next', statements: ['create table later (id integer)'] }
    await migrate(database, [...migrations, next])
    expect(await tables()).toBe(1)
    await expect(migrate(database)).rejects.toMatchObject({
      code: 'database_incompatible',
      data: { applied: migrations.length + 1, known: migrations.length },
    })
  })

  it('goes on with a newer database while all that it has more is compatible', async () => {
    const next = { name: 'next', statements: ['create table later (id integer)'] }
    const added = { name: 'added', statements: ['alter table later add column note text'], compatible: true } as const
    const known = [...migrations, next]
    await migrate(database, [...known, added])
    await migrate(database, known)
    expect((await applied()).at(-1)).toEqual({ name: 'added' })
    const changed = { name: 'changed', statements: ['alter table later drop column note'] }
    await migrate(database, [...known, added, changed])
    await expect(migrate(database, known)).rejects.toMatchObject({ code: 'database_incompatible' })
  })
})

it('calls only those compatible that add', () => {
  const adding =
    /^(create (table|function|trigger|(unique )?index)|alter table \w+ add column(?!.* not null(?!.* default)))\b/
  for (const { name, statements, compatible } of migrations) {
    const own = statements.flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? [])
    const filling = new RegExp(`^insert into (${own.join('|')}) `)
    if (compatible)
      for (const statement of statements)
        if (!(own.length > 0 && filling.test(statement))) expect(statement, name).toMatch(adding)
  }
})

it('replicas that start together migrate an empty database once', async () => {
  const url = await createEmptyPostgresqlDatabase()
  const replicas = await Promise.all(Array.from({ length: 5 }, () => openDatabase({ url })))
  const { rows } = await replicas[0].execute('select number, name from migrations order by number')
  expect(rows).toEqual(migrations.map(({ name }, index) => ({ number: index + 1, name })))
  await Promise.all(replicas.map((replica) => replica.close()))
})

it('numbers its migrations in order', () => {
  const names = migrations.map(({ name }) => name)
  for (const name of names) expect(name).toMatch(/^\d{4}-[a-z-]+$/)
  expect(names).toEqual(names.toSorted())
  expect(new Set(names.map((name) => name.slice(0, 4))).size).toBe(names.length)
})
