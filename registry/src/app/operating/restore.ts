import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { type DatabaseAddress, requireEmpty } from '../../core/database/open-database.ts'
import { openPostgresql } from '../../core/database/postgresql-database.ts'
import { openObjectStore } from '../../core/storage/open-object-store.ts'
import type { Settings } from '../settings/read-settings.ts'
import { type BackupPlace, findBackup, type NamedBackup, objectsOf } from './backup-place.ts'
import { restoreDump } from './dump-database.ts'

export type RestoreOptions = {
  /** A folder or a bucket of backups. */
  from: BackupPlace
  /** Name of the backup. Default: the newest. */
  backup?: string
  onProgress?: (done: number, total: number) => void
}

export type RestoreResult = { backup: NamedBackup; copied: number; missing: string[] }

/**
 * Restores a backup into an empty database and into the object store, which may hold objects already. The objects come
 * first: a database that is there is a restore that is complete, and an interrupted one can be repeated.
 * Throws `backup_invalid`, `database_not_empty`, `backup_failed`, `setup_incomplete`.
 */
export async function restore(
  settings: Pick<Settings, 'database' | 'objects'>,
  { from, backup: name, onProgress = () => {} }: RestoreOptions,
): Promise<RestoreResult> {
  const backup = await findBackup(from, name)
  const engine = 'url' in settings.database ? 'postgresql' : 'pglite'
  if (engine !== backup.engine) throw otherEngine(backup)
  await requireEmptyTarget(settings.database)
  const keys = await objectsOf(from, backup)
  const objects = await openObjectStore(settings.objects)
  const missing: string[] = []
  let copied = 0
  for (const [done, key] of keys.entries()) {
    if (!(await objects.has(key))) {
      const bytes = await from.store.get(key)
      if (bytes === undefined) missing.push(key)
      else {
        await objects.put(bytes)
        copied++
      }
    }
    onProgress(done + 1, keys.length)
  }
  await restoreDatabase(settings.database, from, backup)
  return { backup, copied, missing }
}

async function restoreDatabase(address: DatabaseAddress, from: BackupPlace, backup: NamedBackup): Promise<void> {
  if ('url' in address) return from.restoreDatabase(backup, { restore: (dump) => restoreDump(address.url, dump) })
  const data = join(address.folder, 'pglite')
  await mkdir(address.folder, { recursive: true, mode: 0o700 })
  const unfinished = `${data}.restored`
  await rm(unfinished, { recursive: true, force: true })
  await from.restoreDatabase(backup, { folder: unfinished })
  await rename(unfinished, data)
}

async function requireEmptyTarget(address: DatabaseAddress): Promise<void> {
  if ('folder' in address) {
    if (existsSync(join(address.folder, 'pglite')))
      throw new AgentGymError({
        code: 'database_not_empty',
        message: `${address.folder} holds a database. A backup is restored into an empty one.`,
        hint: 'Name another folder with --data, or move this one away.',
      })
    return
  }
  const database = await openPostgresql(address)
  try {
    await requireEmpty(database.query)
  } finally {
    await database.close()
  }
}

function otherEngine({ name, engine }: NamedBackup): AgentGymError {
  return new AgentGymError({
    code: 'backup_invalid',
    message: `The backup ${name} is of ${engine === 'pglite' ? 'an embedded database' : 'PostgreSQL'}.`,
    hint:
      engine === 'pglite'
        ? 'Restore it without DATABASE_URL, into a folder: --data DIR.'
        : 'Set DATABASE_URL to an empty PostgreSQL database.',
  })
}
