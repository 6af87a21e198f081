import type { Database } from './database.ts'
import { migrate } from './migrate.ts'
import { openPgliteFolder } from './pglite-database.ts'
import { openPostgresql } from './postgresql-database.ts'

/** `url` of a PostgreSQL database, or a folder for the embedded one. */
export type DatabaseAddress = { url: string } | { folder: string }

/**
 * Opens the service's database and brings its schema up to date.
 * @throws AgentGymError `database_in_use`: another process has the folder; `database_damaged`: it cannot be opened;
 * `database_unavailable`: no PostgreSQL that can be used answers; `database_incompatible`: the schema is newer than this
 * program, or not what its migrations made.
 */
export async function openDatabase(address: DatabaseAddress): Promise<Database> {
  const database = 'url' in address ? await openPostgresql(address.url) : await openPgliteFolder(address.folder)
  try {
    await migrate(database)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}
