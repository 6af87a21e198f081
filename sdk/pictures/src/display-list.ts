import type { SvgElement } from './svg.ts'

/** What a class of `pictures.css` says; colors are names of the custom properties in `colors.css`, without dashes. */
export type PictureStyle = {
  fill?: string
  stroke?: string
  strokeWidth?: number
  strokeOpacity?: number
  dash?: number[]
  fontSize?: number
  font?: 'mono' | 'sans'
  anchor?: 'start' | 'middle' | 'end'
}
export type PictureStyles = ReadonlyMap<string, PictureStyle>

type Point = [x: number, y: number]

/** A picture as what is drawn, in order, in the units of the picture. */
export type Drawn =
  | {
      kind: 'path'
      points: Point[]
      closed: boolean
      fill: string | null
      fillOpacity: number
      stroke: string | null
      strokeWidth: number
      strokeOpacity: number
      dash: number[]
    }
  | { kind: 'text'; at: Point; text: string; size: number; font: 'mono' | 'sans'; anchor: string; color: string }

/** The rules of `pictures.css`: the subset of CSS that it uses, one class a rule. */
export function readPictureStyles(css: string): PictureStyles {
  const styles = new Map<string, PictureStyle>()
  for (const [, name, body] of css.replace(/\/\*.*?\*\//gs, '').matchAll(/\.([\w-]+) \{([^}]*)\}/g)) {
    const style: PictureStyle = {}
    for (const line of body.split(';')) {
      const colon = line.indexOf(':')
      if (colon > 0) declare(style, line.slice(0, colon).trim(), line.slice(colon + 1).trim())
    }
    styles.set(name, style)
  }
  return styles
}

function declare(style: PictureStyle, property: string, value: string): void {
  const color = /^var\(--([\w-]+)\)$/.exec(value)?.[1]
  if (property === 'fill' && color !== undefined) style.fill = color
  else if (property === 'stroke' && color !== undefined) style.stroke = color
  else if (property === 'stroke-width') style.strokeWidth = Number.parseFloat(value)
  else if (property === 'stroke-opacity') style.strokeOpacity = Number.parseFloat(value)
  else if (property === 'stroke-dasharray') style.dash = value.split(/\s+/).map(Number)
  else if (property === 'text-anchor') style.anchor = value as PictureStyle['anchor']
  else if (property === 'font' || property === 'font-family') {
    const size = /^([\d.]+)px/.exec(value)?.[1]
    if (size !== undefined) style.fontSize = Number(size)
    style.font = value.includes('--sans') ? 'sans' : 'mono'
  }
}

/** An affine transformation: x' = a·x + c·y + e, y' = b·x + d·y + f. */
type Transform = readonly [a: number, b: number, c: number, d: number, e: number, f: number]
const identity: Transform = [1, 0, 0, 1, 0, 0]

/** Flattens a picture of this package: curves become corners, transformations are applied, classes become styles. */
export function displayList(root: SvgElement, styles: PictureStyles): Drawn[] {
  const drawn: Drawn[] = []
  collect(root, identity, styles, drawn)
  return drawn
}

function collect(element: SvgElement, outer: Transform, styles: PictureStyles, drawn: Drawn[]): void {
  const { name, attributes, children } = element
  if (name === 'title' || name === 'desc' || name === 'style') return
  const transform = transformed(outer, String(attributes.transform ?? ''))
  const style = styleOf(attributes, styles)
  if (name === 'text') {
    const at = apply(transform, [number(attributes.x), number(attributes.y)])
    const text = children.filter((child) => typeof child === 'string').join('')
    const { fontSize = 10, font = 'mono', anchor = 'start', fill = 'ink' } = style
    drawn.push({ kind: 'text', at, text, size: fontSize, font, anchor, color: fill })
    return
  }
  for (const { points, closed } of outlines(name, attributes)) {
    drawn.push({
      kind: 'path',
      points: points.map((point) => apply(transform, point)),
      closed,
      fill: name === 'line' || name === 'polyline' ? null : (style.fill ?? null),
      fillOpacity: number(attributes['fill-opacity'], 1),
      stroke: style.stroke ?? null,
      // As the root of pictures.css has it.
      strokeWidth: style.strokeWidth ?? 2,
      strokeOpacity: style.strokeOpacity ?? 1,
      dash: style.dash ?? [],
    })
  }
  for (const child of children) if (typeof child !== 'string') collect(child, transform, styles, drawn)
}

/** Rules win over attributes, as in CSS. */
function styleOf(attributes: SvgElement['attributes'], styles: PictureStyles): PictureStyle {
  const style: PictureStyle = {}
  if (attributes['stroke-width'] !== undefined) style.strokeWidth = number(attributes['stroke-width'])
  if (attributes['font-size'] !== undefined) style.fontSize = number(attributes['font-size'])
  for (const name of String(attributes.class ?? '').split(' ')) Object.assign(style, styles.get(name))
  return style
}

type Outline = { points: Point[]; closed: boolean }

function outlines(name: string, attributes: SvgElement['attributes']): Outline[] {
  const at = (key: string) => number(attributes[key])
  switch (name) {
    case 'line':
      return [
        {
          points: [
            [at('x1'), at('y1')],
            [at('x2'), at('y2')],
          ],
          closed: false,
        },
      ]
    case 'polyline':
    case 'polygon':
      return [{ points: pairs(String(attributes.points)), closed: name === 'polygon' }]
    case 'circle':
      return [{ points: circle(at('cx'), at('cy'), at('r')), closed: true }]
    case 'rect': {
      const [x, y, width, height] = [at('x'), at('y'), at('width'), at('height')]
      return [
        {
          points: [
            [x, y],
            [x + width, y],
            [x + width, y + height],
            [x, y + height],
          ],
          closed: true,
        },
      ]
    }
    case 'path':
      return pathOutlines(String(attributes.d))
    default:
      return []
  }
}

const CORNERS = 32

function circle(cx: number, cy: number, r: number): Point[] {
  return Array.from({ length: CORNERS }, (_, i) => {
    const angle = (2 * Math.PI * i) / CORNERS
    return [cx + r * Math.cos(angle), cy + r * Math.sin(angle)]
  })
}

function pairs(text: string): Point[] {
  const numbers = text.split(/[\s,]+/).map(Number)
  return Array.from({ length: Math.floor(numbers.length / 2) }, (_, i) => [numbers[2 * i], numbers[2 * i + 1]])
}

/** Of the commands that pictures use: M, h, v, l and z. */
function pathOutlines(d: string): Outline[] {
  const found: Outline[] = []
  let at: Point = [0, 0]
  for (const [, command, rest] of d.matchAll(/([Mhvlz])([^Mhvlz]*)/g)) {
    const numbers = rest.match(/-?[\d.]+/g)?.map(Number) ?? []
    const current = found.at(-1)
    if (command === 'z') {
      if (current !== undefined) current.closed = true
      continue
    }
    if (command === 'M') at = [numbers[0], numbers[1]]
    else if (command === 'h') at = [at[0] + numbers[0], at[1]]
    else if (command === 'v') at = [at[0], at[1] + numbers[0]]
    else at = [at[0] + numbers[0], at[1] + numbers[1]]
    if (command === 'M' || current === undefined) found.push({ points: [at], closed: false })
    else current.points.push(at)
  }
  return found
}

function number(value: string | number | undefined, otherwise = 0): number {
  return value === undefined ? otherwise : Number(value)
}

function apply([a, b, c, d, e, f]: Transform, [x, y]: Point): Point {
  return [a * x + c * y + e, b * x + d * y + f]
}

function compose(outer: Transform, inner: Transform): Transform {
  const [a, b, c, d] = outer
  const [e, f] = apply(outer, [inner[4], inner[5]])
  return [
    a * inner[0] + c * inner[1],
    b * inner[0] + d * inner[1],
    a * inner[2] + c * inner[3],
    b * inner[2] + d * inner[3],
    e,
    f,
  ]
}

/** Of the transformations that pictures use: `translate(x y)` and `rotate(degrees)`. */
function transformed(outer: Transform, text: string): Transform {
  let transform = outer
  for (const [, name, rest] of text.matchAll(/(\w+)\(([^)]*)\)/g)) {
    const [x = 0, y = 0] = rest.split(/[\s,]+/).map(Number)
    if (name === 'translate') transform = compose(transform, [1, 0, 0, 1, x, y])
    else {
      const [cos, sin] = [Math.cos((x * Math.PI) / 180), Math.sin((x * Math.PI) / 180)]
      transform = compose(transform, [cos, sin, -sin, cos, 0, 0])
    }
  }
  return transform
}
