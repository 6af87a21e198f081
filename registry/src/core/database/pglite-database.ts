import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { PGlite } from '@electric-sql/pglite'
import { Kysely } from 'kysely'
import type { Database } from './database.ts'
import { lockFolder } from './folder-lock.ts'
import { PgliteDialect } from './pglite-driver.ts'
import type { Schema } from './schema.ts'

import { createTransactions, TransactionScope } from './transactions.ts'
import { valueParsers } from './value-parsers.ts'

/** The embedded database, in a folder that this process alone may open. Not migrated yet. */
export async function openPgliteFolder(folder: string): Promise<Database> {
  const unlock = await lockFolder(folder)
  try {
    const pglite = await openPglite(folder)
    const scope = new TransactionScope()
    const dialect = new PgliteDialect(pglite, scope)
    const query = new Kysely<Schema>({ dialect })
    return {
      kind: 'pglite',
      query,
      ...createTransactions(query, scope),
      execute: async (sql, parameters = []) => ({ rows: await dialect.driver.execute(sql, parameters) }),
      connections: () => dialect.driver.connections(),
      close: async () => {
        await query.destroy()
        // Kysely closes what it has opened, and it opens at the first query.
        if (!pglite.closed) await pglite.close()
        await unlock()
      },
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

async function openPglite(folder: string): Promise<PGlite> {
  const data = join(folder, 'pglite')
  if (!existsSync(data)) await makeDatabase(data)
  try {
    return await PGlite.create(data, { parsers: valueParsers })
  } catch (cause) {
    throw new AgentGymError(
      {
        code: 'database_damaged',
        message: `The embedded database in ${folder} cannot be opened: ${cause instanceof Error ? cause.message : cause}.`,
        hint: 'If another version of AgentGym made it, start that one; otherwise restore the folder from a backup.',
        data: { path: folder },
      },
      { cause },
    )
  }
}

/** Beside its place and then moved there: a process that is killed meanwhile does not leave half a database. */
async function makeDatabase(data: string): Promise<void> {
  const unfinished = `${data}.new`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  await (await PGlite.create(unfinished)).close()
  await rename(unfinished, data)
}
