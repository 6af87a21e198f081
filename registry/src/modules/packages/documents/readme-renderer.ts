import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { RenderedMarkdown, ShownPictures } from './markdown-html.ts'

/** What is longer is cut: Markdown has constructs that take time by the square of their length. */
const maxCharacters = 200_000
const timeLimitMs = 2_000
const cachedCharacters = 32 * 1024 * 1024

/**
 * Renders Markdown to HTML in a worker thread, one text at a time and with a time limit, so that a text made to take minutes
 * does not block the server: it is shown as plain text.
 */
export class ReadmeRenderer {
  readonly #html = new LRUCache<string, string, string>({
    maxSize: cachedCharacters,
    sizeCalculation: (html) => html.length + 1,
    fetchMethod: async (_versionId, _stale, { context: markdown }) => (await this.render(markdown)).html,
  })
  #worker: Promise<Worker> | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** HTML of a version's README, without its pictures; cached, since versions do not change. */
  readme(versionId: string, markdown: string): Promise<string> {
    return this.#html.forceFetch(versionId, { context: markdown })
  }

  /** Renders with these pictures. Names no pictures if it falls back to plain text. */
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
): Promise<RenderedMarkdown | null | undefined> {
  const { promise, resolve } = Promise.withResolvers<RenderedMarkdown | null | undefined>()
  const giveUp = () => resolve(undefined)
  const timer = setTimeout(giveUp, timeLimitMs)
  worker.once('message', resolve).once('error', giveUp).once('exit', giveUp)
  worker.postMessage(input)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', giveUp).off('exit', giveUp)
  })
}

function asText(markdown: string): RenderedMarkdown {
  const escaped = markdown.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return { html: `<pre dir="auto">${escaped}</pre>`, named: [] }
}
