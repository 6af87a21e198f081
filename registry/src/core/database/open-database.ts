import { createHash } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import type { Migration } from './migrations/migration.ts'
import { migrations as allMigrations } from './migrations/migrations.ts'
import { openPgliteFolder } from './pglite-database.ts'
import { openPostgresql, type PostgresqlOptions } from './postgresql-database.ts'
import type { Schema } from './schema.ts'

/** `url` of a PostgreSQL database, or a folder for the embedded one. */
export type DatabaseAddress = { url: string } | { folder: string }

/**
 * Opens the service's database and brings its schema up to date.
 * @throws AgentGymError `database_in_use`: another process has the folder; `database_damaged`: it cannot be opened;
 * `database_unavailable`: no PostgreSQL that can be used answers; `database_incompatible`: the schema is newer than this
 * program, or not what its migrations made.
 */
export async function openDatabase(
  address: DatabaseAddress,
  options: Pick<PostgresqlOptions, 'onOutage'> = {},
): Promise<Database> {
  if ('folder' in address) return migrated(await openPgliteFolder(address.folder))
  // On a connection of its own: a migration may take longer than any statement of a request may.
  await (await migrated(await openPostgresql(address.url, { patient: true }))).close()
  return openPostgresql(address.url, options)
}

async function migrated(database: Database): Promise<Database> {
  try {
    await migrate(database)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

type Applied = { number: number; name: string; checksum: string }

/**
 * Applies the missing migrations in order, in one transaction, so a process that dies midway changes nothing. Replicas
 * that start together wait for each other. There is no downgrade; a database newer than this program is refused.
 */
export async function migrate(database: Database, migrations: readonly Migration[] = allMigrations): Promise<void> {
  await database.transaction(async (query) => {
    // Building an index on a large table may take longer than the timeout of a request.
    await sql`set local statement_timeout = 0`.execute(query)
    await database.lock(query, 'agentgym migrations')
    const applied = await readApplied(query)
    refuseOthers(applied, migrations)
    for (const [index, migration] of migrations.entries()) {
      if (index < applied.length) continue
      for (const statement of migration.statements) await sql.raw(statement).execute(query)
      await sql`insert into migrations (number, name, checksum)
        values (${index + 1}, ${migration.name}, ${checksum(migration)})`.execute(query)
    }
  })
}

async function readApplied(query: Transaction<Schema>): Promise<Applied[]> {
  await sql`create table if not exists migrations (
    number integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz(3) not null default now()
  )`.execute(query)
  const { rows } = await sql<Applied>`select number, name, checksum from migrations order by number`.execute(query)
  return rows
}

function refuseOthers(applied: Applied[], migrations: readonly Migration[]): void {
  if (applied.length > migrations.length)
    throw incompatible(
      `The database is newer than this program: it has ${applied.length} migrations, up to ${applied.at(-1)?.name}; this program knows ${migrations.length}.`,
      'Start the version that was last used with this database, or a newer one.',
      { applied: applied.length, known: migrations.length },
    )
  for (const [index, { name, checksum: recorded }] of applied.entries()) {
    const migration = migrations[index]
    if (migration.name === name && checksum(migration) === recorded) continue
    throw incompatible(
      `The database was created by a different migration ${index + 1} (${name}) than the one in this program (${migration.name}).`,
      'Start the version that created this database. To change a released migration, add a new one.',
      { number: index + 1, name },
    )
  }
}

function checksum({ name, statements }: Migration): string {
  return createHash('sha256')
    .update(JSON.stringify([name, ...statements]))
    .digest('hex')
}

function incompatible(message: string, hint: string, data: Record<string, unknown>): AgentGymError {
  return new AgentGymError({ code: 'database_incompatible', message, hint, data })
}
