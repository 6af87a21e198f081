import { AgentGymError } from '@agentgym/contract'
import type { Client } from './create-client.ts'

export type PublishRequest = {
  name: string
  version: string
  /** A gzipped tarball, as `npm pack` makes it. */
  tarball: Uint8Array
  /** Tag for the version once it is published. Default: `latest`. */
  tag?: string
  visibility?: 'public' | 'private'
  /** Bytes sent so far. Needs a platform that streams uploads, such as Node. */
  onProgress?: (sentBytes: number, totalBytes: number) => void
  signal?: AbortSignal
}

export type PublishedVersion = {
  name: string
  version: string
  state: string
  url: string
  /** Of the tarball as the server received it. */
  integrity: string
  /** Of the tarball that the server serves; undefined for a server that serves what it received. */
  served_integrity?: string
}

const CHUNK_BYTES = 64 * 1024

/**
 * Uploads a package. The version is `checking` until a worker has checked it, then `published` or `rejected`: `GET` the
 * version to see. Throws the server's errors: `version_exists`, `forbidden`, a `tarball_…` or `package_…` code.
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

export type DownloadRequest = {
  /** For error messages: `@acme/cart-pole@1.0.0`. */
  what: string
  /** URL of the tarball from the registry. */
  tarball: string
  /** `sha512-…` from the registry or a lockfile. */
  integrity: string
  /** Besides the token's. */
  headers?: Record<string, string>
  /** Largest download in bytes. Default: 256 MiB. */
  limitBytes?: number
  onProgress?: (receivedBytes: number, totalBytes: number | null) => void
  signal?: AbortSignal
}

/** Downloads a tarball and verifies its integrity. Throws `integrity_mismatch`. */
export async function downloadPackage(client: Client, request: DownloadRequest): Promise<Uint8Array> {
  const { what, tarball, integrity, headers, limitBytes = 256 * 2 ** 20, onProgress, signal } = request
  const response = await client.send(tarball, { headers, signal })
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
    message: `The tarball of ${what} is larger than ${limitBytes} bytes, the limit for packages.`,
    data: { limit_bytes: limitBytes },
  })
}

/** Subresource integrity as npm's lockfiles hold it: `sha512-` and the digest in base64. */
export async function integrityOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-512', bytes as Uint8Array<ArrayBuffer>))
  let binary = ''
  for (const byte of digest) binary += String.fromCharCode(byte)
  return `sha512-${btoa(binary)}`
}

/** Throws `integrity_mismatch` unless `bytes` have the hash `expected`. `what` names them in the message. */
export async function verifyIntegrity(bytes: Uint8Array, expected: string, what: string): Promise<void> {
  const actual = await integrityOf(bytes)
  if (actual === expected) return
  throw new AgentGymError({
    code: 'integrity_mismatch',
    message: `The tarball of ${what} is not what the registry recorded: ${actual} instead of ${expected}.`,
    hint: 'Download it again; if it differs again, tell the operator of the server.',
    data: { expected, actual },
  })
}

/** Path of a package in the API: `/v1/packages/@acme/cart-pole`. */
export function packagePath(name: string): string {
  return `/v1/packages/${name.split('/').map(encodeURIComponent).join('/').replace(/^%40/, '@')}`
}

/** Path of one version of it. */
export function versionPath(name: string, version: string): string {
  return `${packagePath(name)}/versions/${encodeURIComponent(version)}`
}
