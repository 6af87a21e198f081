import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** The API's response to a read, as text. The site links to binary content (images, archives) and never reads it. */
type Answer = { status: number; type: string; text: string }
type Call = (request: Request) => Promise<Response>

/** A rendered page. */
export type CachedPage = { bytes: Buffer<ArrayBuffer>; etag: string }

type Entry = { answer: Answer } | { page: CachedPage }

export type PublicCacheOptions = { ttlMs: number; maxBytes: number }

/**
 * Longer responses are not cached: the page made from them is cached itself, and cached responses are the main load of
 * the garbage collector.
 */
const mostCharacters = 16 * 1024

/**
 * Cache of content for visitors without a session, for `ttlMs`: the API's responses by URL, and the pages made from
 * them. A page expires with its oldest response. Never contains data read with a session, form tokens or failures.
 */
export class PublicCache {
  readonly #entries: LRUCache<string, Entry>
  readonly #pending = new Map<string, Promise<Answer>>()
  readonly #ttlMs: number

  constructor({ ttlMs, maxBytes }: PublicCacheOptions) {
    this.#ttlMs = ttlMs
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (entry, key) => 2 * key.length + entryBytes + sizeOf(entry),
      ttl: ttlMs,
      // Remaining times have millisecond resolution.
      ttlResolution: 0,
    })
  }

  page(key: string): CachedPage | undefined {
    const entry = this.#entries.get(`page ${key}`)
    return entry !== undefined && 'page' in entry ? entry.page : undefined
  }

  /** Caches a page for at most `ttlMs`; not if one of its responses has expired. */
  keepPage(key: string, page: CachedPage, ttlMs: number): void {
    if (ttlMs > 0) this.#entries.set(`page ${key}`, { page }, { ttl: Math.min(ttlMs, this.#ttlMs) })
    else this.#entries.delete(`page ${key}`)
  }

  /**
   * The API's response to a GET without a session: cached, or requested once for all waiting callers. `onTtl` receives
   * its remaining time in milliseconds; 0 for a failure.
   */
  async fetch(request: Request, call: Call, onTtl: (ttlMs: number) => void = () => {}): Promise<Response> {
    const key = `api ${request.url}`
    const known = this.#entries.get(key)
    if (known !== undefined && 'answer' in known) {
      onTtl(this.#entries.getRemainingTTL(key))
      return responseOf(known.answer)
    }
    const answer = await (this.#pending.get(key) ?? this.#request(key, request, call))
    onTtl(answer.status === 200 ? this.#ttlMs : 0)
    return responseOf(answer)
  }

  #request(key: string, request: Request, call: Call): Promise<Answer> {
    const pending = call(request)
      .then(readAnswer)
      .then((answer) => {
        if (answer.status === 200 && answer.text.length <= mostCharacters) this.#entries.set(key, { answer })
        return answer
      })
      .finally(() => this.#pending.delete(key))
    this.#pending.set(key, pending)
    return pending
  }
}

/** Overhead of an entry besides its key and content. */
const entryBytes = 200

function sizeOf(entry: Entry): number {
  return 'page' in entry ? entry.page.bytes.byteLength : 2 * entry.answer.text.length
}

/** A weak tag, because the server may compress the page. */
export function pageOf(html: string): CachedPage {
  const bytes = Buffer.from(html)
  return { bytes, etag: `W/"${createHash('sha1').update(bytes).digest('base64url')}"` }
}

async function readAnswer(response: Response): Promise<Answer> {
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
}

/** Passes the text instead of a body, because encoding and decoding it would cost as much as some responses. */
function responseOf({ status, type, text }: Answer): Response {
  return Object.defineProperties(new Response(null, { status, headers: { 'content-type': type } }), {
    text: { value: async () => text },
    json: { value: async () => JSON.parse(text) },
  })
}
