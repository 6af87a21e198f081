import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { RenderedMarkdown, ShownPictures } from './markdown-html.ts'

/** What is longer is cut: Markdown has constructs that take time by the square of their length. */
const maxCharacters = 200_000
const timeLimitMs = 2_000
const cachedCharacters = 32 * 1024 * 1024

/**
 * Turns Markdown into HTML in a thread of its own, one at a time and with a limit of time, so that one written to take
 * minutes delays nobody but its readers: it is shown as plain text.
 */
export class ReadmeRenderer {
  readonly #html = new LRUCache<string, string, string>({
    maxSize: cachedCharacters,
    sizeCalculation: (html) => html.length + 1,
    fetchMethod: async (_versionId, _stale, { context: markdown }) => (await this.render(markdown)).html,
  })
  #worker: Promise<Worker> | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** HTML of the README of the version with this id, without its pictures; kept, for versions do not change. */
  readme(versionId: string, markdown: string): Promise<string> {
    return this.#html.forceFetch(versionId, { context: markdown })
  }

  /** With those pictures; what is as text names none. */
  render(markdown: string, pictures: ShownPictures = {}): Promise<RenderedMarkdown> {
    const rendering = this.#last.then(() => this.#renderNow(markdown.slice(0, maxCharacters), pictures))
    this.#last = rendering.catch(() => {})
    return rendering
  }

  async close(): Promise<void> {
    const worker = await this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  async #renderNow(markdown: string, pictures: ShownPictures): Promise<RenderedMarkdown> {
    this.#worker ??= startWorker()
    try {
      const worker = await this.#worker
      const rendered = await ask(worker, { markdown, pictures })
      if (rendered !== undefined) return rendered ?? asText(markdown)
      this.#worker = undefined
      await worker.terminate()
    } catch {
      // The thread did not start: the next README tries again.
      this.#worker = undefined
    }
    return asText(markdown)
  }
}

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
function ask(
  worker: Worker,
  asked: { markdown: string; pictures: ShownPictures },
): Promise<RenderedMarkdown | null | undefined> {
  const { promise, resolve } = Promise.withResolvers<RenderedMarkdown | null | undefined>()
  const giveUp = () => resolve(undefined)
  const timer = setTimeout(giveUp, timeLimitMs)
  worker.once('message', resolve).once('error', giveUp).once('exit', giveUp)
  worker.postMessage(asked)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', giveUp).off('exit', giveUp)
  })
}

function asText(markdown: string): RenderedMarkdown {
  const escaped = markdown.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return { html: `<pre dir="auto">${escaped}</pre>`, named: [] }
}
