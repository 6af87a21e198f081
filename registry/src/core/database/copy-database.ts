import assert from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { applyMigrations, requireEmpty, requireSameVersion } from './open-database.ts'
import { readSnapshot } from './read-snapshot.ts'
import type { Schema } from './schema.ts'

type Query = Transaction<Schema>
type Table = { name: string; columns: string[]; types: string[] }
type Content = { rows: number; digest: string }

export type CopyOptions = { onProgress?: (rows: number, total: number) => void }

/** Characters that one insert carries, about. */
const batchLength = 2 ** 20
const mostRows = 1_000

/**
 * Copies everything of one database into another, which must be empty, whatever engine either runs on. One transaction:
 * an interrupted copy leaves nothing. It is committed once every table of both has the same rows.
 * Throws `database_incompatible`, `database_not_empty`.
 */
export async function copyDatabase(
  from: Database,
  to: Database,
  { onProgress = () => {} }: CopyOptions = {},
): Promise<{ tables: number; rows: number }> {
  await requireSameVersion(from)
  const copied = await from.transaction(async (source) => {
    await readSnapshot(source)
    await writeValuesAlike(source)
    return to.transaction(async (target) => {
      await writeValuesAlike(target)
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(target)
      await requireEmpty(target)
      await applyMigrations(to, target)
      return copyAll(source, target, onProgress)
    })
  })
  // PostgreSQL plans without statistics until it finds the time to collect them.
  await to.execute('analyze')
  return copied
}

/** Values travel as text, which these settings affect. */
async function writeValuesAlike(query: Query): Promise<void> {
  await sql`select set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true),
    set_config('IntervalStyle', 'postgres', true), set_config('bytea_output', 'hex', true),
    set_config('extra_float_digits', '1', true)`.execute(query)
}

async function copyAll(source: Query, target: Query, onProgress: (rows: number, total: number) => void) {
  await makePartitions(source, target)
  const tables = await tablesOf(source)
  assert(isDeepStrictEqual(await tablesOf(target), tables), 'the migrations make the same tables on both engines')
  const names = sql.join(tables.map(({ name }) => sql.table(name)))
  const restoreRules = await suspendRules(target)
  // What migrations have inserted is among the rows of the source.
  await sql`truncate ${names}`.execute(target)
  const expected = new Map<string, Content>()
  for (const table of tables) expected.set(table.name, await contentOf(source, table))
  const total = [...expected.values()].reduce((sum, { rows }) => sum + rows, 0)
  let done = 0
  for (const table of tables) {
    await copyTable(source, target, table, (rows) => {
      done += rows
      onProgress(done, total)
    })
  }
  for (const table of tables)
    assert.deepEqual(await contentOf(target, table), expected.get(table.name), `the copy of ${table.name}`)
  await copySequences(source, target)
  await restoreRules()
  return { tables: tables.length, rows: total }
}

/** Tables that hold rows, with the columns that are written, not computed. */
async function tablesOf(query: Query): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns,
      array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum) as types
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    group by c.relname order by c.relname::text collate "C"`.execute(query)
  return rows
}

/** Partitions that the service has made as it went. */
async function makePartitions(source: Query, target: Query): Promise<void> {
  const { rows } = await sql<{ name: string; parent: string; bound: string }>`
    select c.relname::text as name, p.relname::text as parent, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits join pg_class c on c.oid = inhrelid join pg_class p on p.oid = inhparent
    where c.relispartition and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`.execute(source)
  for (const { name, parent, bound } of rows)
    await sql`create table if not exists ${sql.table(name)} partition of ${sql.table(parent)} ${sql.raw(bound)}`.execute(
      target,
    )
}

/**
 * Takes triggers and foreign keys away, which would act on rows one by one, in an order that no table order satisfies.
 * Resolves to what brings them back; foreign keys then check every row.
 */
async function suspendRules(target: Query): Promise<() => Promise<void>> {
  const keys = await sql<{ table: string; name: string; definition: string }>`
    select conrelid::regclass::text as table, conname::text as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace`.execute(
    target,
  )
  const triggers = await sql<{ table: string; name: string }>`
    select tgrelid::regclass::text as table, tgname::text as name
    from pg_trigger join pg_class c on c.oid = tgrelid
    where not tgisinternal and tgparentid = 0 and tgenabled = 'O' and c.relnamespace = 'public'::regnamespace`.execute(
    target,
  )
  const alter = (table: string, change: RawBuilder<unknown>) =>
    sql`alter table ${sql.raw(table)} ${change}`.execute(target)
  for (const { table, name } of keys.rows) await alter(table, sql`drop constraint ${sql.ref(name)}`)
  for (const { table, name } of triggers.rows) await alter(table, sql`disable trigger ${sql.ref(name)}`)
  return async () => {
    for (const { table, name, definition } of keys.rows)
      await alter(table, sql`add constraint ${sql.ref(name)} ${sql.raw(definition)}`)
    for (const { table, name } of triggers.rows) await alter(table, sql`enable trigger ${sql.ref(name)}`)
  }
}

async function copyTable(source: Query, target: Query, table: Table, onRows: (rows: number) => void): Promise<void> {
  const { name, columns, types } = table
  const texts = columns.map((column) => sql`${sql.ref(column)}::text`)
  await sql`declare copied no scroll cursor for select array[${sql.join(texts)}] as texts from ${sql.table(name)}`.execute(
    source,
  )
  const typed = types.map((type, index) => sql`${sql.ref(`c${index}`)}::${sql.raw(type)}`)
  const aliases = sql.join(types.map((_, index) => sql.ref(`c${index}`)))
  try {
    for (let count = 1; ; ) {
      const { rows } = await sql<{ texts: (string | null)[] }>`fetch ${sql.lit(count)} from copied`.execute(source)
      if (rows.length === 0) return
      const values = columns.map((_, index) => sql`${rows.map(({ texts }) => texts[index])}::text[]`)
      await sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))})
        overriding system value
        select ${sql.join(typed)} from unnest(${sql.join(values)}) as batch (${aliases})`.execute(target)
      onRows(rows.length)
      const length = rows.reduce((sum, { texts }) => sum + texts.reduce((own, text) => own + (text?.length ?? 4), 0), 0)
      count = Math.min(mostRows, Math.max(1, Math.floor((batchLength * rows.length) / length)))
    }
  } finally {
    await sql`close copied`.execute(source)
  }
}

/** How many rows a table has, and a sum of their hashes, which says the same in any order. */
async function contentOf(query: Query, { name, columns }: Table): Promise<Content> {
  const row = sql.join(columns.map((column) => sql.ref(column)))
  const { rows } = await sql<Content>`
    select count(*) as rows, coalesce(sum(
      ('x' || left(encode(sha256(convert_to(row(${row})::text, 'UTF8')), 'hex'), 15))::bit(60)::bigint), 0)::text as digest
    from ${sql.table(name)}`.execute(query)
  return { ...rows[0] }
}

async function copySequences(source: Query, target: Query): Promise<void> {
  const sequences = await sql<{ name: string }>`
    select relname::text as name from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace`.execute(
    source,
  )
  for (const { name } of sequences.rows) {
    const state = await sql<{ last: string; called: boolean }>`
      select last_value::text as last, is_called as called from ${sql.table(name)}`.execute(source)
    const { last, called } = state.rows[0]
    await sql`select setval(${sql.lit(`public.${name}`)}::regclass, ${last}::bigint, ${called})`.execute(target)
  }
}
