import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { RenderedMarkdown, ShownPictures } from './markdown-html.ts'

/** What is longer is cut: Markdown has constructs that take time by the square of their length. */
const maxCharacters = 200_000
const timeLimitMs = 2_000
const cachedCharacters = 32 * 1024 * 1024

/** After a text of an account ran into the time limit, its next ones have less time, down to this. */
const shortestLimitMs = 125
const slowTextsCountMs = 10 * 60_000

type Options = {
  /** Whose text it is: accounts take turns. Default: the server's own. */
  account?: string
}

/**
 * Renders Markdown to HTML in a worker thread, one text at a time and with a time limit, so that a text made to take minutes
 * does not block the server: it is shown as plain text. Accounts take turns, and one whose texts are slow gets less time, so
 * that whatever one account uploads, a text of another waits for one of its texts at most.
 */
export class ReadmeRenderer {
  readonly #html = new LRUCache<string, string, string>({
    maxSize: cachedCharacters,
    sizeCalculation: (html) => html.length + 1,
    fetchMethod: async (versionId, _stale, { context: markdown }) =>
      (await this.render(markdown, {}, { account: `version:${versionId}` })).html,
  })
  /** Times at which texts of an account ran into the limit: how many, for a while. */
  readonly #slow = new LRUCache<string, number>({ max: 10_000, ttl: slowTextsCountMs })
  /** Waiting texts by account; accounts in the order of their turns. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>()
  #worker: Promise<Worker> | undefined
  #busy = false

  /** HTML of a version's README, without its pictures; cached, since versions do not change. */
  readme(versionId: string, markdown: string): Promise<string> {
    return this.#html.forceFetch(versionId, { context: markdown })
  }

  /** Renders with these pictures. Names no pictures if it falls back to plain text. */
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

  /** Renders what waits, a text of each account in turn. */
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
      // The thread did not start: the next README tries again.
      this.#worker = undefined
    }
    return { html: asText(markdown), named: [] }
  }
}

/** Resolves once its imports are loaded, so that they do not count against a README's time limit. */
async function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL('./markdown.worker.ts', import.meta.url), {
    // A README needs a few megabytes; the thread, not the server, dies of one that needs hundreds.
    resourceLimits: { maxOldGenerationSizeMb: 192 },
  })
  await once(worker, 'message')
  worker.unref()
  return worker
}

/** Null if the text could not be rendered, undefined if the worker has to be replaced. */
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

/** As HTML, without rendering it. */
export function asText(markdown: string): string {
  const text = markdown.slice(0, maxCharacters)
  const escaped = text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<pre dir="auto">${escaped}</pre>`
}
