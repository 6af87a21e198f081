import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { Kysely } from 'kysely'
import type { Database } from './database.ts'
import { lockFolder } from './folder-lock.ts'
import { PgliteDialect } from './pglite-driver.ts'
import type { Schema } from './schema.ts'
import { TransactionScope } from './transaction-scope.ts'
import { createTransactions } from './transactions.ts'
import { valueParsers } from './value-parsers.ts'

/** The embedded database, in a folder that this process alone may open. Not migrated yet. */
export async function openPgliteFolder(folder: string, options: PGliteOptions = {}): Promise<Database> {
  const unlock = await lockFolder(folder)
  try {
    const dataDir = join(folder, 'pglite')
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    return await openPglite({ ...options, dataDir }, unlock)
  } catch (error) {
    await unlock()
    throw error
  }
}

/** Where `dataDir` is left out: in memory. `afterClose` runs once the database is closed. */
export async function openPglite(options: PGliteOptions, afterClose?: () => Promise<void>): Promise<Database> {
  const pglite = await PGlite.create({ ...options, parsers: valueParsers })
  const scope = new TransactionScope()
  const dialect = new PgliteDialect(pglite, scope)
  const query = new Kysely<Schema>({ dialect })
  return {
    kind: 'pglite',
    query,
    ...createTransactions(query, scope),
    execute: async (sql, parameters = []) => ({ rows: await dialect.driver.execute(sql, parameters) }),
    close: async () => {
      await query.destroy()
      if (!pglite.closed) await pglite.close()
      await afterClose?.()
    },
  }
}
