import type { Readable } from 'node:stream'

/**
 * Content-addressed objects: the key is `sha256/<hex>` of the bytes, so an object never changes and writing it twice is
 * writing it once. `disk/` and `s3/` implement it and pass the same suite.
 */
export interface ObjectStore {
  /** Resolves once the object is durable (disk: fsynced and renamed into place). Gives its key. */
  put(bytes: Uint8Array): Promise<string>
  /** Undefined where there is none. */
  get(key: string): Promise<Uint8Array | undefined>
  /** Streams an object; undefined where there is none. */
  stream(key: string): Promise<{ body: Readable; size: number } | undefined>
  has(key: string): Promise<boolean>
  delete(key: string): Promise<void>
  /** Every key, for the sweeper of orphans. */
  list(): AsyncIterable<{ key: string; writtenAt: Date }>
}
