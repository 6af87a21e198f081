import { raw } from 'hono/html'

/** Size limit of a README on a page, so that the page stays below 100 kB. */
const formatBytes = 60_000
/** The same for each version in a list. */
const changesBytes = 2_500

type ProseProps = {
  /** Sanitized by the registry. */
  html: string
  /** Title of the page, which is removed from the start of the README. */
  title: string
  /** Level of the heading above. */
  below?: 1 | 2
  /** Link to the full text, if only the beginning is shown here. */
  all?: string
}

/** A README as HTML sanitized by the registry, below a heading of that level. */
export function Prose({ html, title, below = 1, all }: ProseProps) {
  const beginning = all === undefined ? null : cutHtml(html, formatBytes)
  return (
    <section class="prose" aria-label="README">
      {raw(fitHeadings(beginning ?? html, title, below))}
      {beginning !== null && (
        <p class="prose-all">
          <a href={all}>Read more</a>
        </p>
      )}
    </section>
  )
}

type ChangesProps = {
  html: string
  /** Level of the heading above. */
  below: 2 | 3
  /** Link to the full text, if only the beginning is shown here. */
  all?: string
}

/** Release notes of a version. */
export function Changes({ html, below, all }: ChangesProps) {
  const beginning = all === undefined ? null : cutHtml(html, changesBytes)
  return (
    <div class="prose prose-changes">
      {raw(fitSection(beginning ?? html, below))}
      {beginning !== null && (
        <p>
          <a href={all}>Full release notes</a>
        </p>
      )}
    </div>
  )
}

/** One of several documents on a page: headings follow directly, and IDs are removed. */
function fitSection(html: string, below: number): string {
  const first = Number(/<h([1-6])(?=[\s>])/.exec(html)?.[1] ?? 1)
  return moveHeadings(html, (level) => Math.max(below + 1, level + below + 1 - first)).replace(
    /<[a-z](?:"[^"]*"|[^">])*>/g,
    (tag) => tag.replace(/ (?:(?:id|aria-describedby|aria-labelledby)="[^"]*"|href="#[^"]*")/g, ''),
  )
}

/**
 * Shifts headings down by that many levels and removes a first one that repeats the page's title. Only digits in
 * element names change, so the result stays sanitized.
 */
export function fitHeadings(html: string, title: string, below: number): string {
  const [first, text] = /^\s*<h1\b[^<>]*>([^<>]*)<\/h1>/.exec(html) ?? []
  const rest = first !== undefined && sameWords(text, title) ? html.slice(first.length) : html
  return moveHeadings(rest, (level) => level + below)
}

function moveHeadings(html: string, to: (level: number) => number): string {
  return html.replace(/(<\/?h)([1-6])(?=[\s>])/g, (_, tag, level) => `${tag}${Math.min(6, to(Number(level)))}`)
}

function sameWords(one: string, other: string): boolean {
  const words = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
  return words(one) === words(other)
}

const tag = /<(\/?)([a-z][a-z0-9]*)(?:"[^"]*"|[^">])*>/g
const empty = new Set(['br', 'hr', 'img', 'input'])

/**
 * The beginning of sanitized HTML, up to about that many bytes: cut at the end of a block in the second half, or else
 * within one, with open elements closed. Null if all of it fits.
 */
export function cutHtml(html: string, bytes: number): string | null {
  if (html.length <= bytes && Buffer.byteLength(html) <= bytes) return null
  const open: string[] = []
  let size = 0
  let from = 0
  let block = { at: 0, size: 0 }
  let inner = { at: 0, open: [] as string[] }
  const atText = (text: string) => {
    const line = lastLine(text, bytes - size)
    if (line > 0) inner = { at: from + line, open: [...open] }
    size += Buffer.byteLength(text)
  }
  for (const match of html.matchAll(tag)) {
    atText(html.slice(from, match.index))
    if (size > bytes) break
    const [whole, end, name] = match
    size += Buffer.byteLength(whole)
    if (size > bytes) break
    if (end !== '') open.pop()
    else if (!empty.has(name)) open.push(name)
    from = match.index + whole.length
    if (open.length === 0) block = { at: from, size }
    inner = { at: from, open: [...open] }
  }
  if (size <= bytes) atText(html.slice(from))
  if (block.size > bytes / 2) return html.slice(0, block.at)
  return (
    html.slice(0, inner.at) +
    inner.open
      .toReversed()
      .map((name) => `</${name}>`)
      .join('')
  )
}

/**
 * Number of characters of a text that fit, up to the end of a line or word, without splitting escapes such as `&#x3C;`.
 */
function lastLine(text: string, bytes: number): number {
  if (Buffer.byteLength(text) <= bytes) return text.length
  // At most four bytes a character.
  const fitting = Buffer.from(text)
    .subarray(0, Math.max(0, bytes))
    .toString()
    .replace(/\ufffd+$/, '').length
  return Math.max(text.lastIndexOf('\n', fitting), text.lastIndexOf(' ', fitting)) + 1
}
