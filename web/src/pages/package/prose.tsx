import { raw } from 'hono/html'

/** A README, as HTML that the registry has sanitised, below a heading of that level. `title` at its top would be said twice. */
export function Prose({ html, title, below = 1 }: { html: string; title: string; below?: 1 | 2 }) {
  return (
    <section class="prose" aria-label="README">
      {raw(fitHeadings(html, title, below))}
    </section>
  )
}

/**
 * Headings as many levels down; a first one that says what the page is called is left out. Digits in names of elements are all
 * that changes in the text, so nothing can come of it that the registry has not seen.
 */
export function fitHeadings(html: string, title: string, below: number): string {
  const [first, text] = /^\s*<h1\b[^<>]*>([^<>]*)<\/h1>/.exec(html) ?? []
  const rest = first !== undefined && sameWords(text, title) ? html.slice(first.length) : html
  return rest.replace(/(<\/?h)([1-6])(?=[\s>])/g, (_, tag, level) => `${tag}${Math.min(6, Number(level) + below)}`)
}

function sameWords(one: string, other: string): boolean {
  const words = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
  return words(one) === words(other)
}
