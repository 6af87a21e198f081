import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** What is longer is cut: Markdown has constructs that take time by the square of their length. */
const maxCharacters = 200_000
const timeLimitMs = 2_000
const cacheCharacters = 32 * 1024 * 1024

/**
 * Turns READMEs into HTML in a thread of its own, one at a time and with a limit of time, so that one written to take
 * minutes delays nobody but its readers: it is shown as plain text. Keeps what was made, for versions do not change.
 */
export class ReadmeRenderer {
  readonly #cache = new Map<string, string>()
  #cachedCharacters = 0
  readonly #underWay = new Map<string, Promise<string>>()
  #worker: Promise<Worker> | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** HTML of the README of the version with this id. */
  render(versionId: string, markdown: string): Promise<string> {
    const cached = this.#cache.get(versionId)
    if (cached !== undefined) {
      this.#cache.delete(versionId)
      this.#cache.set(versionId, cached)
      return Promise.resolve(cached)
    }
    const underWay = this.#underWay.get(versionId)
    if (underWay !== undefined) return underWay
    const rendering = this.#last
      .then(() => this.#renderNow(markdown.slice(0, maxCharacters)))
      .then((html) => this.#keep(versionId, html))
      .finally(() => this.#underWay.delete(versionId))
    this.#underWay.set(versionId, rendering)
    this.#last = rendering.catch(() => {})
    return rendering
  }

  async close(): Promise<void> {
    const worker = await this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  async #renderNow(markdown: string): Promise<string> {
    this.#worker ??= startWorker()
    try {
      const worker = await this.#worker
      const html = await ask(worker, markdown)
      if (html !== undefined) return html ?? plainText(markdown)
      this.#worker = undefined
      await worker.terminate()
    } catch {
      // The thread did not start: the next README tries again.
      this.#worker = undefined
    }
    return plainText(markdown)
  }

  #keep(versionId: string, html: string): string {
    this.#cache.set(versionId, html)
    this.#cachedCharacters += html.length
    for (const [oldest, { length }] of this.#cache) {
      if (this.#cachedCharacters <= cacheCharacters) break
      this.#cache.delete(oldest)
      this.#cachedCharacters -= length
    }
    return html
  }
}

/** The process's own: one thread, one cache. */
export const readmeRenderer = new ReadmeRenderer()

/** Resolves once it has loaded what it needs, for that is no README's fault. */
async function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL('./markdown.worker.ts', import.meta.url), {
    // A README needs a few megabytes; the thread, not the server, dies of one that needs hundreds.
    resourceLimits: { maxOldGenerationSizeMb: 192 },
  })
  await once(worker, 'message')
  worker.unref()
  return worker
}

/** Null where it could not be done, undefined where the worker is not to be used any more. */
function ask(worker: Worker, markdown: string): Promise<string | null | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | null | undefined>()
  const giveUp = () => resolve(undefined)
  const timer = setTimeout(giveUp, timeLimitMs)
  worker.once('message', resolve).once('error', giveUp).once('exit', giveUp)
  worker.postMessage(markdown)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', giveUp).off('exit', giveUp)
  })
}

function plainText(markdown: string): string {
  const escaped = markdown.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<pre dir="auto">${escaped}</pre>`
}
