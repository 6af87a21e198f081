import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { RenderedMarkdown, ShownPictures } from './markdown-html.ts'

/** Longer texts are truncated, because some Markdown constructs take quadratic time. */
const maxCharacters = 200_000
const timeLimitMs = 2_000
const cachedCharacters = 32 * 1024 * 1024

/** Minimum time limit of an account whose texts have timed out. */
const shortestLimitMs = 125
const slowTextsCountMs = 10 * 60_000

type Options = {
  /** Account of the text, for taking turns. Default: the server itself. */
  account?: string
}

/**
 * Renders Markdown to HTML in a worker thread, one text at a time and with a time limit, so that a malicious text does
 * not block the server: it is shown as plain text. Accounts take turns, and accounts with slow texts get less time, so
 * that a text waits for at most one text of each other account.
 */
export class ReadmeRenderer {
  readonly #html = new LRUCache<string, string, string>({
    maxSize: cachedCharacters,
    sizeCalculation: (html) => html.length + 1,
    fetchMethod: async (versionId, _stale, { context: markdown }) =>
      (await this.render(markdown, {}, { account: `version:${versionId}` })).html,
  })
  /** Recent timeouts per account. */
  readonly #slow = new LRUCache<string, number>({ max: 10_000, ttl: slowTextsCountMs })
  /** Waiting texts by account, in the order of turns. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>()
  #worker: Promise<Worker> | undefined
  #busy = false

  /** HTML of a version's README without images; cached, because versions do not change. */
  readme(versionId: string, markdown: string): Promise<string> {
    return this.#html.forceFetch(versionId, { context: markdown })
  }

  /** Renders with these images. Returns no images if it falls back to plain text. */
  async render(
    markdown: string,
    pictures: ShownPictures = {},
    { account = '' }: Options = {},
  ): Promise<RenderedMarkdown> {
    const own = this.#waiting.get(account) ?? []
    const { promise, resolve } = Promise.withResolvers<RenderedMarkdown>()
    own.push(async () => resolve(await this.#renderNow(markdown.slice(0, maxCharacters), pictures, account)))
    this.#waiting.set(account, own)
    void this.#work()
    return promise
  }

  async close(): Promise<void> {
    const worker = await this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  /** Renders the waiting texts, one of each account in turn. */
  async #work(): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    for (let turn = this.#next(); turn !== undefined; turn = this.#next()) await turn()
    this.#busy = false
  }

  #next(): (() => Promise<void>) | undefined {
    const [first] = this.#waiting
    if (first === undefined) return undefined
    const [account, texts] = first
    const text = texts.shift()
    this.#waiting.delete(account)
    if (texts.length > 0) this.#waiting.set(account, texts)
    return text
  }

  /** Never throws. */
  async #renderNow(markdown: string, pictures: ShownPictures, account: string): Promise<RenderedMarkdown> {
    this.#worker ??= startWorker()
    const slow = this.#slow.get(account) ?? 0
    try {
      const worker = await this.#worker
      const limitMs = Math.max(shortestLimitMs, timeLimitMs / 2 ** slow)
      const rendered = await ask(worker, { markdown, pictures }, limitMs)
      if (rendered !== undefined) return rendered ?? { html: asText(markdown), named: [] }
      this.#slow.set(account, slow + 1)
      this.#worker = undefined
      await worker.terminate()
    } catch {
      // The thread did not start. The next README retries.
      this.#worker = undefined
    }
    return { html: asText(markdown), named: [] }
  }
}

/** Resolves once its imports are loaded, so that they do not count against a README's time limit. */
async function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL('./markdown.worker.ts', import.meta.url), {
    // A README needs a few megabytes. If one needs hundreds, the thread ends instead of the server.
    resourceLimits: { maxOldGenerationSizeMb: 192 },
  })
  await once(worker, 'message')
  worker.unref()
  return worker
}

/** Null if the text could not be rendered; undefined if the worker must be replaced. */
function ask(
  worker: Worker,
  input: { markdown: string; pictures: ShownPictures },
  limitMs: number,
): Promise<RenderedMarkdown | null | undefined> {
  const { promise, resolve } = Promise.withResolvers<RenderedMarkdown | null | undefined>()
  const giveUp = () => resolve(undefined)
  const timer = setTimeout(giveUp, limitMs)
  worker.once('message', resolve).once('error', giveUp).once('exit', giveUp)
  worker.postMessage(input)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', giveUp).off('exit', giveUp)
  })
}

/** The text as HTML, without rendering. */
export function asText(markdown: string): string {
  const text = markdown.slice(0, maxCharacters)
  const escaped = text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<pre dir="auto">${escaped}</pre>`
}
