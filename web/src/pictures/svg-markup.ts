import type { SvgElement } from './svg-element.ts'

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A picture as text, for the middle of a page. */
export function svgMarkup({ name, attributes, children }: SvgElement): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
  const within = children.map((child) => (typeof child === 'string' ? escaped(child) : svgMarkup(child)))
  return `<${name}${written.join('')}>${within.join('')}</${name}>`
}

/** What XML does not know at all becomes the sign for what cannot be shown. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"]/g, (sign) => escapes[sign])
}
