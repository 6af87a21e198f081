import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { runFolder } from '@agentgym/testkit/run-folder'
import { startS3 } from '@agentgym/testkit/s3'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDiskObjectStore } from './disk-object-store.ts'
import type { ObjectStore } from './object-store.ts'
import { openS3ObjectStore } from './s3-object-store.ts'

type Opened = {
  store: ObjectStore
  /** Writes foreign bytes under a name, bypassing the store. */
  tamper(name: string, bytes: Uint8Array): Promise<void>
  close(): Promise<void>
}

async function openDisk(): Promise<Opened> {
  const folder = await mkdtemp(join(runFolder(), 'objects-'))
  return {
    store: await openDiskObjectStore(folder),
    tamper: (name, bytes) => writeFile(join(folder, name.replace(/^(sha256\/[0-9a-f]{2})/, '$1/')), bytes),
    close: () => rm(folder, { recursive: true }),
  }
}

async function openS3(): Promise<Opened> {
  const { address, stop } = await startS3()
  const client = new S3Client({ ...address, region: 'us-east-1', forcePathStyle: true })
  return {
    store: await openS3ObjectStore({ ...address, prefix: 'agentgym/', pageSize: 7 }),
    tamper: async (name, Body) => {
      await client.send(new PutObjectCommand({ Bucket: address.bucket, Key: `agentgym/${name}`, Body }))
    },
    close: async () => {
      client.destroy()
      await stop()
    },
  }
}

const keyOf = (bytes: Uint8Array) => `sha256/${createHash('sha256').update(bytes).digest('hex')}`
const bytesOf = (text: string) => new TextEncoder().encode(text)

describe.each([
  ['disk', openDisk],
  ['S3', openS3],
])('ObjectStore on %s', (_name, open) => {
  let opened: Opened
  let store: ObjectStore
  beforeAll(async () => {
    opened = await open()
    store = opened.store
  })
  afterAll(() => opened.close())

  const keys = async () => (await Array.fromAsync(store.list())).map(({ key }) => key)
  const readStream = async (key: string) => {
    const found = await store.stream(key)
    return found && { size: found.size, bytes: await buffer(found.body) }
  }

  it('returns what was put, under its SHA-256', async () => {
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 4_000 }), fc.constant(new Uint8Array(0)))
    await fc.assert(
      fc.asyncProperty(bytes, async (content) => {
        const key = await store.put(content)
        expect(key).toBe(keyOf(content))
        expect(await store.has(key)).toBe(true)
        expect(Buffer.from((await store.get(key)) ?? 'nothing')).toEqual(Buffer.from(content))
        expect(await readStream(key)).toEqual({ size: content.length, bytes: Buffer.from(content) })
      }),
      { numRuns: 25 },
    )
  })

  it('streams objects larger than one chunk', async () => {
    const large = randomBytes(3_000_001)
    const streamed = await readStream(await store.put(large))
    expect(streamed?.size).toBe(large.length)
    expect(streamed?.bytes.equals(large)).toBe(true)
  })

  it('lets a reader cancel', async () => {
    const found = await store.stream(await store.put(randomBytes(2_000_000)))
    found?.body.once('data', () => found.body.destroy())
    await once(found?.body ?? process, 'close')
    expect(found?.body.destroyed).toBe(true)
  })

  it('accepts a view of a larger buffer', async () => {
    const view = randomBytes(100).subarray(10, 20)
    expect(Buffer.from((await store.get(await store.put(view))) ?? [])).toEqual(view)
  })

  it('returns nothing for a missing object', async () => {
    const key = keyOf(bytesOf('never put'))
    expect(await store.get(key)).toBeUndefined()
    expect(await store.stream(key)).toBeUndefined()
    expect(await store.has(key)).toBe(false)
    await store.delete(key)
  })

  it('deletes, and accepts the same bytes again', async () => {
    const bytes = bytesOf('again')
    const key = await store.put(bytes)
    await store.delete(key)
    expect(await store.has(key)).toBe(false)
    expect(await keys()).not.toContain(key)
    await store.put(bytes)
    expect(await store.has(key)).toBe(true)
  })

  it('stores identical bytes once, also concurrently', async () => {
    const bytes = randomBytes(50_000)
    const put = await Promise.all(Array.from({ length: 8 }, () => store.put(bytes)))
    expect(new Set(put)).toEqual(new Set([keyOf(bytes)]))
    expect((await keys()).filter((key) => key === keyOf(bytes))).toHaveLength(1)
    expect(Buffer.from((await store.get(keyOf(bytes))) ?? [])).toEqual(bytes)
  })

  it('lists every key with the time it was last put', async () => {
    const start = Date.now() - 2_000
    const put = await Promise.all(Array.from({ length: 30 }, (_, index) => store.put(bytesOf(`listed ${index}`))))
    const listed = new Map((await Array.fromAsync(store.list())).map(({ key, writtenAt }) => [key, writtenAt]))
    for (const key of put) expect(listed.get(key)?.getTime()).toBeGreaterThan(start)
    expect((await keys()).length).toBe(new Set(await keys()).size)
  })

  it('ignores files that are not its own', async () => {
    await opened.tamper('README.md', bytesOf('not an object'))
    expect((await keys()).filter((key) => !/^sha256\/[0-9a-f]{64}$/.test(key))).toEqual([])
  })

  it.each([
    ...['', 'sha256', 'sha256/', `sha256/${'a'.repeat(63)}`, `sha256/${'A'.repeat(64)}`, `sha512/${'a'.repeat(64)}`],
    ...[`sha256/../${'a'.repeat(61)}`, `../sha256/${'a'.repeat(64)}`, `sha256/${'a'.repeat(64)}\n`, '/etc/passwd'],
  ])('throws for the invalid key %j', async (key) => {
    const refusal = { name: 'AssertionError' }
    await expect(async () => store.get(key)).rejects.toMatchObject(refusal)
    await expect(async () => store.stream(key)).rejects.toMatchObject(refusal)
    await expect(async () => store.has(key)).rejects.toMatchObject(refusal)
    await expect(async () => store.delete(key)).rejects.toMatchObject(refusal)
  })

  it.each([
    ['torn', (bytes: Buffer) => bytes.subarray(0, 60_000)],
    ['emptied', () => Buffer.alloc(0)],
    ['changed in one bit', (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === 70_000 ? byte ^ 1 : byte)))],
  ])('never passes off a %s object as whole, and puts it right', async (_how, damage) => {
    const bytes = randomBytes(150_000)
    const key = await store.put(bytes)
    await opened.tamper(key, damage(bytes))
    await expect(store.get(key)).rejects.toMatchObject({ code: 'object_damaged', data: { key } })
    await expect(readStream(key)).rejects.toMatchObject({ code: 'object_damaged' })
    await store.put(bytes)
    expect(Buffer.from((await store.get(key)) ?? [])).toEqual(bytes)
  })
})
