import { createHash } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { buildIndexes } from './build-indexes.ts'
import type { Database, Queries } from './database.ts'
import type { Migration } from './migrations/migration.ts'
import { migrations as allMigrations } from './migrations/migrations.ts'
import { openPgliteFolder } from './pglite-database.ts'
import { openPostgresql, type PostgresqlAddress, type PostgresqlOptions } from './postgresql-database.ts'
import type { Schema } from './schema.ts'

/** A PostgreSQL database, or a folder for the embedded one. */
export type DatabaseAddress = PostgresqlAddress | { folder: string }

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
  if ('folder' in address) return migrated(await openPgliteFolder(address.folder, options))
  // On a connection of its own: a migration may take longer than any statement of a request may.
  await (await migrated(await openPostgresql(address, { patient: true }))).close()
  return openPostgresql(address, options)
}

/** Opens the service's database without changing its schema, for work that takes as long as it takes. Throws as `openDatabase`. */
export function openAsItIs(address: DatabaseAddress): Promise<Database> {
  return 'folder' in address ? openPgliteFolder(address.folder) : openPostgresql(address, { patient: true })
}

/** Throws `database_incompatible` unless the database has the migrations of this program and no others at all. */
export async function requireSameVersion(database: Database, upgradeHint?: string): Promise<void> {
  await requireCurrent(database, upgradeHint)
  const found = await countMigrations(database)
  if (found > allMigrations.length)
    throw incompatible(
      `The database is newer than this program: it has ${found} migrations; this program knows ${allMigrations.length}.`,
      'Use the version that was last used with this database.',
      { applied: found, known: allMigrations.length },
    )
}

/** Throws `database_not_empty` if a PostgreSQL database holds anything. */
export async function requireEmpty(query: Queries): Promise<void> {
  const { rows } = await sql`
    select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S') limit 1`.execute(
    query,
  )
  if (rows.length > 0)
    throw new AgentGymError({
      code: 'database_not_empty',
      message: 'The database of DATABASE_URL is not empty; it must be.',
      hint: 'Create a new one (createdb NAME) and name it in DATABASE_URL.',
    })
}

/** Throws `database_incompatible` unless the database has the migrations of this program, and no others that it cannot work with. */
export async function requireCurrent(
  { query }: Database,
  upgradeHint = 'Use the version that serves this database, or bring it up to date with `agentgym admin migrate`.',
): Promise<void> {
  const found = await applied(query)
  refuseOthers(found, allMigrations)
  if (found.length < allMigrations.length)
    throw incompatible(
      `The database has ${found.length} of the ${allMigrations.length} migrations of this program.`,
      upgradeHint,
      { applied: found.length, known: allMigrations.length },
    )
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

type Applied = { number: number; name: string; checksum: string; compatible?: boolean }

/**
 * Applies the missing migrations in order, in one transaction, so a process that dies midway changes nothing. Replicas
 * that start together wait for each other. There is no downgrade. A database newer than this program is refused unless
 * all that it has more is `compatible`. Then builds indexes of large tables, see `buildIndexes`.
 */
export async function migrate(database: Database, migrations: readonly Migration[] = allMigrations): Promise<void> {
  await database.transaction((query) => applyMigrations(database, query, migrations))
  await buildIndexes(database, Object.assign({}, ...migrations.map(({ indexes }) => indexes)))
}

/** As `migrate`, as a part of a transaction; without indexes of large tables if the database is not new. */
export async function applyMigrations(
  database: Database,
  query: Transaction<Schema>,
  migrations: readonly Migration[] = allMigrations,
): Promise<void> {
  // Building an index on a large table may take longer than the timeout of a request.
  await sql`set local statement_timeout = 0`.execute(query)
  await database.lock(query, 'agentgym migrations')
  const found = await readApplied(query)
  refuseOthers(found, migrations)
  for (const [index, migration] of migrations.entries()) {
    if (index < found.length) continue
    for (const statement of migration.statements) await sql.raw(statement).execute(query)
    // A new database has no readers to block, and PGlite has one process.
    if (found.length === 0 || database.kind === 'pglite')
      for (const [name, on] of Object.entries(migration.indexes ?? {}))
        await sql.raw(`create index ${name} ${on}`).execute(query)
    await sql`insert into migrations (number, name, checksum, compatible)
      values (${index + 1}, ${migration.name}, ${checksum(migration)}, ${migration.compatible ?? false})`.execute(query)
  }
}

async function readApplied(query: Transaction<Schema>): Promise<Applied[]> {
  await sql`create table if not exists migrations (
    number integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz(3) not null default now()
  )`.execute(query)
  await sql`alter table migrations add column if not exists compatible boolean not null default false`.execute(query)
  return applied(query)
}

/** The migrations that the database has had, in order; none if it is empty. */
async function applied(query: Queries): Promise<Applied[]> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass('migrations') is not null as there`.execute(query)
  return rows[0].there ? (await sql<Applied>`select * from migrations order by number`.execute(query)).rows : []
}

/** How many migrations the database has had. */
export const countMigrations = async ({ query }: Database): Promise<number> => (await applied(query)).length

function refuseOthers(applied: Applied[], migrations: readonly Migration[]): void {
  if (applied.slice(migrations.length).some(({ compatible }) => !compatible))
    throw incompatible(
      `The database is newer than this program: it has ${applied.length} migrations, up to ${applied.at(-1)?.name}; this program knows ${migrations.length}.`,
      'Start the version that was last used with this database, or a newer one.',
      { applied: applied.length, known: migrations.length },
    )
  for (const [index, { name, checksum: recorded }] of applied.slice(0, migrations.length).entries()) {
    const migration = migrations[index]
    if (migration.name === name && checksum(migration) === recorded) continue
    throw incompatible(
      `The database was created by a different migration ${index + 1} (${name}) than the one in this program (${migration.name}).`,
      'Start the version that created this database. To change a released migration, add a new one.',
      { number: index + 1, name },
    )
  }
}

function checksum({ name, statements, indexes }: Migration): string {
  return createHash('sha256')
    .update(JSON.stringify([name, ...statements, ...(indexes === undefined ? [] : [indexes])]))
    .digest('hex')
}

function incompatible(message: string, hint: string, data: Record<string, unknown>): AgentGymError {
  return new AgentGymError({ code: 'database_incompatible', message, hint, data })
}
