/**
 * A picture as data: the server writes it as text, an island makes nodes of it. Nothing in it is read as markup, whatever a
 * stranger has written.
 */
export type SvgElement = {
  name: string
  attributes: Readonly<Record<string, string | number>>
  children: readonly (SvgElement | string)[]
}

/** An element; attributes that are undefined are left out, numbers are rounded to hundredths. */
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

export type PictureText = {
  /** What it is, for those who do not see it; null where words beside it say so. */
  title: string | null
  /** What it shows. */
  description?: string
}

/** The root: `width` by `height` units, as large as it is given room for. */
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

/** Corners of a line, for `points`: in tenths, for a line has hundreds of them. */
export function points(corners: readonly (readonly [x: number, y: number])[]): string {
  let text = ''
  for (const [x, y] of corners) text += `${text === '' ? '' : ' '}${tenthsText(x)},${tenthsText(y)}`
  return text
}

/** Writing a fraction takes longer than finding it, and pictures have the same ones over and over. */
const written: string[] = []

function tenthsText(value: number): string {
  const tenths = Math.round(value * 10)
  if (!(tenths >= 0 && tenths < 10_000)) return String(tenths / 10)
  written[tenths] ??= String(tenths / 10)
  return written[tenths]
}
