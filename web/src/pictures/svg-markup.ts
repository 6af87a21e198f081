import type { SvgElement } from './svg-element.ts'

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A picture as text, for the middle of a page. */
export function svgMarkup({ name, attributes, children }: SvgElement): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
  const within = children.map((child) => (typeof child === 'string' ? escaped(child) : svgMarkup(child)))
  return `<${name}${written.join('')}>${within.join('')}</${name}>`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => escapes[sign])
}
