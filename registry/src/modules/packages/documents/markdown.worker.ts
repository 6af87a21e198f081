import { parentPort } from 'node:worker_threads'
import { markdownHtml, type RenderedMarkdown, type ShownPictures } from './markdown-html.ts'

parentPort?.on('message', ({ markdown, pictures }: { markdown: string; pictures: ShownPictures }) => {
  let rendered: RenderedMarkdown | null = null
  try {
    rendered = markdownHtml(markdown, pictures)
  } catch {
    // Too deeply nested for the stack: shown as plain text.
  }
  parentPort?.postMessage(rendered)
})
parentPort?.postMessage('ready')
