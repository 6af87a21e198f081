import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import type { ObjectStore } from '../../core/storage/object-store.ts'

/** What `backup.json` says. */
const backupSchema = z.object({
  format: z.literal(1),
  /** Version of the program that made it. */
  program: z.string(),
  engine: z.enum(['postgresql', 'pglite']),
  /** Its state of the database is that of this moment. */
  at: z.iso.datetime(),
  /** Migrations that the database had. */
  migrations: z.int().min(1),
  /** SHA-256 (hex) of each file of the database, by its path in the backup. */
  files: z.record(z.string(), z.string()),
  /** SHA-256 (hex) of the list of objects. */
  list: z.string(),
  objects: z.int().min(0),
})
export type Backup = z.infer<typeof backupSchema>
export type NamedBackup = Backup & { name: string }

/** A database to back up: what writes a dump of PostgreSQL, or the folder of an embedded one. */
export type DatabaseSource = { dump(write: (dump: Readable) => Promise<void>): Promise<void> } | { folder: string }
/** What a database is restored to. */
export type DatabaseTarget = { restore(dump: Readable): Promise<void> } | { folder: string }

/**
 * A folder or a bucket of backups: `objects`, which all of them share, since an object never changes, and for each
 * backup its database, the list of its objects, and `backup.json`.
 */
export type BackupPlace = {
  title: string
  store: ObjectStore
  /** Names of complete backups, oldest first. */
  names(): Promise<string[]>
  /** Begins a backup, which counts once it is finished. */
  begin(name: string): Promise<Writing>
  /** Undefined if it is missing. */
  readText(name: string, file: string): Promise<string | undefined>
  /** Files of the database that are missing or, where that is known before they are read again, changed. */
  damagedFiles(backup: NamedBackup): Promise<string[]>
  /** Reads the database of a backup. Throws `backup_invalid`. */
  restoreDatabase(backup: NamedBackup, target: DatabaseTarget): Promise<void>
  remove(name: string): Promise<void>
  /** Removes unfinished backups whose names sort before `name`. */
  removeUnfinished(name: string): Promise<void>
}
type Writing = {
  /** Resolves to the SHA-256 (hex) of the files that it has written, by their path. */
  saveDatabase(source: DatabaseSource): Promise<Record<string, string>>
  /** Writes the list and then the manifest. */
  finish(list: string, manifest: string): Promise<void>
  abandon(): Promise<void>
}

const backupName = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/
export const isBackupName = (text: string): boolean => backupName.test(text)
const nameOf = (at: Date) => `${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`
const dayMs = 86_400_000
export const manifestFile = 'backup.json'
export const listFile = 'objects.txt'

export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** Begins a backup of the state of `at`. What killed ones left goes; an unfinished one of today may be under way. */
export async function beginBackup(place: BackupPlace, at: Date) {
  await place.removeUnfinished(nameOf(new Date(at.getTime() - dayMs)))
  const name = nameOf(at)
  const writing = await place.begin(name)
  let files: Record<string, string> = {}
  return {
    saveDatabase: async (source: DatabaseSource) => {
      files = await writing.saveDatabase(source)
    },
    abandon: writing.abandon,
    finish: async (keys: string[], made: Pick<Backup, 'program' | 'engine' | 'migrations'>): Promise<NamedBackup> => {
      const list = keys.map((key) => `${key}\n`).join('')
      const counts = { files, list: sha256(list), objects: keys.length }
      const backup: Backup = { format: 1, ...made, at: at.toISOString(), ...counts }
      await writing.finish(list, `${JSON.stringify(backup, null, 2)}\n`)
      return { ...backup, name }
    },
  }
}

/** The newest backup, or the one of that name. Throws `file_not_found`, `backup_invalid`. */
export async function findBackup(place: BackupPlace, name?: string): Promise<NamedBackup> {
  const names = await place.names()
  const found = name === undefined ? names.at(-1) : names.find((each) => each === name)
  if (found !== undefined) return readBackup(place, found)
  throw new AgentGymError({
    code: 'file_not_found',
    message: name === undefined ? `${place.title} holds no backup.` : `${place.title} holds no backup ${name}.`,
    hint: names.length > 0 ? `It holds ${names.slice(-5).join(', ')}.` : 'Name the place that was given to backup.',
  })
}

async function readBackup(place: BackupPlace, name: string): Promise<NamedBackup> {
  const path = `${place.title}/${name}/${manifestFile}`
  const text = await place.readText(name, manifestFile)
  try {
    return { name, ...backupSchema.parse(JSON.parse(text ?? '')) }
  } catch (cause) {
    throw new AgentGymError(
      {
        code: 'backup_invalid',
        message: `${path} is no description of a backup that this program can read.`,
        hint: 'It is damaged, or a newer version made it. Restore another backup with --backup NAME, or use that version.',
        data: { path },
      },
      { cause },
    )
  }
}

/** The keys of a backup's objects, and a check of its files. Throws `backup_invalid`. */
export async function objectsOf(place: BackupPlace, backup: NamedBackup): Promise<string[]> {
  const text = (await place.readText(backup.name, listFile)) ?? ''
  const damaged = await place.damagedFiles(backup)
  if (sha256(text) !== backup.list) damaged.push(listFile)
  if (damaged.length > 0) throw backupDamaged(backup.name, damaged)
  return text.split('\n').filter(Boolean)
}

/** Deletes all but the newest `keep` backups, and the objects that only those had. Resolves to their names. */
export async function pruneBackups(place: BackupPlace, keep: number): Promise<string[]> {
  const names = await place.names()
  const old = names.slice(0, Math.max(0, names.length - keep))
  if (old.length === 0) return []
  const kept = new Set<string>()
  for (const name of names.slice(old.length))
    for (const key of ((await place.readText(name, listFile)) ?? '').split('\n')) kept.add(key)
  // The backups first: one that lacks objects must not look complete.
  for (const name of old) await place.remove(name)
  for await (const { key } of place.store.list()) if (!kept.has(key)) await place.store.delete(key)
  return old
}

export function backupDamaged(name: string, files: string[]): AgentGymError {
  return new AgentGymError({
    code: 'backup_invalid',
    message: `The backup ${name} is damaged: ${files.slice(0, 5).join(', ')} missing or changed.`,
    hint: 'Restore another one with --backup NAME.',
    data: { name, files: files.slice(0, 100) },
  })
}
