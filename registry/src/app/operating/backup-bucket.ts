import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AgentGymError } from '@agentgym/contract'
import { openObjectStore } from '../../core/storage/open-object-store.ts'
import { openS3Bucket, type S3Address } from '../../core/storage/s3-bucket.ts'
import { type BucketFiles, namingBucketOutages } from '../../core/storage/storage-outage.ts'
import {
  type BackupPlace,
  backupDamaged,
  type DatabaseSource,
  isBackupName,
  listFile,
  manifestFile,
  sha256,
} from './backup-place.ts'

/** Of the database's file: what is in memory at a time, and what a bucket accepts without ceremony. */
const partBytes = 16 * 2 ** 20

/**
 * Backups in a bucket, without a copy on this machine. A database is files of 16 MiB each, which make pg_dump's custom
 * format, or for an embedded one a gzipped tar, if they are joined in order. `backup.json` is written last; without it
 * there is no backup.
 */
export async function openBackupBucket(address: S3Address): Promise<BackupPlace> {
  const bucket = namingBucketOutages(await openS3Bucket(address))
  const put = (key: string, bytes: Uint8Array) => bucket.put(key, bytes, sha256(bytes))
  const remove = async (name: string) => {
    await bucket.delete(`${name}/${manifestFile}`)
    for await (const { key } of bucket.list(`${name}/`)) await bucket.delete(key)
  }
  return {
    title: `s3://${address.bucket}/${address.prefix ?? ''}`.replace(/\/$/, ''),
    store: await openObjectStore({ ...address, prefix: `${address.prefix ?? ''}objects/` }),
    names: async () => (await namesIn(bucket)).complete,
    begin: async (name) => ({
      saveDatabase: async (source) => {
        const hashes: Record<string, string> = {}
        await databaseOf(source, async (file, content) => {
          for await (const part of partsOf(content)) {
            const path = `${file}.${String(Object.keys(hashes).length + 1).padStart(5, '0')}`
            await put(`${name}/${path}`, part)
            hashes[path] = sha256(part)
          }
        })
        return hashes
      },
      finish: async (list, manifest) => {
        await put(`${name}/${listFile}`, Buffer.from(list))
        await put(`${name}/${manifestFile}`, Buffer.from(manifest))
      },
      abandon: () => remove(name),
    }),
    readText: async (name, file) => {
      const bytes = await bucket.get(`${name}/${file}`)
      return bytes && Buffer.from(bytes).toString('utf8')
    },
    damagedFiles: async ({ name, files }) => {
      const found = new Set<string>()
      for await (const { key } of bucket.list(`${name}/`)) found.add(key.slice(name.length + 1))
      return Object.keys(files).filter((path) => !found.has(path))
    },
    restoreDatabase: async ({ name, files }, target) => {
      const content = Readable.from(joinParts(bucket, name, files))
      if ('restore' in target) return target.restore(content)
      await mkdir(target.folder, { mode: 0o700 })
      await unpack(content, target.folder)
    },
    remove,
    removeUnfinished: async (before) => {
      for (const name of (await namesIn(bucket)).unfinished) if (name < before) await remove(name)
    },
  }
}

async function namesIn(bucket: BucketFiles): Promise<{ complete: string[]; unfinished: string[] }> {
  const complete = new Map<string, boolean>()
  // Names begin with the year; the objects have a name of their own.
  for await (const { key } of bucket.list('2')) {
    const [name, file] = key.split('/')
    if (isBackupName(name)) complete.set(name, complete.get(name) || file === manifestFile)
  }
  const names = [...complete.keys()].sort()
  return {
    complete: names.filter((name) => complete.get(name)),
    unfinished: names.filter((name) => !complete.get(name)),
  }
}

type Save = (file: string, content: Readable) => Promise<void>

async function databaseOf(source: DatabaseSource, save: Save): Promise<void> {
  if ('dump' in source) return source.dump((dump) => save('database.dump', dump))
  const tar = spawn('tar', ['--create', '--gzip', '--directory', source.folder, '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [[code]] = await Promise.all([once(tar, 'exit'), save('database.tar.gz', tar.stdout)])
  if (code !== 0) throw tarFailed(code)
}

async function unpack(content: Readable, folder: string): Promise<void> {
  const tar = spawn('tar', ['--extract', '--gzip', '--directory', folder], { stdio: ['pipe', 'inherit', 'inherit'] })
  const [[code]] = await Promise.all([once(tar, 'exit'), pipeline(content, tar.stdin)])
  if (code !== 0) throw tarFailed(code)
}

const tarFailed = (code: number | null) =>
  new AgentGymError({ code: 'backup_failed', message: `tar ended with ${code}.`, hint: 'Its own message says why.' })

async function* partsOf(content: Readable): AsyncIterable<Uint8Array> {
  let chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of content) {
    chunks.push(chunk)
    length += chunk.length
    while (length >= partBytes) {
      const whole = Buffer.concat(chunks)
      yield whole.subarray(0, partBytes)
      chunks = [whole.subarray(partBytes)]
      length -= partBytes
    }
  }
  if (length > 0) yield Buffer.concat(chunks)
}

/** Each part is compared with its hash before any of it is used. */
async function* joinParts(bucket: BucketFiles, name: string, files: Record<string, string>): AsyncIterable<Uint8Array> {
  for (const path of Object.keys(files).sort()) {
    const bytes = await bucket.get(`${name}/${path}`)
    if (bytes === undefined || sha256(bytes) !== files[path]) throw backupDamaged(name, [path])
    yield bytes
  }
}
