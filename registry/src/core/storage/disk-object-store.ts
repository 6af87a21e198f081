import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, constants, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream'
import { digestOf, isKey, keyOf, type ObjectStore, verifyingStream, verifyObject } from './object-store.ts'

/**
 * Objects as files, `sha256/ab/cdef…` by digest. A file appears under its name complete and durable, or not at all: it
 * is written under `new/`, fsynced, renamed, and its folder fsynced.
 */
export async function openDiskObjectStore(folder: string): Promise<ObjectStore> {
  const writing = join(folder, 'new')
  await makeFolder(writing)
  await removeOldLeftovers(writing)
  const pathOf = (key: string) => {
    const digest = digestOf(key)
    return join(folder, 'sha256', digest.slice(0, 2), digest.slice(2))
  }
  return {
    put: async (bytes) => {
      const key = keyOf(bytes)
      const path = pathOf(key)
      if (!(await refresh(path, bytes))) await write(bytes, join(writing, randomUUID()), path)
      // Also if the file already existed, because its writer may have stopped before this step.
      await syncFolder(dirname(path))
      return key
    },
    get: async (key) => {
      const bytes = await unlessMissing(readFile(pathOf(key)))
      return bytes && verifyObject(key, bytes)
    },
    stream: async (key) => {
      const file = await unlessMissing(open(pathOf(key)))
      if (!file) return undefined
      const { size } = await file.stat()
      const body = verifyingStream(key)
      // Empty on purpose: errors reach the reader of `body`.
      pipeline(createReadStream('', { fd: file }), body, () => {})
      return { body, size }
    },
    has: async (key) => (await unlessMissing(stat(pathOf(key)))) !== undefined,
    delete: (key) => rm(pathOf(key), { force: true }),
    list: () => listFiles(join(folder, 'sha256')),
    check: () => access(writing, constants.W_OK),
  }
}

/** Whether the object exists. Updates its modification time, so that the orphan sweeper keeps it. */
async function refresh(path: string, bytes: Uint8Array): Promise<boolean> {
  const found = await unlessMissing(readFile(path))
  // A damaged one is rewritten.
  if (!found?.equals(bytes)) return false
  const now = new Date()
  return (await unlessMissing(utimes(path, now, now).then(() => true))) ?? false
}

async function write(bytes: Uint8Array, temporary: string, path: string): Promise<void> {
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await makeFolder(dirname(path))
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Creates a folder and its missing parents, accessible to their owner only; they survive a power failure. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}

/** A rename is durable once its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Partial files of killed processes. A newer file may belong to a process that is still writing. */
async function removeOldLeftovers(writing: string): Promise<void> {
  const dayAgo = Date.now() - 86_400_000
  for (const name of await readdir(writing)) {
    const path = join(writing, name)
    const found = await unlessMissing(stat(path))
    if (found && found.mtimeMs < dayAgo) await rm(path, { force: true })
  }
}

async function* listFiles(folder: string): AsyncIterable<{ key: string; writtenAt: Date }> {
  for (const shard of (await unlessMissing(readdir(folder))) ?? []) {
    for (const name of (await unlessMissing(readdir(join(folder, shard)))) ?? []) {
      const key = `sha256/${shard}${name}`
      if (!isKey(key)) continue
      const found = await unlessMissing(stat(join(folder, shard, name)))
      if (found) yield { key, writtenAt: found.mtime }
    }
  }
}

async function unlessMissing<Result>(result: Promise<Result>): Promise<Result | undefined> {
  try {
    return await result
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
