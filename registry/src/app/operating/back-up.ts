import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Database } from '../../core/database/database.ts'
import type { DatabaseAddress } from '../../core/database/open-database.ts'
import { readSnapshot } from '../../core/database/read-snapshot.ts'
import type { ObjectStore } from '../../core/storage/object-store.ts'
import { version } from '../../core/version.ts'
import { isNamed, namedObjects } from '../../modules/packages/index.ts'
import { type BackupPlace, beginBackup, type DatabaseSource, type NamedBackup, pruneBackups } from './backup-place.ts'
import { dumpDatabase } from './dump-database.ts'
import type { Installation } from './installation.ts'
import { remember } from './remembered.ts'

export type BackupOptions = {
  /** A folder or a bucket of backups. */
  to: BackupPlace
  /** Deletes all but this many backups afterwards. Default: keeps all. */
  keep?: number
  onProgress?: (done: number, total: number) => void
}

export type BackupResult = { backup: NamedBackup; copied: { objects: number; bytes: number }; deleted: string[] }

/**
 * Copies an installation: first the database, as it is at one moment, then the objects that this state needs. PostgreSQL
 * and the servers go on meanwhile. A backup counts once it is complete; what a killed one has copied is kept for the next.
 * Throws `backup_failed`, `setup_incomplete`, `object_damaged`.
 */
export async function backUp(
  { address, database, objects, atRest }: Installation,
  { to, keep, onProgress = () => {} }: BackupOptions,
): Promise<BackupResult> {
  const at = new Date()
  const making = await beginBackup(to, at)
  try {
    const { keys, migrations } = await copyDatabase(database, address, making.saveDatabase)
    const copied = await copyObjects(keys, { database, objects, to, onProgress })
    await remember(database.query, 'backup', { at: at.toISOString() })
    if ('folder' in address) {
      await atRest(address.folder)
      await making.saveDatabase({ folder: join(address.folder, 'pglite') })
    }
    const engine = database.kind
    const backup = await making.finish(keys, { program: version, engine, migrations })
    return { backup, copied, deleted: keep === undefined ? [] : await pruneBackups(to, keep) }
  } catch (error) {
    await making.abandon()
    throw error
  }
}

/** Saves PostgreSQL's dump; resolves to the keys of the objects that the same state names. */
async function copyDatabase(
  database: Database,
  address: DatabaseAddress,
  save: (source: DatabaseSource) => Promise<void>,
): Promise<{ keys: string[]; migrations: number }> {
  return database.transaction(async (query) => {
    await readSnapshot(query)
    const { rows } = await sql<{ migrations: number }>`select count(*)::int as migrations from migrations`.execute(
      query,
    )
    const keys = await namedObjects(query)
    if ('url' in address) {
      const exported = await sql<{ snapshot: string }>`select pg_export_snapshot() as snapshot`.execute(query)
      const [{ snapshot }] = exported.rows
      await save({ dump: (write) => dumpDatabase(address.url, snapshot, write) })
    }
    return { keys, migrations: rows[0].migrations }
  })
}

type ObjectCopy = {
  database: Database
  objects: ObjectStore
  to: BackupPlace
  onProgress: (done: number, total: number) => void
}

async function copyObjects(keys: string[], { database, objects, to, onProgress }: ObjectCopy) {
  const copied = { objects: 0, bytes: 0 }
  // One request to a bucket for a thousand objects, not one each.
  const saved = new Set<string>()
  for await (const { key } of to.store.list()) saved.add(key)
  for (const [done, key] of keys.entries()) {
    if (!saved.has(key)) {
      const bytes = await objects.get(key)
      if (bytes !== undefined) {
        await to.store.put(bytes)
        copied.objects++
        copied.bytes += bytes.length
      } else if (await isNamed(database.query, key)) throw objectMissing(key)
      // Otherwise it has expired since; the restored server's upkeep removes the rows that name it.
    }
    onProgress(done + 1, keys.length)
  }
  return copied
}

export function objectMissing(key: string): AgentGymError {
  return new AgentGymError({
    code: 'backup_failed',
    message: `The object ${key} is missing from the store, although a row needs it.`,
    hint: 'Run `agentgym admin audit` to see all that is missing, and copy it back from an earlier backup.',
    data: { key },
  })
}
