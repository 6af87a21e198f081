import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import { openDiskObjectStore } from '../../core/storage/disk-object-store.ts'
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

const backupName = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/
const nameOf = (at: Date) => `${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`
/** Before the name of a backup that is being made. */
const making = 'making-'
const dayMs = 86_400_000
const manifestFile = 'backup.json'
const listFile = 'objects.txt'

/**
 * A folder of backups: `objects`, which all of them share, since an object never changes, and a folder for each backup
 * with its database, the list of its objects, and `backup.json`. Objects are content-addressed, so a backup stores those
 * that are new.
 */
export async function openBackupFolder(folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const store = await openDiskObjectStore(join(folder, 'objects'))
  return {
    store,
    folderOf: (name: string) => join(folder, name),
    list: () => listBackups(folder),
    find: (name?: string) => findBackup(folder, name),
    objectsOf: (backup: NamedBackup) => readList(folder, backup),
    /** A folder to make a backup in; `finish` gives it its name and then it counts. */
    start: async (at: Date) => {
      await removeLeftovers(folder, at)
      const name = nameOf(at)
      const unfinished = join(folder, `${making}${name}`)
      await mkdir(unfinished, { mode: 0o700 })
      return {
        folder: unfinished,
        abandon: () => rm(unfinished, { recursive: true, force: true }),
        finish: async (keys: string[], made: Pick<Backup, 'program' | 'engine' | 'migrations'>) => {
          const list = keys.map((key) => `${key}\n`).join('')
          const files = await hashFiles(unfinished)
          await writeDurably(join(unfinished, listFile), list)
          const backup: Backup = {
            format: 1,
            ...made,
            at: at.toISOString(),
            files,
            list: sha256(list),
            objects: keys.length,
          }
          await writeDurably(join(unfinished, manifestFile), `${JSON.stringify(backup, null, 2)}\n`)
          await rename(unfinished, join(folder, name))
          return { ...backup, name }
        },
      }
    },
    /** Deletes all but the newest `keep` backups, and the objects that only those had. Resolves to their names. */
    prune: (keep: number) => prune(folder, store, keep),
  }
}
export type BackupFolder = Awaited<ReturnType<typeof openBackupFolder>>

/** What killed backups left. A newer folder may be one that is being made. */
async function removeLeftovers(folder: string, now: Date): Promise<void> {
  const oldest = `${making}${nameOf(new Date(now.getTime() - dayMs))}`
  for (const name of await readdir(folder))
    if (name.startsWith(making) && name < oldest) await rm(join(folder, name), { recursive: true, force: true })
}

/** Complete backups, oldest first. */
async function listBackups(folder: string): Promise<NamedBackup[]> {
  const names = (await readdir(folder)).filter((name) => backupName.test(name)).sort()
  return Promise.all(names.map((name) => readBackup(folder, name)))
}

async function findBackup(folder: string, name?: string): Promise<NamedBackup> {
  const backups = await listBackups(folder)
  const found = name === undefined ? backups.at(-1) : backups.find((backup) => backup.name === name)
  if (found !== undefined) return found
  const names = backups.map((backup) => backup.name)
  throw new AgentGymError({
    code: 'file_not_found',
    message: name === undefined ? `${folder} holds no backup.` : `${folder} holds no backup ${name}.`,
    hint: names.length > 0 ? `It holds ${names.slice(-5).join(', ')}.` : 'Name the folder that was given to backup.',
  })
}

async function readBackup(folder: string, name: string): Promise<NamedBackup> {
  const path = join(folder, name, manifestFile)
  try {
    return { name, ...backupSchema.parse(JSON.parse(await readFile(path, 'utf8'))) }
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

/** The keys of a backup's objects, and a check of its database's files. Throws `backup_invalid`. */
async function readList(folder: string, { name, list, files }: NamedBackup): Promise<string[]> {
  const text = await readFile(join(folder, name, listFile), 'utf8').catch(() => '')
  const found = await hashFiles(join(folder, name))
  const expected: Record<string, string> = { [listFile]: list, ...files }
  const actual: Record<string, string | undefined> = { ...found, [listFile]: sha256(text) }
  const bad = Object.keys(expected).filter((path) => actual[path] !== expected[path])
  if (bad.length > 0)
    throw new AgentGymError({
      code: 'backup_invalid',
      message: `The backup ${name} is damaged: ${bad.slice(0, 5).join(', ')} missing or changed.`,
      hint: 'Restore another one with --backup NAME.',
      data: { name, files: bad.slice(0, 100) },
    })
  return text.split('\n').filter(Boolean)
}

async function prune(folder: string, store: ObjectStore, keep: number): Promise<string[]> {
  const backups = await listBackups(folder)
  const old = backups.slice(0, Math.max(0, backups.length - keep))
  if (old.length === 0) return []
  const kept = new Set<string>()
  for (const { name } of backups.slice(old.length))
    for (const key of (await readFile(join(folder, name, listFile), 'utf8')).split('\n')) kept.add(key)
  // The backups first: one that lacks objects must not look complete.
  for (const { name } of old) await rm(join(folder, name), { recursive: true, force: true })
  for await (const { key } of store.list()) if (!kept.has(key)) await store.delete(key)
  return old.map(({ name }) => name)
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** SHA-256 (hex) of each file below `folder` but the backup's own, by its path. */
async function hashFiles(folder: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length + 1)
    if (!entry.isFile() || name === manifestFile || name === listFile) continue
    const hash = createHash('sha256')
    await pipeline(createReadStream(path), hash)
    hashes[name] = hash.digest('hex')
  }
  return hashes
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
