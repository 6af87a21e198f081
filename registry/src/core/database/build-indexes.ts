import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import type { Schema } from './schema.ts'

type Index = { name: string; on: string }

/**
 * Builds the indexes that are missing on PostgreSQL, by name, without locking their tables: others read and write them meanwhile.
 * One process does it; the others go on without them. What a process that died has left half-built is built again.
 */
export async function buildIndexes(database: Database, indexes: Readonly<Record<string, string>>): Promise<void> {
  const wanted = Object.entries(indexes).map(([name, on]) => ({ name, on }))
  if (database.kind === 'pglite' || (await missing(database.query, wanted)).length === 0) return
  await database.query.connection().execute(async (connection) => {
    // Tried, not waited for: to build an index PostgreSQL waits for all statements that run, so one that waits for it would never end.
    const lock = sql`hashtextextended('agentgym indexes', 0)`
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${lock}) as locked`.execute(connection)
    if (!rows[0].locked) return
    try {
      await sql`set statement_timeout = 0`.execute(connection)
      for (const { name, on } of await missing(connection, wanted)) {
        await sql.raw(`drop index concurrently if exists ${name}`).execute(connection)
        await sql.raw(`create index concurrently ${name} ${on}`).execute(connection)
      }
    } finally {
      await sql`reset statement_timeout`.execute(connection)
      await sql`select pg_advisory_unlock(${lock})`.execute(connection)
    }
  })
}

/** Those that do not exist, or are not valid: PostgreSQL keeps what it could not finish. */
async function missing(query: Kysely<Schema>, wanted: Index[]): Promise<Index[]> {
  const { rows } = await sql<{ name: string }>`
    select indexrelid::regclass::text as name from pg_index
    where indisvalid and indexrelid = any(array(select to_regclass(name) from unnest(${sql.val(wanted.map(({ name }) => name))}::text[]) as name))`.execute(
    query,
  )
  const valid = new Set(rows.map(({ name }) => name))
  return wanted.filter(({ name }) => !valid.has(name))
}
