import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { migrations } from '../core/database/migrations/migrations.ts'
import { openDatabase } from '../core/database/open-database.ts'

const require = createRequire(import.meta.url)
const cache = join(import.meta.dirname, '../../../node_modules/.cache/agentgym')

/**
 * A folder with a migrated, empty database in it. PGlite takes seconds to make one and a moment to copy it, so it is kept
 * for later runs, as long as PGlite and the migrations are the same. `folder` is the run's, to make it in.
 */
export async function pgliteTemplate(folder: string): Promise<string> {
  const kept = join(cache, `pglite-${fingerprint()}`)
  if (existsSync(kept)) return kept
  await mkdir(cache, { recursive: true })
  await removeOld()
  const made = join(folder, 'pglite-template')
  await (await openDatabase({ folder: made })).close()
  return rename(made, kept).then(
    () => kept,
    // On another disk, or another run was faster.
    () => made,
  )
}

function fingerprint(): string {
  const pglite = require.resolve('@electric-sql/pglite')
  return createHash('sha256')
    .update(JSON.stringify([pglite, migrations]))
    .digest('hex')
    .slice(0, 16)
}

/** 40 MB each. One of yesterday may still be in use, one of last week is not. */
async function removeOld(): Promise<void> {
  const weekAgo = Date.now() - 7 * 86_400_000
  for (const name of await readdir(cache)) {
    const path = join(cache, name)
    if (name.startsWith('pglite-') && (await stat(path)).mtimeMs < weekAgo) await rm(path, { recursive: true })
  }
}
