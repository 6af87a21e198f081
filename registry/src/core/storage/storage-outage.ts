import { isNetworkFault, Outage } from '../dependencies/outage.ts'
import type { ObjectStore } from './object-store.ts'

type Answered = Error & { $metadata?: { httpStatusCode?: number } }

/** Errors of the SDK that have no status, or one that says too little. */
const outageNames = new Set([
  ...['TimeoutError', 'AbortError', 'NetworkingError', 'CredentialsProviderError', 'NoSuchBucket', 'SlowDown'],
  ...['ExpiredToken', 'ExpiredTokenException', 'RequestTimeout', 'RequestTimeTooSkewed'],
])
/** A disk that is full, broken, gone or read-only; a process that has no file handle left. */
const diskCodes = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ESTALE', 'ENXIO', 'ENODEV', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE'],
])

/**
 * Whether a failed operation is the storage's fault, and may succeed later: no connection, no answer in time, an error of
 * the server, a refusal of our credentials or a missing bucket, a disk that cannot be written.
 */
export function isStorageOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (outageNames.has(error.name) || isNetworkFault(error)) return true
  if (diskCodes.has(String((error as NodeJS.ErrnoException).code))) return true
  const status = (error as Answered).$metadata?.httpStatusCode
  return status !== undefined && (status >= 500 || [401, 403, 408, 429].includes(status))
}

/** `store` with outages as Outage, each reported to `onOutage`. Other errors are passed on as they are. */
export function namingOutages(store: ObjectStore, onOutage: (outage: Outage) => void): ObjectStore {
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
  return {
    put: (bytes) => guard(store.put(bytes)),
    get: (key) => guard(store.get(key)),
    stream: async (key) => {
      const found = await guard(store.stream(key))
      // The head of the answer is out: the client sees a broken download, the count an outage.
      found?.body.once('error', named)
      return found
    },
    has: (key) => guard(store.has(key)),
    delete: (key) => guard(store.delete(key)),
    async *list() {
      try {
        yield* store.list()
      } catch (error) {
        throw named(error)
      }
    },
    // Failed probes are no failed operations.
    check: () => store.check(),
  }
}
