import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { runFolder } from '@agentgym/testkit/run-folder'
import { startS3 } from '@agentgym/testkit/s3'
import { describe, expect, it } from 'vitest'
import { openObjectStore, s3AddressFrom } from './open-object-store.ts'

describe('openObjectStore', () => {
  it('opens a folder or a bucket', async () => {
    const s3 = await startS3()
    const folder = await mkdtemp(join(runFolder(), 'objects-'))
    for (const address of [{ folder }, s3.address]) {
      const store = await openObjectStore(address)
      expect(Buffer.from((await store.get(await store.put(Buffer.from('a')))) ?? [])).toEqual(Buffer.from('a'))
    }
    await s3.stop()
  })
})

describe('s3AddressFrom', () => {
  it('is undefined without a bucket', () => {
    expect(s3AddressFrom({ AGENTGYM_S3_ENDPOINT: 'http://localhost:9000' })).toBeUndefined()
  })

  it('reads Amazon’s S3 and other servers', () => {
    expect(s3AddressFrom({ AGENTGYM_S3_BUCKET: 'b', AWS_REGION: 'eu-west-1' })).toMatchObject({
      bucket: 'b',
      region: 'eu-west-1',
      pathStyle: false,
    })
    const environment = {
      AGENTGYM_S3_BUCKET: 'b',
      AGENTGYM_S3_PREFIX: 'agentgym',
      AGENTGYM_S3_ENDPOINT: 'http://localhost:9000',
    }
    const address = { bucket: 'b', prefix: 'agentgym/', endpoint: 'http://localhost:9000', pathStyle: true }
    expect(s3AddressFrom(environment)).toMatchObject(address)
    expect(s3AddressFrom({ ...environment, AGENTGYM_S3_PATH_STYLE: '0' })).toMatchObject({ pathStyle: false })
  })

  it.each([
    ['AGENTGYM_S3_ENDPOINT', 'localhost:9000'],
    ['AGENTGYM_S3_ENDPOINT', 'ftp://localhost'],
    ['AGENTGYM_S3_PATH_STYLE', 'maybe'],
  ])('refuses %s=%s by name', (field, value) => {
    const refusal = expect.objectContaining({ code: 'config_invalid', data: { field } })
    expect(() => s3AddressFrom({ AGENTGYM_S3_BUCKET: 'b', [field]: value })).toThrow(refusal)
  })
})
