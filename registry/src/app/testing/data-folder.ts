import { mkdtemp, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { runFolder } from '../../testing/run-folder.ts'
import { testDatabases } from '../../testing/test-databases.ts'

/** A folder for `serve` whose embedded database is made already, which takes seconds otherwise. Goes with the run. */
export async function dataFolder(): Promise<string> {
  const [pglite] = await testDatabases()
  const made = await pglite.create()
  const folder = await mkdtemp(join(runFolder(), 'data-'))
  if ('folder' in made) await rename(made.folder, join(folder, 'database'))
  return folder
}
