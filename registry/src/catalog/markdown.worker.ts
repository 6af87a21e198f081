import { parentPort } from 'node:worker_threads'
import { markdownHtml } from './markdown-html.ts'

parentPort?.on('message', (markdown: string) => {
  let html: string | null = null
  try {
    html = markdownHtml(markdown)
  } catch {
    // Too deeply nested for the stack: the other side shows it as text.
  }
  parentPort?.postMessage(html)
})
parentPort?.postMessage('ready')
