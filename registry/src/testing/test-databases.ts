import { cp, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../database/database.ts'
import { type DatabaseAddress, openDatabase } from '../database/open-database.ts'
import { pgliteTemplate } from './pglite-template.ts'
import { onceARun, runFolder } from './run-folder.ts'
import { createPostgresqlDatabase } from './test-postgresql.ts'

/** One of the engines that every suite about data runs on. */
export type TestDatabase = {
  kind: Database['kind']
  /** Address of a database of its own, migrated and empty, for suites that open it in several processes. */
  create(): Promise<DatabaseAddress>
  /** Opens such a database; `close()` it in afterAll. */
  open(): Promise<Database>
}

/** `describe.each(await testDatabases())('packages on $kind', ({ open }) => …)` */
export async function testDatabases(): Promise<TestDatabase[]> {
  const postgresql = async () => ({ url: await createPostgresqlDatabase() })
  return [
    { kind: 'pglite', create: createPgliteFolder, open: openPgliteCopy },
    { kind: 'postgresql', create: postgresql, open: async () => openDatabase(await postgresql()) },
  ]
}

export async function createPgliteFolder(): Promise<{ folder: string }> {
  const template = await onceARun('pglite', pgliteTemplate)
  const folder = await mkdtemp(join(runFolder(), 'pglite-'))
  await cp(template, folder, { recursive: true })
  return { folder }
}

/** The copy is 40 MB: it goes as soon as it is closed, not at the end of the run. */
async function openPgliteCopy(): Promise<Database> {
  const { folder } = await createPgliteFolder()
  const database = await openDatabase({ folder })
  return {
    ...database,
    close: async () => {
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
