import { isNetworkFault, Outage } from '../dependencies/outage.ts'
import type { ObjectStore } from './object-store.ts'
import type { S3Bucket } from './s3-bucket.ts'

type Answered = Error & { $metadata?: { httpStatusCode?: number } }

/** SDK errors without a useful status. */
const outageNames = new Set([
  ...['TimeoutError', 'AbortError', 'NetworkingError', 'CredentialsProviderError', 'NoSuchBucket', 'SlowDown'],
  ...['ExpiredToken', 'ExpiredTokenException', 'RequestTimeout', 'RequestTimeTooSkewed'],
])
/** The disk is full, broken, missing or read-only, or the process has no file handles left. */
const diskCodes = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ESTALE', 'ENXIO', 'ENODEV', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE'],
])

/**
 * Whether the storage caused the failure and the operation may succeed later: no connection, a timeout, a server error,
 * rejected credentials, a missing bucket, or a disk that cannot be written.
 */
export function isStorageOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (outageNames.has(error.name) || isNetworkFault(error)) return true
  if (diskCodes.has(String((error as NodeJS.ErrnoException).code))) return true
  const status = (error as Answered).$metadata?.httpStatusCode
  return status !== undefined && (status >= 500 || [401, 403, 408, 429].includes(status))
}

/** A failure of the storage as an Outage, which `onOutage` receives; other errors unchanged. */
const namer = (onOutage: (outage: Outage) => void) => {
  const named = (error: unknown): unknown => {
    if (!isStorageOutage(error)) return error
    const outage = new Outage('storage', error)
    onOutage(outage)
    return outage
  }
  const guard = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work
    } catch (error) {
      throw named(error)
    }
  }
  async function* guardList<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> {
    try {
      yield* items
    } catch (error) {
      throw named(error)
    }
  }
  return { named, guard, guardList }
}

export type BucketFiles = Pick<S3Bucket, 'put' | 'get' | 'delete' | 'list'>

/** `bucket` with outages thrown as Outage. */
export function namingBucketOutages(bucket: S3Bucket): BucketFiles {
  const { guard, guardList } = namer(() => {})
  return {
    put: (...file) => guard(bucket.put(...file)),
    get: (key) => guard(bucket.get(key)),
    delete: (key) => guard(bucket.delete(key)),
    list: (start) => guardList(bucket.list(start)),
  }
}

/** `store` with outages thrown as Outage and reported to `onOutage`. Other errors pass through unchanged. */
export function namingOutages(store: ObjectStore, onOutage: (outage: Outage) => void): ObjectStore {
  const { named, guard, guardList } = namer(onOutage)
  return {
    put: (bytes) => guard(store.put(bytes)),
    get: (key) => guard(store.get(key)),
    stream: async (key) => {
      const found = await guard(store.stream(key))
      // The response headers are already sent: the client sees a broken download, and the outage is counted.
      found?.body.once('error', named)
      return found
    },
    has: (key) => guard(store.has(key)),
    delete: (key) => guard(store.delete(key)),
    list: () => guardList(store.list()),
    // Failed probes do not count as failed operations.
    check: () => store.check(),
  }
}
