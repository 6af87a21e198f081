import { AgentGymError } from '@agentgym/contract'
import type { Client } from './create-client.ts'
import { verifyIntegrity } from './integrity.ts'

export type DownloadRequest = {
  /** For messages: `@acme/cart-pole@1.0.0`. */
  what: string
  /** Address of the tarball, as the registry gives it. */
  tarball: string
  /** `sha512-…`, as the registry or a lockfile gives it. */
  integrity: string
  /** Refuses to read more; 256 MiB unless told. */
  limitBytes?: number
  onProgress?: (receivedBytes: number, totalBytes: number | null) => void
  signal?: AbortSignal
}

/** Downloads a tarball and holds it to its integrity: what comes back is what was published, or `integrity_mismatch`. */
export async function downloadPackage(client: Client, request: DownloadRequest): Promise<Uint8Array> {
  const { what, tarball, integrity, limitBytes = 256 * 2 ** 20, onProgress, signal } = request
  const response = await client.send(tarball, { signal })
  const length = response.headers.get('content-length')
  const total = length === null ? null : Number(length)
  const chunks: Uint8Array[] = []
  let received = 0
  if (response.body !== null) {
    for await (const chunk of response.body) {
      chunks.push(chunk)
      received += chunk.length
      if (received > limitBytes) throw tooLarge(what, limitBytes)
      onProgress?.(received, total)
    }
  }
  const bytes = concatenate(chunks, received)
  await verifyIntegrity(bytes, integrity, what)
  return bytes
}

function concatenate(chunks: Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

function tooLarge(what: string, limitBytes: number): AgentGymError {
  return new AgentGymError({
    code: 'integrity_mismatch',
    message: `The tarball of ${what} is larger than ${limitBytes} bytes, which no package is.`,
    data: { limit_bytes: limitBytes },
  })
}
