import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { openDiskObjectStore } from '../../core/storage/disk-object-store.ts'
import { type BackupPlace, type DatabaseSource, isBackupName, listFile, manifestFile } from './backup-place.ts'

const run = promisify(execFile)

/** Before the name of a backup that is being made. */
const making = 'making-'
const dumpFile = 'database.dump'
/** An embedded database's files. */
const embedded = 'pglite'

/** Backups in a folder. One that is being made is a folder of another name until it is complete. */
export async function openBackupFolder(folder: string): Promise<BackupPlace> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return {
    title: folder,
    store: await openDiskObjectStore(join(folder, 'objects')),
    names: async () => (await readdir(folder)).filter(isBackupName).sort(),
    begin: async (name) => {
      const unfinished = join(folder, `${making}${name}`)
      await mkdir(unfinished, { mode: 0o700 })
      return {
        saveDatabase: async (source) => {
          await copyDatabase(source, unfinished)
          return hashFiles(unfinished)
        },
        finish: async (list, manifest) => {
          await writeDurably(join(unfinished, listFile), list)
          await writeDurably(join(unfinished, manifestFile), manifest)
          await rename(unfinished, join(folder, name))
        },
        abandon: () => rm(unfinished, { recursive: true, force: true }),
      }
    },
    readText: (name, file) => readFile(join(folder, name, file), 'utf8').catch(() => undefined),
    damagedFiles: async ({ name, files }) => {
      const found = await hashFiles(join(folder, name))
      return Object.keys(files).filter((path) => found[path] !== files[path])
    },
    restoreDatabase: async ({ name }, target) => {
      if ('restore' in target) return target.restore(createReadStream(join(folder, name, dumpFile)))
      await run('cp', ['-R', join(folder, name, embedded), target.folder])
    },
    remove: (name) => rm(join(folder, name), { recursive: true, force: true }),
    removeUnfinished: async (before) => {
      for (const name of await readdir(folder))
        if (name.startsWith(making) && name < `${making}${before}`)
          await rm(join(folder, name), { recursive: true, force: true })
    },
  }
}

async function copyDatabase(source: DatabaseSource, to: string): Promise<void> {
  if ('folder' in source) await run('cp', ['-R', source.folder, join(to, embedded)])
  else await source.dump((dump) => pipeline(dump, createWriteStream(join(to, dumpFile), { mode: 0o600, flush: true })))
}

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
