import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Database } from '../core/database/database.ts'
import { type DatabaseAddress, openDatabase } from '../core/database/open-database.ts'
import { pgliteTemplate } from './pglite-template.ts'
import { onceARun, runFolder } from './run-folder.ts'
import { createPostgresqlDatabase } from './test-postgresql.ts'

const run = promisify(execFile)

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
  // 1,300 small files: Node's own copy takes five times as long, and there is one for every suite.
  await run('cp', ['-R', `${template}/.`, folder])
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
