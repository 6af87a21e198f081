/** Pictures of runs and studies as SVG: the same size, font and colors, and the same bytes for the same input. */

export const WIDTH = 720
export const HEIGHT = 360
export const [INK, TITLE, GRID] = ['#4a4a4a', '#1a1a1a', '#ececec']

type Attributes = Record<string, string | number>

/** A whole picture. */
export function svg(elements: string[]): string {
  const frame = { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` }
  const font = { 'font-family': 'Inter, system-ui, sans-serif', 'font-size': 12, fill: INK }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg"${attributesOf({ ...frame, ...font })}>`,
    ...elements,
    '</svg>',
    '',
  ].join('\n')
}

/** Hundredths of a pixel. */
export function rounded(pixels: number): number {
  return Math.round(pixels * 100) / 100
}

export function element(name: string, attributes: Attributes): string {
  return `<${name}${attributesOf(attributes)}/>`
}

export function text(content: string, attributes: Attributes): string {
  return `<text${attributesOf(attributes)}>${escaped(content)}</text>`
}

function attributesOf(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('')
}

/** Text as XML takes it, without the control characters that it does not. */
function escaped(content: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
  return content
    .toWellFormed()
    .replace(/[\p{Cc}\uFFFE\uFFFF]/gu, ' ')
    .replace(/[&<>]/g, (character) => entities[character])
}
