import assert from 'node:assert'
import { createHash } from 'node:crypto'
import { type Readable, Transform } from 'node:stream'
import { AgentGymError } from '@agentgym/contract'

/**
 * Content-addressed objects: the key is `sha256/<hex>` of the bytes, so an object never changes and writing it again
 * changes nothing. The disk and S3 stores implement it and pass the same tests.
 */
export interface ObjectStore {
  /** Resolves to the key once the object is durable (disk: fsynced and renamed into place). */
  put(bytes: Uint8Array): Promise<string>
  /** Undefined if the object does not exist. */
  get(key: string): Promise<Uint8Array | undefined>
  /** Streams an object; undefined if it does not exist. */
  stream(key: string): Promise<{ body: Readable; size: number } | undefined>
  has(key: string): Promise<boolean>
  delete(key: string): Promise<void>
  /** Every key, for the orphan sweeper. */
  list(): AsyncIterable<{ key: string; writtenAt: Date }>
  /** Rejects if the store cannot be used now. */
  check(): Promise<void>
}

const pattern = /^sha256\/([0-9a-f]{64})$/

export function keyOf(bytes: Uint8Array): string {
  return `sha256/${createHash('sha256').update(bytes).digest('hex')}`
}

/** The digest (hex) in a key. Anything but a key is a bug: paths are never built from client input. */
export function digestOf(key: string): string {
  const digest = pattern.exec(key)?.[1]
  assert(digest, `${JSON.stringify(key)} is no object key`)
  return digest
}

export const isKey = (text: string): boolean => pattern.test(text)

/** Returns the bytes if they match the key. Throws `object_damaged`. */
export function verifyObject(key: string, bytes: Uint8Array): Uint8Array {
  if (keyOf(bytes) !== key) throw damaged(key)
  return bytes
}

/**
 * Passes an object through, and fails with `object_damaged` before its last chunk if the bytes do not match the key: a
 * reader of a damaged object never sees it end successfully.
 */
export function verifyingStream(key: string): Transform {
  const expected = digestOf(key)
  const hash = createHash('sha256')
  let held: Uint8Array | undefined
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      hash.update(chunk)
      const next = held
      held = chunk
      done(null, next)
    },
    flush(done) {
      if (hash.digest('hex') === expected) done(null, held)
      else done(damaged(key))
    },
  })
}

function damaged(key: string): AgentGymError {
  return new AgentGymError({
    code: 'object_damaged',
    message: `The stored object ${key} is damaged.`,
    hint: 'Restore it from a backup. Its name is the SHA-256 of its content.',
    data: { key },
  })
}

/** Like `Readable.toWeb`, which throws outside every handler if the reader cancels while a chunk is in transit. */
export function webStream(readable: Readable): ReadableStream<Uint8Array> {
  const chunks = readable[Symbol.asyncIterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => {
        readable.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
