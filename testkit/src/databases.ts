import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, type TestOptions } from 'vitest'
import type { Database } from '../../registry/src/core/database/database.ts'
import { migrations } from '../../registry/src/core/database/migrations/migrations.ts'
import { type DatabaseAddress, openDatabase } from '../../registry/src/core/database/open-database.ts'
import { createPostgresqlDatabase } from './postgresql.ts'
import { onceARun, runFolder } from './run-folder.ts'
import { fullTier, isLong } from './tier.ts'

const run = promisify(execFile)

/** An engine that tests about data run on. */
export type Engine = {
  kind: Database['kind']
  /** Address of a migrated, empty database of its own, for suites that open it in several processes. */
  create(): Promise<DatabaseAddress>
  /** Opens such a database; `close()` it in afterAll. */
  open(): Promise<Database>
}

const newPostgresql = async () => ({ url: await createPostgresqlDatabase() })

/** Many requests at once on a busy machine wait longer for a connection than a server's clients should. */
export const openPatiently = ({ url }: { url: string }) => openDatabase({ url, connectMs: 60_000 })

export const postgresql: Engine = {
  kind: 'postgresql',
  create: newPostgresql,
  open: async () => openPatiently(await newPostgresql()),
}

export const pglite: Engine = { kind: 'pglite', create: createPgliteFolder, open: openPgliteCopy }

type Suite = (engine: Engine) => void

/** A suite once per engine, `$kind` in its name: on PostgreSQL in the quick tier, on PGlite in the long form. */
export function describeOnEngines(name: string, suite: Suite, options: TestOptions = {}): void {
  describeOn(postgresql, name, suite, options)
  if (isLong) describeOn(pglite, name, suite, { ...options, tags: fullTier })
}

/** For what the engines themselves must do alike: both in the quick tier. */
export function describeOnBothEngines(name: string, suite: Suite): void {
  for (const engine of [postgresql, pglite]) describeOn(engine, name, suite, {})
}

function describeOn(engine: Engine, name: string, suite: Suite, options: TestOptions): void {
  describe(name.replaceAll('$kind', engine.kind), options, () => suite(engine))
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

const require = createRequire(import.meta.url)
const cache = join(import.meta.dirname, '../../node_modules/.cache/agentgym')

/**
 * A folder with a migrated, empty database in it. PGlite takes seconds to make one and a moment to copy it, so it is kept
 * for later runs, as long as PGlite and the migrations are the same. `folder` is the run's, to make it in.
 */
async function pgliteTemplate(folder: string): Promise<string> {
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
