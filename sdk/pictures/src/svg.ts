/**
 * A picture as data: the server renders it as text, an island as DOM nodes. Untrusted text in it is never parsed as
 * markup.
 */
export type SvgElement = {
  name: string
  attributes: Readonly<Record<string, string | number>>
  children: readonly (SvgElement | string)[]
}

/** An element; undefined attributes are omitted, numbers are rounded to hundredths. */
export function svg(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>> = {},
  ...children: readonly (SvgElement | string | null)[]
): SvgElement {
  const kept: Record<string, string | number> = {}
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) kept[key] = typeof value === 'number' ? hundredths(value) : value
  }
  return { name, attributes: kept, children: children.filter((child) => child !== null) }
}

/** Hundredths of a unit are finer than any screen shows. */
export function hundredths(value: number): number {
  return Math.round(value * 100) / 100
}

/** Units of a frame: four by three, as lists show them. */
export const FRAME_WIDTH = 320
export const FRAME_HEIGHT = 240

type PictureText = {
  /** Accessible title; null if adjacent text has it. */
  title: string | null
  /** What it shows. */
  description?: string
}

/** The root element: `width` by `height` units, scaled to the available space. */
export function picture(
  width: number,
  height: number,
  { title, description }: PictureText,
  ...children: readonly (SvgElement | null)[]
): SvgElement {
  const box = { class: 'picture', viewBox: `0 0 ${width} ${height}` }
  if (title === null) return svg('svg', { ...box, 'aria-hidden': 'true' }, ...children)
  const said = [svg('title', {}, title), description === undefined ? null : svg('desc', {}, description)]
  return svg('svg', { ...box, role: 'img' }, ...said, ...children)
}

/** Points of a line for `points`, rounded to tenths, because a line has hundreds of them. */
export function points(corners: readonly (readonly [x: number, y: number])[]): string {
  let text = ''
  for (const [x, y] of corners) text += `${text === '' ? '' : ' '}${tenthsText(x)},${tenthsText(y)}`
  return text
}

/** Cached, because pictures repeat the same fractions and formatting them is slow. */
const written: string[] = []

function tenthsText(value: number): string {
  const tenths = Math.round(value * 10)
  if (!(tenths >= 0 && tenths < 10_000)) return String(tenths / 10)
  written[tenths] ??= String(tenths / 10)
  return written[tenths]
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A picture as markup for inlining. */
export function svgMarkup({ name, attributes, children }: SvgElement): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
  const within = children.map((child) => (typeof child === 'string' ? escaped(child) : svgMarkup(child)))
  return `<${name}${written.join('')}>${within.join('')}</${name}>`
}

/** Characters that XML does not allow become U+FFFD. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"]/g, (sign) => escapes[sign])
}
