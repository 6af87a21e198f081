import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import type { Database } from '../../core/database/database.ts'
import { lockFolder } from '../../core/database/folder-lock.ts'
import {
  countMigrations,
  type DatabaseAddress,
  openAsItIs,
  openDatabase,
  requireCurrent,
} from '../../core/database/open-database.ts'
import { outageIn } from '../../core/dependencies/outage.ts'
import { openObjectStore, s3AddressFrom } from '../../core/storage/open-object-store.ts'
import { readSettings, type ServeOptions } from '../settings/read-settings.ts'
import { type Audit, type AuditOptions, auditInstallation } from './audit.ts'
import { type BackupOptions, type BackupResult, backUp } from './back-up.ts'
import { openBackupBucket } from './backup-bucket.ts'
import { openBackupFolder } from './backup-folder.ts'
import type { BackupPlace } from './backup-place.ts'
import type { Installation } from './installation.ts'
import { type MoveOptions, type MoveResult, move } from './move.ts'
import { type RestoreOptions, type RestoreResult, restore } from './restore.ts'

type Where = Pick<ServeOptions, 'data' | 'environment'>
/** The place of backups by its name. */
type Named<Options> = { [Key in keyof Options]: Options[Key] extends BackupPlace ? string : Options[Key] }

/** A folder, or `s3://bucket/prefix`, where the settings of the bucket of objects apply but for its name and prefix. */
async function openBackupPlace(place: string, { environment = process.env }: Where): Promise<BackupPlace> {
  if (!place.startsWith('s3://')) return openBackupFolder(place)
  const [, bucket, prefix] = /^s3:\/\/([^/]+)\/*(.*)$/.exec(place) ?? []
  const named = { AGENTGYM_S3_BUCKET: bucket, AGENTGYM_S3_PREFIX: prefix?.replace(/\/+$/, '') }
  const address = s3AddressFrom({ ...environment, ...named })
  if (address !== undefined) return openBackupBucket(address)
  throw new AgentGymError({
    code: 'config_invalid',
    message: `${place} names no bucket.`,
    hint: 'Use the form s3://BUCKET/PREFIX.',
  })
}

/** `agentgym admin backup`: see `backUp`. `to` is a folder, or a bucket as `s3://bucket/prefix`. */
export const backUpInstallation = (where: Where, { to, ...options }: Named<BackupOptions>): Promise<BackupResult> =>
  withInstallation(where, async (installation) =>
    backUp(installation, { ...options, to: await openBackupPlace(to, where) }),
  )

/** `agentgym admin audit`: see `auditInstallation`. */
export const auditOf = (where: Where, options: AuditOptions): Promise<Audit> =>
  withInstallation(where, ({ database, objects }) => auditInstallation(database, objects, options))

/** `agentgym admin restore`: see `restore`. The database is then brought up to date with this program. */
export async function restoreInstallation(
  where: Where,
  { from, ...options }: Named<RestoreOptions>,
): Promise<RestoreResult> {
  const settings = readSettings(where)
  return namingOutages(async () => {
    const result = await restore(settings, { ...options, from: await openBackupPlace(from, where) })
    await (await openDatabase(settings.database)).close()
    return result
  })
}

/**
 * `agentgym admin move`: see `move`. From the embedded database and the objects in the data folder to the PostgreSQL and the
 * bucket that the environment names.
 */
export async function moveInstallation(where: Where, options: MoveOptions = {}): Promise<MoveResult> {
  const { AGENTGYM_DATA, AGENTGYM_HOME } = where.environment ?? process.env
  const from = readSettings({ ...where, environment: { AGENTGYM_DATA, AGENTGYM_HOME } })
  requireFolder(from.database)
  return namingOutages(() => move(from, readSettings(where), options))
}

/**
 * `agentgym admin migrate`: brings the database up to date with this program, as starting a server does, and resolves to
 * how many migrations it had and has.
 */
export async function migrateDatabase(where: Where): Promise<{ before: number; after: number }> {
  const { database: address } = readSettings(where)
  return namingOutages(async () => {
    const count = async (open: Promise<Database>) => {
      const database = await open
      try {
        return await countMigrations(database)
      } finally {
        await database.close()
      }
    }
    return { before: await count(openAsItIs(address)), after: await count(openDatabase(address)) }
  })
}

/**
 * Opens the database and the objects that `agentgym serve` would use with these settings, does `work`, and closes them.
 * Unlike a server it migrates nothing. Throws `database_incompatible`, `database_in_use`, `file_not_found`.
 */
async function withInstallation<Result>(
  where: Where,
  work: (opened: Installation) => Promise<Result>,
): Promise<Result> {
  const { database: address, objects } = readSettings(where)
  requireFolder(address)
  return namingOutages(async () => {
    const database = await openAsItIs(address)
    let close = () => database.close()
    const atRest = async (folder: string) => {
      await close()
      close = async () => {}
      close = await lockFolder(folder)
    }
    try {
      await requireCurrent(database)
      return await work({ address, database, objects: await openObjectStore(objects), atRest })
    } finally {
      await close()
    }
  })
}

/** Opening an embedded database creates a missing one, so a mistyped folder must fail here. */
function requireFolder(address: DatabaseAddress): void {
  if ('url' in address || existsSync(join(address.folder, 'pglite'))) return
  throw new AgentGymError({
    code: 'file_not_found',
    message: `${address.folder} holds no database.`,
    hint: 'Name the data folder of the server with --data, or its PostgreSQL in DATABASE_URL.',
    data: { path: address.folder },
  })
}

/** An outage is no AgentGymError of its own; for a command it is what to report. */
export async function namingOutages<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const outage = outageIn(error)
    throw outage === undefined ? error : new AgentGymError(outage.toReport(), { cause: error })
  }
}
