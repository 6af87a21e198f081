import { parentPort } from 'node:worker_threads'
import { compareTexts, type Hunk } from './compare-texts.ts'
import { highlightText } from './highlight.ts'

/** A text of nothing but tokens would make a page of megabytes. */
const longestHtml = 512 * 1024

export type CodeRequest = { path: string; text: string } | { before: string; after: string }
/** Null if it cannot be done. */
export type CodeAnswer = { html: string } | { hunks: Hunk[] } | null

parentPort?.on('message', (request: CodeRequest) => parentPort?.postMessage(answerOf(request)))
parentPort?.postMessage('ready')

function answerOf(request: CodeRequest): CodeAnswer {
  try {
    if ('path' in request) {
      const html = highlightText(request.path, request.text)
      return html.length > longestHtml ? null : { html }
    }
    const hunks = compareTexts(request.before, request.after)
    return hunks === null ? null : { hunks }
  } catch {
    // Too deeply nested for the stack, or for a grammar.
    return null
  }
}
