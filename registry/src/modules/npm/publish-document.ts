import { createHash } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import { rateLimited } from '../../core/access/rate-limit.ts'

/** The operation that a PUT of a package requests: npm uses one address for publishing, deprecating and more. */
type PutRequest = { kind: 'publish'; publish: PublishRequest } | { kind: 'deprecate'; deprecations: Deprecations }

/** Messages by version; an empty one removes a deprecation. `revision` is that of the document that was edited. */
export type Deprecations = { revision: string | undefined; messages: Map<string, string> }

export type PublishRequest = {
  version: string
  /** Undefined for `latest`, npm's default, which our own rules assign. */
  tag: string | undefined
  visibility: 'public' | 'private' | undefined
  /** The manifest in the document: must match the package.json in the tarball. */
  declared: Record<string, unknown>
  tarball: Uint8Array
}

const documentSchema = z.object({
  name: z.string(),
  _rev: z.string().optional(),
  'dist-tags': z.record(z.string(), z.string()).optional(),
  versions: z.record(z.string(), z.looseObject({ deprecated: z.unknown(), dist: z.unknown() }).partial()).optional(),
  access: z.enum(['public', 'restricted']).nullish(),
  _attachments: z.record(z.string(), z.object({ data: z.string(), length: z.number().optional() })).optional(),
})
type Document = z.infer<typeof documentSchema>

/**
 * Reads the JSON document of a PUT. A publish document supplies the tarball, the version's number, the tag and the
 * visibility; its manifest is only compared with the package.json in the tarball, which is the source of everything
 * served. Throws `request_invalid`, with instructions where npm's own output would not help.
 */
export function parsePutDocument(name: string, text: string): PutRequest {
  const document = parseDocument(text)
  if (document.name.toLowerCase() !== name.toLowerCase())
    throw invalid(`The document names ${quote(document.name)}, but was sent to ${quote(name)}.`)
  const attachments = Object.entries(document._attachments ?? {})
  if (attachments.length > 0) return { kind: 'publish', publish: parsePublish(document, attachments) }
  if (document.versions === undefined)
    throw invalid(
      'The document has no tarball and no versions.',
      'Stars and owners are not supported: use `agentgym` or the site to manage members of an organization.',
    )
  const messages = new Map<string, string>()
  for (const [version, { deprecated }] of Object.entries(document.versions))
    messages.set(version, typeof deprecated === 'string' ? deprecated : '')
  return { kind: 'deprecate', deprecations: { revision: document._rev, messages } }
}

function parseDocument(text: string): Document {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw invalid('The body is not JSON.', 'Publish with `agentgym scenario publish`, npm or pnpm.')
  }
  const parsed = documentSchema.safeParse(json)
  if (parsed.success) return parsed.data
  const [{ path, message }] = parsed.error.issues
  throw invalid(`The document's ${path.join('.') || 'root'} is invalid: ${message}.`)
}

function parsePublish(document: Document, attachments: [string, { data: string; length?: number }][]): PublishRequest {
  const versions = Object.entries(document.versions ?? {})
  if (versions.length !== 1) throw invalid(`Publish one version at a time; the document has ${versions.length}.`)
  if (attachments.length !== 1)
    throw invalid(
      `A version has one tarball; the document has ${attachments.length} attachments.`,
      'Publish without `--provenance`: the marketplace signs its own verification.',
    )
  const [version, manifest] = versions[0]
  const tagged = Object.entries(document['dist-tags'] ?? {})
  if (tagged.length > 1 || tagged.some(([, tagVersion]) => tagVersion !== version))
    throw invalid('The document tags more than the version that it publishes.', 'Move tags with `npm dist-tag add`.')
  const tarball = decodeTarball(attachments[0][1])
  assertIntact(tarball, manifest.dist)
  return {
    version,
    tag: tagged[0]?.[0] === 'latest' ? undefined : tagged[0]?.[0],
    visibility: document.access === 'restricted' ? 'private' : (document.access ?? undefined),
    declared: manifest,
    tarball,
  }
}

function decodeTarball({ data, length }: { data: string; length?: number }): Uint8Array {
  const bytes = Buffer.from(data, 'base64')
  // Node skips invalid base64 characters, so a length mismatch reveals them.
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  if (data.length % 4 !== 0 || bytes.byteLength !== (data.length / 4) * 3 - padding)
    throw invalid('The tarball is not valid base64.')
  if (length !== undefined && length !== bytes.byteLength)
    throw invalid(`The tarball is ${bytes.byteLength} bytes long, not ${length} as the document says.`)
  return bytes
}

const distSchema = z.object({ integrity: z.string(), shasum: z.string() }).partial()

/** The client's own checksums show whether the tarball arrived intact; the stored ones are computed here. */
function assertIntact(tarball: Uint8Array, dist: unknown): void {
  const { integrity, shasum } = distSchema.safeParse(dist).data ?? {}
  const digest = (algorithm: string, encoding: 'base64' | 'hex') =>
    createHash(algorithm).update(tarball).digest(encoding)
  const sha512 = integrity?.split(/\s+/).find((hash) => hash.startsWith('sha512-'))
  const wrong =
    (sha512 !== undefined && sha512 !== `sha512-${digest('sha512', 'base64')}`) ||
    (shasum !== undefined && shasum !== digest('sha1', 'hex'))
  if (wrong) throw invalid('The tarball does not match its checksum: it was damaged in transit.', 'Publish again.')
}

function invalid(message: string, hint?: string): AgentGymError {
  return new AgentGymError({ code: 'request_invalid', message, hint })
}

const quote = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

/** Each document is in memory several times: as text, as JSON, and as a tarball. */
const documentsAtOnce = 8

/**
 * Bounds the memory that one account can use in this process, before the publishing limit applies: runs `work`, or
 * throws `rate_limited` if the account already has that many in progress. Requests never wait for each other.
 */
export function documentSlots(atOnce = documentsAtOnce) {
  const underWay = new Map<string, number>()
  return async <Result>(accountId: string, work: () => Promise<Result>): Promise<Result> => {
    const others = underWay.get(accountId) ?? 0
    if (others >= atOnce) throw rateLimited(1)
    underWay.set(accountId, others + 1)
    try {
      return await work()
    } finally {
      const left = (underWay.get(accountId) ?? 1) - 1
      if (left === 0) underWay.delete(accountId)
      else underWay.set(accountId, left)
    }
  }
}
