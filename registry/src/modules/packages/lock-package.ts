import type { Transaction } from 'kysely'
import type { Database } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'

/** Whatever changes a package, its versions or its tags holds this first, over all replicas. */
export async function lockPackage(database: Database, query: Transaction<Schema>, name: string): Promise<void> {
  await database.lock(query, `package:${name}`)
}

/** Held by whoever names an object in a row, and by the sweeper of those that none names. After the package's lock. */
export async function lockObject(database: Database, query: Transaction<Schema>, key: string): Promise<void> {
  await database.lock(query, `object:${key}`)
}
