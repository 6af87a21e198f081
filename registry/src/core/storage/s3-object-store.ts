import { pipeline } from 'node:stream'
import { digestOf, isKey, keyOf, type ObjectStore, verifyingStream, verifyObject } from './object-store.ts'
import { openS3Bucket, type S3Address } from './s3-bucket.ts'

/**
 * Objects in a bucket. A key is only ever rewritten with the same bytes, so no write has to be conditional. A bucket that
 * does not respond is opened anyway; operations fail until it does. Throws `storage_unavailable` if it denies access.
 */
export async function openS3ObjectStore(address: S3Address): Promise<ObjectStore> {
  const bucket = await openS3Bucket(address)
  const named = (key: string) => `sha256/${digestOf(key)}`
  return {
    put: async (bytes) => {
      const key = keyOf(bytes)
      await bucket.put(named(key), bytes, digestOf(key))
      return key
    },
    get: async (key) => {
      const bytes = await bucket.get(named(key))
      return bytes && verifyObject(key, bytes)
    },
    stream: async (key) => {
      const found = await bucket.stream(named(key))
      if (found === undefined) return undefined
      const body = verifyingStream(key)
      pipeline(found.body, body, () => {})
      return { body, size: found.size }
    },
    has: (key) => bucket.has(named(key)),
    delete: (key) => bucket.delete(named(key)),
    async *list() {
      for await (const file of bucket.list('sha256/')) if (isKey(file.key)) yield file
    },
    check: () => bucket.check(),
  }
}
