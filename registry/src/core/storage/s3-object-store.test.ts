import { startS3 } from '@agentgym/testkit/s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openS3ObjectStore } from './s3-object-store.ts'

describe('openS3ObjectStore', () => {
  let s3: Awaited<ReturnType<typeof startS3>>
  beforeAll(async () => {
    s3 = await startS3()
  })
  afterAll(() => s3.stop())

  it('keeps what lies under one prefix apart from another', async () => {
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

  it('says at once that the bucket is not there', async () => {
    const opening = openS3ObjectStore({ ...s3.address, bucket: 'nowhere' })
    await expect(opening).rejects.toMatchObject({ code: 'storage_unavailable', data: { bucket: 'nowhere' } })
  })

  it('says at once that the keys are wrong, and does not repeat them', async () => {
    const credentials = { accessKeyId: 'nobody', secretAccessKey: 'hunter2' }
    const refused = await openS3ObjectStore({ ...s3.address, credentials }).catch((error) => error)
    expect(refused).toMatchObject({ code: 'storage_unavailable' })
    expect(JSON.stringify(refused.toReport())).not.toContain('hunter2')
  })

  it('reports a server that does not respond', async () => {
    const opening = openS3ObjectStore({ ...s3.address, endpoint: 'http://127.0.0.1:1' })
    await expect(opening).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })
})
