import type { Client } from './create-client.ts'
import { verifyIntegrity } from './integrity.ts'
import { versionPath } from './package-path.ts'

export type PublishRequest = {
  name: string
  version: string
  /** A gzipped tarball, as `npm pack` makes it. */
  tarball: Uint8Array
  /** What the version is tagged once it is published; `latest` unless told. */
  tag?: string
  visibility?: 'public' | 'private'
  /** Bytes handed to the network so far. Needs a platform that streams uploads, such as Node. */
  onProgress?: (sentBytes: number, totalBytes: number) => void
  signal?: AbortSignal
}

export type PublishedVersion = { name: string; version: string; state: string; url: string; integrity: string }

const CHUNK_BYTES = 64 * 1024

/**
 * Uploads a package. It is `checking` then, and `published` or `rejected` once a worker has looked at it: `GET` the version
 * to see. Throws what the server refuses it for: `version_exists`, `forbidden`, a `tarball_…` or `package_…` code.
 */
export async function publishPackage(client: Client, request: PublishRequest): Promise<PublishedVersion> {
  const { name, version, tarball, tag, visibility, onProgress, signal } = request
  const query = new URLSearchParams()
  if (tag !== undefined) query.set('tag', tag)
  if (visibility !== undefined) query.set('visibility', visibility)
  const search = query.size === 0 ? '' : `?${query}`
  const response = await client.send(`${versionPath(name, version)}${search}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    signal,
    ...bodyOf(tarball, onProgress),
  })
  const published = (await response.json()) as PublishedVersion
  await verifyIntegrity(tarball, published.integrity, `${name}@${version}, as the server received it,`)
  return published
}

function bodyOf(bytes: Uint8Array, onProgress: PublishRequest['onProgress']): RequestInit {
  if (onProgress === undefined) return { body: bytes as Uint8Array<ArrayBuffer> }
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = bytes.subarray(sent, sent + CHUNK_BYTES)
      if (chunk.length > 0) controller.enqueue(chunk)
      sent += chunk.length
      onProgress(sent, bytes.length)
      if (sent === bytes.length) controller.close()
    },
  })
  return { body, duplex: 'half' } as RequestInit
}
