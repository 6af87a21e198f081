import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runFolder } from '@agentgym/testkit/run-folder'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDiskObjectStore } from './disk-object-store.ts'

// That a kill at any moment leaves whole objects only: registry/test/storage/disk-kill.test.ts.
describe('openDiskObjectStore', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(runFolder(), 'objects-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('shards by digest, and leaves no other files', async () => {
    const store = await openDiskObjectStore(folder)
    const key = await store.put(Buffer.from('a'))
    const digest = key.slice('sha256/'.length)
    expect(await readdir(join(folder, 'sha256'))).toEqual([digest.slice(0, 2)])
    expect(await readdir(join(folder, 'sha256', digest.slice(0, 2)))).toEqual([digest.slice(2)])
    expect(await readdir(join(folder, 'new'))).toEqual([])
  })

  it('leaves nothing after a failed write', async () => {
    const store = await openDiskObjectStore(folder)
    // A file where the folder has to be.
    await writeFile(join(folder, 'sha256'), '')
    await expect(store.put(Buffer.from('a'))).rejects.toThrow()
    expect(await readdir(join(folder, 'new'))).toEqual([])
  })

  it('updates the time of an object that is put again', async () => {
    const store = await openDiskObjectStore(folder)
    const key = await store.put(Buffer.from('a'))
    const [shard, name] = [key.slice(7, 9), key.slice(9)]
    const path = join(folder, 'sha256', shard, name)
    await utimes(path, new Date(0), new Date(0))
    const { ino } = await stat(path)
    await store.put(Buffer.from('a'))
    const [object] = await Array.fromAsync(store.list())
    expect(object.writtenAt.getTime()).toBeGreaterThan(Date.now() - 60_000)
    expect((await stat(path)).ino).toBe(ino)
  })

  it('deletes partial files of killed processes after a day', async () => {
    await mkdir(join(folder, 'new'), { recursive: true })
    await writeFile(join(folder, 'new', 'old'), '')
    await writeFile(join(folder, 'new', 'young'), '')
    await utimes(join(folder, 'new', 'old'), new Date(0), new Date(0))
    await openDiskObjectStore(folder)
    expect(await readdir(join(folder, 'new'))).toEqual(['young'])
  })
})
