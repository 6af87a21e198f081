import type { Parser } from '@lezer/common'
import { highlightCode, tagHighlighter, tags } from '@lezer/highlight'
import { parser as javaScript } from '@lezer/javascript'
import { parser as json } from '@lezer/json'
import { parser as markdown } from '@lezer/markdown'
import { parser as python } from '@lezer/python'
import { parser as yaml } from '@lezer/yaml'
import { escapeText } from '../documents/readme-renderer.ts'

const typeScript = javaScript.configure({ dialect: 'ts' })

/** By extension. */
const parsers: Record<string, Parser> = {
  js: javaScript,
  mjs: javaScript,
  cjs: javaScript,
  jsx: javaScript.configure({ dialect: 'jsx' }),
  ts: typeScript,
  mts: typeScript,
  cts: typeScript,
  tsx: javaScript.configure({ dialect: 'jsx ts' }),
  json,
  md: markdown,
  markdown,
  py: python,
  yml: yaml,
  yaml,
}

/** The tokens that pages mark; marking every name and bracket would make a page many times as large. */
const marked = tagHighlighter([
  { tag: tags.comment, class: 'tok-comment' },
  { tag: tags.keyword, class: 'tok-keyword' },
  { tag: [tags.string, tags.regexp, tags.escape], class: 'tok-string' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], class: 'tok-number' },
  { tag: tags.heading, class: 'tok-heading' },
  { tag: tags.emphasis, class: 'tok-emphasis' },
  { tag: [tags.link, tags.url], class: 'tok-link' },
])

function parserOf(path: string): Parser | undefined {
  const extension = /\.([a-z]+)$/.exec(path.toLowerCase())?.[1] ?? ''
  return Object.hasOwn(parsers, extension) ? parsers[extension] : undefined
}

/** Whether files of that name have a grammar. */
export function isHighlighted(path: string): boolean {
  return parserOf(path) !== undefined
}

/**
 * A text as HTML with elements `<span class="tok-…">` for tokens, none of which spans two lines. Deeply nested texts take
 * seconds or throw errors of any kind, so it belongs in a thread with a time limit.
 */
export function highlightText(path: string, text: string): string {
  const parser = parserOf(path)
  if (parser === undefined) return escapeText(text)
  let html = ''
  highlightCode(
    text,
    parser.parse(text),
    marked,
    (code, classes) => {
      html += classes === '' ? escapeText(code) : `<span class="${classes}">${escapeText(code)}</span>`
    },
    () => {
      html += '\n'
    },
  )
  return html
}
