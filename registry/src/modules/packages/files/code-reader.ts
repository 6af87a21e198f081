import { LRUCache } from 'lru-cache'
import { FairWorker } from '../documents/fair-worker.ts'
import { escapeText } from '../documents/readme-renderer.ts'
import type { CodeAnswer, CodeRequest } from './code.worker.ts'
import type { Hunk } from './compare-texts.ts'
import { isHighlighted } from './highlight.ts'

/** Longer texts are shown without highlighting. */
const highlightedCharacters = 64 * 1024
const comparedCharacters = 256 * 1024
const cachedCharacters = 16 * 1024 * 1024
/** Results that a busy machine may have cut short are tried again after this. */
const givenUpMs = 60_000

type Highlighting = { path: string; text: string; account: string }
type Comparing = { before: string; after: string; account: string }
/** `hunks`: null if the texts are too large to compare. */
type Compared = { hunks: Hunk[] | null }

/** Highlights and compares files of versions in a thread of its own, with a time limit. Cached, because versions do not change. */
export class CodeReader {
  readonly #worker = new FairWorker<CodeRequest, CodeAnswer>(new URL('./code.worker.ts', import.meta.url), {
    limitMs: 1_000,
  })
  readonly #html = new LRUCache<string, string, Highlighting>({
    maxSize: cachedCharacters,
    sizeCalculation: (html) => html.length + 1,
    fetchMethod: (_key, _stale, { context, options }) =>
      this.#highlightNow(context, () => {
        options.ttl = givenUpMs
      }),
  })
  readonly #compared = new LRUCache<string, Compared, Comparing>({
    maxSize: cachedCharacters,
    sizeCalculation: ({ hunks }) => JSON.stringify(hunks).length,
    fetchMethod: async (_key, _stale, { context: { before, after, account }, options }) => {
      const answer = await this.#worker.ask({ before, after }, account)
      if (answer === undefined) options.ttl = givenUpMs
      return { hunks: answer != null && 'hunks' in answer ? answer.hunks : null }
    },
  })

  /** The text as HTML, line by line; only escaped where it is too large, or no grammar fits. `key` identifies the text. */
  highlight(key: string, text: Highlighting): Promise<string> {
    return this.#html.forceFetch(key, { context: text })
  }

  /** What changed; null if that is too much to compute. `key` identifies the two texts. */
  async compare(key: string, texts: Comparing): Promise<Hunk[] | null> {
    if (Math.max(texts.before.length, texts.after.length) > comparedCharacters) return null
    return (await this.#compared.forceFetch(key, { context: texts })).hunks
  }

  close(): Promise<void> {
    return this.#worker.close()
  }

  async #highlightNow({ path, text, account }: Highlighting, givenUp: () => void): Promise<string> {
    if (text.length > highlightedCharacters || !isHighlighted(path)) return escapeText(text)
    const answer = await this.#worker.ask({ path, text }, account)
    if (answer === undefined) givenUp()
    return answer != null && 'html' in answer ? answer.html : escapeText(text)
  }
}
