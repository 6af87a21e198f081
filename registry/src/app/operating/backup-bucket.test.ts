import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { startS3, type TestS3 } from '@agentgym/testkit/s3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openS3Bucket } from '../../core/storage/s3-bucket.ts'
import { openBackupBucket } from './backup-bucket.ts'
import { type BackupPlace, beginBackup, findBackup, objectsOf, pruneBackups } from './backup-place.ts'

let s3: TestS3
beforeAll(async () => {
  s3 = await startS3()
})
afterAll(() => s3.stop())

const place = (prefix: string) => openBackupBucket({ ...s3.address, prefix })
const made = { program: '1.0.0', engine: 'postgresql', migrations: 1 } as const
const day = (date: number) => new Date(Date.UTC(2026, 0, date))

async function backUp(to: BackupPlace, date: number, dump: Buffer, contents: string[] = []) {
  const keys = await Promise.all(contents.map((text) => to.store.put(Buffer.from(text))))
  const making = await beginBackup(to, day(date))
  await making.saveDatabase({ dump: (write) => write(Readable.from([dump])) })
  return making.finish(keys, made)
}

async function restored(from: BackupPlace, name?: string): Promise<Buffer> {
  let found = Buffer.alloc(0)
  await from.restoreDatabase(await findBackup(from, name), {
    restore: async (dump) => {
      found = await buffer(dump)
    },
  })
  return found
}

it('keeps a database in parts, and hands out none that has changed', async () => {
  const to = await place('parts/')
  const dump = randomBytes(17 * 2 ** 20)
  const backup = await backUp(to, 1, dump, ['a', 'b'])
  expect(Object.keys(backup.files)).toEqual(['database.dump.00001', 'database.dump.00002'])
  expect((await restored(to)).equals(dump)).toBe(true)
  expect(await objectsOf(to, backup)).toHaveLength(2)

  const bucket = await openS3Bucket({ ...s3.address, prefix: `parts/${backup.name}/` })
  await bucket.delete('database.dump.00001')
  await expect(objectsOf(to, backup)).rejects.toMatchObject({ code: 'backup_invalid' })
  const other = await bucket.get('database.dump.00002')
  await bucket.put('database.dump.00001', other ?? dump, backup.files['database.dump.00002'])
  await expect(restored(to)).rejects.toMatchObject({ code: 'backup_invalid' })
})

it('an unfinished backup counts for nothing, and goes after a day', async () => {
  const to = await place('unfinished/')
  const making = await beginBackup(to, day(1))
  await making.saveDatabase({ dump: (write) => write(Readable.from([Buffer.from('half')])) })
  expect(await to.names()).toEqual([])
  await expect(findBackup(to)).rejects.toMatchObject({ code: 'file_not_found' })
  await backUp(to, 3, Buffer.from('whole'))
  const files: string[] = []
  for await (const { key } of (await openS3Bucket({ ...s3.address, prefix: 'unfinished/' })).list('')) files.push(key)
  expect(new Set(files.map((key) => key.split('/')[0]))).toEqual(new Set(['2026-01-03T00-00-00Z']))
})

it('a dump that fails leaves nothing, and old backups go with the objects that only they had', async () => {
  const to = await place('old/')
  for (const [index, contents] of [['a', 'b'], ['b'], ['b', 'c']].entries())
    await backUp(to, index + 1, Buffer.from(`dump ${index + 1}`), contents)
  const making = await beginBackup(to, day(4))
  const failing = { dump: () => Promise.reject(new Error('no dump')) }
  await expect(making.saveDatabase(failing)).rejects.toThrow('no dump')
  await making.abandon()
  expect(await pruneBackups(to, 2)).toEqual(['2026-01-01T00-00-00Z'])
  expect(await to.names()).toEqual(['2026-01-02T00-00-00Z', '2026-01-03T00-00-00Z'])
  expect((await restored(to, '2026-01-02T00-00-00Z')).toString()).toBe('dump 2')
  const keys: string[] = []
  for await (const { key } of to.store.list()) keys.push(key)
  expect(keys).toHaveLength(2)
})
