import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AgentGymError } from '@agentgym/contract'
import { type DatabaseAddress, requireEmpty } from '../../core/database/open-database.ts'
import { openPostgresql } from '../../core/database/postgresql-database.ts'
import { openObjectStore } from '../../core/storage/open-object-store.ts'
import type { Settings } from '../settings/read-settings.ts'
import { type NamedBackup, openBackupFolder } from './backup-folder.ts'
import { restoreDump } from './dump-database.ts'

const run = promisify(execFile)

export type RestoreOptions = {
  /** Folder of backups. */
  from: string
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
  const backups = await openBackupFolder(from)
  const backup = await backups.find(name)
  const engine = 'url' in settings.database ? 'postgresql' : 'pglite'
  if (engine !== backup.engine) throw otherEngine(backup)
  await requireEmptyTarget(settings.database)
  const keys = await backups.objectsOf(backup)
  const objects = await openObjectStore(settings.objects)
  const missing: string[] = []
  let copied = 0
  for (const [done, key] of keys.entries()) {
    if (!(await objects.has(key))) {
      const bytes = await backups.store.get(key)
      if (bytes === undefined) missing.push(key)
      else {
        await objects.put(bytes)
        copied++
      }
    }
    onProgress(done + 1, keys.length)
  }
  await restoreDatabase(settings.database, backups.folderOf(backup.name))
  return { backup, copied, missing }
}

async function restoreDatabase(address: DatabaseAddress, folder: string): Promise<void> {
  if ('url' in address) return restoreDump(address.url, join(folder, 'database.dump'))
  const data = join(address.folder, 'pglite')
  await mkdir(address.folder, { recursive: true, mode: 0o700 })
  await run('cp', ['-R', join(folder, 'pglite'), `${data}.restored`])
  await rename(`${data}.restored`, data)
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
