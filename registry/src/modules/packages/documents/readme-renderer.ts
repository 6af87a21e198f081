import { LRUCache } from 'lru-cache'
import { FairWorker } from './fair-worker.ts'
import type { RenderedMarkdown, ShownPictures } from './markdown-html.ts'

/** Longer texts are truncated, because some Markdown constructs take quadratic time. */
const maxCharacters = 200_000
const cachedCharacters = 32 * 1024 * 1024

type Options = {
  /** Account of the text, for taking turns. Default: the server itself. */
  account?: string
}

/** Renders Markdown to HTML in a thread of its own, with a time limit: beyond it, a text is shown as plain text. */
export class ReadmeRenderer {
  readonly #html = new LRUCache<string, string, string>({
    maxSize: cachedCharacters,
    sizeCalculation: (html) => html.length + 1,
    fetchMethod: async (versionId, _stale, { context: markdown }) =>
      (await this.render(markdown, {}, { account: `version:${versionId}` })).html,
  })
  readonly #worker = new FairWorker<{ markdown: string; pictures: ShownPictures }, RenderedMarkdown | null>(
    new URL('./markdown.worker.ts', import.meta.url),
    { limitMs: 2_000 },
  )

  /** HTML of a version's README without images; cached, because versions do not change. */
  readme(versionId: string, markdown: string): Promise<string> {
    return this.#html.forceFetch(versionId, { context: markdown })
  }

  /** Renders with these images. Returns no images if it falls back to plain text. Never throws. */
  async render(
    markdown: string,
    pictures: ShownPictures = {},
    { account = '' }: Options = {},
  ): Promise<RenderedMarkdown> {
    const text = markdown.slice(0, maxCharacters)
    const rendered = await this.#worker.ask({ markdown: text, pictures }, account)
    return rendered ?? { html: asText(text), named: [] }
  }

  close(): Promise<void> {
    return this.#worker.close()
  }
}

/** The text as HTML, without rendering. */
export function asText(markdown: string): string {
  return `<pre dir="auto">${escapeText(markdown.slice(0, maxCharacters))}</pre>`
}

/** For text and for attributes in double quotes. */
export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
