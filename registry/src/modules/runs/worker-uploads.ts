import { AgentGymError, partBytes } from '@agentgym/contract'
import type { Attempt } from '../../core/queue/job-handler.ts'
import { digestOf, type ObjectStore } from '../../core/storage/object-store.ts'
import type { RunServices } from './run-services.ts'

/** The request with the body, or the SHA-256 of each part stored before. */
export type Upload = Request | readonly string[]

/**
 * Stores a part of an upload that a proxy refuses as a whole, and returns its SHA-256. No row references it, so the
 * sweeper deletes it an hour later. Throws `lease_lost`, `request_too_large`.
 */
export async function storePart(
  { queue, objects }: Pick<RunServices, 'queue' | 'objects'>,
  attempt: Attempt,
  request: Request,
): Promise<string> {
  await queue.requireActive(attempt)
  return digestOf(await objects.put(await readWhole(request.body ?? [], partBytes)))
}

/** Memory limit of all bodies being read. A larger body is read alone. */
const memoryBytes = 2 ** 30
let heldBytes = 0
const waiting: (() => void)[] = []

/**
 * Reads a large upload, with a size limit that is enforced while it arrives, and passes it to `work`. Uploads beyond
 * the process's memory limit wait for others. Throws `request_too_large`, and `integrity_mismatch` for parts that are
 * not stored.
 */
export async function readBounded<Result>(
  objects: ObjectStore,
  upload: Upload,
  limitBytes: number,
  work: (bytes: Uint8Array) => Promise<Result>,
): Promise<Result> {
  const declared = upload instanceof Request ? Number(upload.headers.get('content-length') ?? Number.NaN) : Number.NaN
  const reserved = Math.min(Number.isFinite(declared) ? declared : limitBytes, limitBytes, memoryBytes)
  while (heldBytes > 0 && heldBytes + reserved > memoryBytes)
    await new Promise<void>((resolve) => waiting.push(resolve))
  heldBytes += reserved
  try {
    const chunks = upload instanceof Request ? (upload.body ?? []) : storedParts(objects, upload)
    return await work(await readWhole(chunks, limitBytes))
  } finally {
    heldBytes -= reserved
    for (const resume of waiting.splice(0)) resume()
  }
}

async function* storedParts(objects: ObjectStore, parts: readonly string[]): AsyncIterable<Uint8Array> {
  for (const part of parts) {
    const bytes = await objects.get(`sha256/${part}`)
    if (bytes === undefined)
      throw new AgentGymError({
        code: 'integrity_mismatch',
        message: `The part ${part} of the upload is not stored.`,
        hint: 'Upload all parts again. They are kept for an hour.',
        data: { part },
      })
    yield bytes
  }
}

async function readWhole(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limitBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of source) {
    length += chunk.length
    if (length > limitBytes)
      throw new AgentGymError({
        code: 'request_too_large',
        message: `The request body is larger than ${limitBytes} bytes.`,
        data: { limit_bytes: limitBytes },
      })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}
