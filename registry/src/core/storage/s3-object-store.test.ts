import { startS3 } from '@agentgym/testkit/s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Outage } from '../dependencies/outage.ts'
import { openObjectStore } from './open-object-store.ts'
import { openS3ObjectStore } from './s3-object-store.ts'

describe('openS3ObjectStore', () => {
  let s3: Awaited<ReturnType<typeof startS3>>
  beforeAll(async () => {
    s3 = await startS3()
  })
  afterAll(() => s3.stop())

  it('separates prefixes', async () => {
    const one = await openS3ObjectStore({ ...s3.address, prefix: 'one/' })
    const other = await openS3ObjectStore({ ...s3.address, prefix: 'other/' })
    const root = await openS3ObjectStore(s3.address)
    const key = await one.put(Buffer.from('a'))
    expect(await other.has(key)).toBe(false)
    expect(await root.has(key)).toBe(false)
    expect(await Array.fromAsync(other.list())).toEqual([])
    expect(await Array.fromAsync(root.list())).toEqual([])
    expect((await Array.fromAsync(one.list())).map((object) => object.key)).toEqual([key])
  })

  it('fails immediately if the bucket does not exist', async () => {
    const opening = openS3ObjectStore({ ...s3.address, bucket: 'nowhere' })
    await expect(opening).rejects.toMatchObject({ code: 'storage_unavailable', data: { bucket: 'nowhere' } })
  })

  it('fails immediately with wrong credentials, and does not show them', async () => {
    const credentials = { accessKeyId: 'nobody', secretAccessKey: 'hunter2' }
    const refused = await openS3ObjectStore({ ...s3.address, credentials }).catch((error) => error)
    expect(refused).toMatchObject({ code: 'storage_unavailable' })
    expect(JSON.stringify(refused.toReport())).not.toContain('hunter2')
  })

  it('opens a bucket that is down, reports outages meanwhile, and works once it is back', async () => {
    const outages: Outage[] = []
    await s3.pause()
    const store = await openObjectStore(s3.address, (outage) => outages.push(outage))
    const bytes = Buffer.from('b')
    const failed = await store.put(bytes).catch((error) => error)
    expect(failed).toMatchObject({ name: 'Outage', dependency: 'storage' })
    expect(failed.message).toContain('ECONNREFUSED')
    await expect(store.get(`sha256/${'0'.repeat(64)}`)).rejects.toThrow(Outage)
    await expect(Array.fromAsync(store.list())).rejects.toThrow(Outage)
    await expect(store.check()).rejects.toThrow()
    expect(outages).toHaveLength(3)
    await s3.resume()
    await store.check()
    expect(Buffer.from((await store.get(await store.put(bytes))) ?? [])).toEqual(bytes)
  })
})
