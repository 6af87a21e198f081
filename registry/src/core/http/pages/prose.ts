import { html, raw } from 'hono/html'
import type { Html } from './page.ts'

/** Text of our own descriptions: paragraphs by blank lines, code by backticks. Everything else is text, never markup. */
export function prose(text: string): Html[] {
  return text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => html`<p>${inline(paragraph)}</p>`)
}

/** Parts between backticks are code. */
export function inline(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
}

export const nothing = raw('')
