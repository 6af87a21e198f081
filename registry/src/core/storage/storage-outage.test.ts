import { Readable } from 'node:stream'
import { S3ServiceException } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { Outage } from '../dependencies/outage.ts'
import type { ObjectStore } from './object-store.ts'
import { isStorageOutage, namingOutages } from './storage-outage.ts'

const coded = (code: string) => Object.assign(new Error('failed'), { code })
const named = (name: string) => Object.assign(new Error('failed'), { name })
const answered = (httpStatusCode: number, name: string) =>
  new S3ServiceException({ name, $fault: 'server', message: name, $metadata: { httpStatusCode } })

describe('isStorageOutage', () => {
  it.each([
    ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'],
    ...['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ESTALE'],
  ])('an error %s of socket or disk', (code) => {
    expect(isStorageOutage(coded(code))).toBe(true)
  })

  it.each(['TimeoutError', 'AbortError', 'CredentialsProviderError'])('%s of the SDK', (name) => {
    expect(isStorageOutage(named(name))).toBe(true)
  })

  it.each([
    [500, 'InternalError'],
    [502, 'BadGateway'],
    [503, 'SlowDown'],
    [503, 'ServiceUnavailable'],
    [504, 'GatewayTimeout'],
    [429, 'TooManyRequests'],
    [403, 'AccessDenied'],
    [403, 'RequestTimeTooSkewed'],
    [400, 'ExpiredToken'],
    [400, 'RequestTimeout'],
    [404, 'NoSuchBucket'],
  ])('an answer %i %s', (status, name) => {
    expect(isStorageOutage(answered(status, name))).toBe(true)
  })

  it.each([
    answered(404, 'NoSuchKey'),
    answered(400, 'BadDigest'),
    answered(416, 'InvalidRange'),
    coded('ENOENT'),
    new TypeError('undefined is not a function'),
    'ECONNREFUSED',
    undefined,
  ])('not %s', (error) => {
    expect(isStorageOutage(error)).toBe(false)
  })
})

describe('namingOutages', () => {
  const failing = (error: Error): ObjectStore => ({
    put: () => Promise.reject(error),
    get: () => Promise.reject(error),
    stream: async () => ({ body: new Readable({ read: () => {} }), size: 1 }),
    has: () => Promise.reject(error),
    delete: () => Promise.reject(error),
    list: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }),
    check: () => Promise.reject(error),
  })

  it('reports each outage once, and passes other errors through', async () => {
    const outages: Outage[] = []
    const down = namingOutages(failing(coded('ECONNREFUSED')), (outage) => outages.push(outage))
    await expect(down.put(new Uint8Array())).rejects.toThrow(Outage)
    await expect(down.has('')).rejects.toMatchObject({ dependency: 'storage', cause: { code: 'ECONNREFUSED' } })
    await expect(Array.fromAsync(down.list())).rejects.toThrow(Outage)
    expect(outages).toHaveLength(3)
    const faulty = namingOutages(failing(new TypeError('a bug')), (outage) => outages.push(outage))
    await expect(faulty.get('')).rejects.toThrow(TypeError)
    await expect(down.check()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(outages).toHaveLength(3)
  })

  it('counts an interrupted download', async () => {
    const outages: Outage[] = []
    const found = await namingOutages(failing(coded('EIO')), (outage) => outages.push(outage)).stream('')
    found?.body.destroy(coded('ECONNRESET'))
    await new Promise((resolve) => found?.body.once('close', resolve))
    expect(outages).toHaveLength(1)
  })
})
