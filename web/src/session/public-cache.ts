import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** The API's answer to a read, as text: what is not text (pictures, archives) the site links to and never reads. */
type Answer = { status: number; type: string; text: string }
type Call = (request: Request) => Promise<Response>

/** A rendered page. */
export type CachedPage = { bytes: Buffer<ArrayBuffer>; etag: string }

type Entry = { answer: Answer } | { page: CachedPage }

export type PublicCacheOptions = { ttlMs: number; maxBytes: number }

/**
 * Longer answers are dropped once they have been read: the page made from one is cached itself, and kept answers are most of
 * what the garbage collector has to move.
 */
const mostCharacters = 16 * 1024

/**
 * What is the same for every visitor without a session, for `ttlMs`: the API's answers by URL, and the pages made from them.
 * A page expires with the oldest answer it shows. Nothing read with a session, nothing with a form's token and no failure
 * comes here.
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
      // Remaining times are read to the millisecond.
      ttlResolution: 0,
    })
  }

  page(key: string): CachedPage | undefined {
    const entry = this.#entries.get(`page ${key}`)
    return entry !== undefined && 'page' in entry ? entry.page : undefined
  }

  /** Keeps a page for `ttlMs` at most; not at all where one of its answers has expired. */
  keepPage(key: string, page: CachedPage, ttlMs: number): void {
    if (ttlMs > 0) this.#entries.set(`page ${key}`, { page }, { ttl: Math.min(ttlMs, this.#ttlMs) })
    else this.#entries.delete(`page ${key}`)
  }

  /**
   * The API's answer to a GET without a session: a cached one, or a new one, requested once however many wait for it.
   * `onTtl` receives for how many milliseconds it may be shown; 0 for a failure.
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

/** Of an entry besides its key and content. */
const entryBytes = 200

function sizeOf(entry: Entry): number {
  return 'page' in entry ? entry.page.bytes.byteLength : 2 * entry.answer.text.length
}

/** A weak tag: the server may compress the page on its way. */
export function pageOf(html: string): CachedPage {
  const bytes = Buffer.from(html)
  return { bytes, etag: `W/"${createHash('sha1').update(bytes).digest('base64url')}"` }
}

async function readAnswer(response: Response): Promise<Answer> {
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
}

/** Its text is the body as it is: encoding it here, to decode it in the client, would cost as much as some answers. */
function responseOf({ status, type, text }: Answer): Response {
  return Object.defineProperties(new Response(null, { status, headers: { 'content-type': type } }), {
    text: { value: async () => text },
    json: { value: async () => JSON.parse(text) },
  })
}
