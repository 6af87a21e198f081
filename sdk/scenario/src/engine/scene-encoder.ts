import { describeValue, Problem } from './faults.ts'
import { isArray, stringSlice, wellFormed } from './primordials.ts'

const MAX_SHAPES = 400
const MAX_POINTS = 256
const MAX_TEXT = 80
const MAX_EXTENT = 1e6
/** Of the whole encoding. */
const MAX_CHARACTERS = 65_536

const { stringify } = JSON
const COLORS = 'ink dim line floor accent warning failure blue orange green purple yellow'

function refuse(where: string, what: string): never {
  throw new Problem(
    'scene_invalid',
    `render: ${where} ${what}`,
    'Return { width, height, shapes: [{ kind, … }] } with finite numbers; the README of @agentgym/scenario lists the shapes.',
  )
}

type Fields = Record<string, unknown>

function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value !== 'object' || value === null) refuse(where, `must be an object, got ${describeValue(value)}`)
  return value as Fields
}

function numberText(value: unknown, lowest: number, where: string): string {
  if (typeof value !== 'number' || !(value >= lowest && value <= MAX_EXTENT))
    refuse(where, `must be a number from ${lowest} to ${MAX_EXTENT}, got ${describeValue(value)}`)
  return `${value}`
}

function coordinate(value: unknown, where: string): string {
  return numberText(value, -MAX_EXTENT, where)
}

/** `,"key":"word"` of a field that is one of a few words; nothing if it is undefined. */
function wordField(fields: Fields, key: string, words: string, where: string): string {
  const value = fields[key]
  if (value === undefined) return ''
  if (typeof value !== 'string' || !isOneOf(value, words))
    refuse(where, `${key} must be one of ${words}, got ${describeValue(value)}`)
  return `,"${key}":"${value}"`
}

/** Whether `words`, separated by spaces, has that word. No method of a built-in is used: the author may have replaced it. */
function isOneOf(word: string, words: string): boolean {
  let from = 0
  for (let i = 0; i <= words.length; i += 1) {
    if (i < words.length && words[i] !== ' ') continue
    if (stringSlice(words, from, i) === word) return true
    from = i + 1
  }
  return false
}

function outlineField(fields: Fields, where: string): string {
  const { outline } = fields
  if (outline !== undefined && typeof outline !== 'boolean')
    refuse(where, `outline must be true or false, got ${describeValue(outline)}`)
  return outline === true ? ',"outline":true' : ''
}

function pointsText(value: unknown, least: number, where: string): string {
  if (!isArray(value)) refuse(where, `points must be an array of [x, y], got ${describeValue(value)}`)
  const { length } = value
  if (length < least || length > MAX_POINTS) refuse(where, `has ${length} points; from ${least} to ${MAX_POINTS}`)
  let text = ''
  for (let i = 0; i < length; i += 1) {
    const point = value[i]
    if (!isArray(point) || point.length !== 2) refuse(where, `points[${i}] must be [x, y], got ${describeValue(point)}`)
    const at = `${where}.points[${i}]`
    text += `${i === 0 ? '' : ','}[${coordinate(point[0], at)},${coordinate(point[1], at)}]`
  }
  return `[${text}]`
}

function place(fields: Fields, where: string): string {
  return `"x":${coordinate(fields.x, `${where}.x`)},"y":${coordinate(fields.y, `${where}.y`)}`
}

function shapeText(value: unknown, where: string): string {
  const fields = fieldsOf(value, where)
  const { kind } = fields
  const color = wordField(fields, 'color', COLORS, where)
  switch (kind) {
    case 'line': {
      const { thickness } = fields
      const width = thickness === undefined ? '' : `,"thickness":${numberText(thickness, 0, `${where}.thickness`)}`
      return `{"kind":"line","points":${pointsText(fields.points, 2, where)}${color}${width}}`
    }
    case 'polygon': {
      const points = pointsText(fields.points, 3, where)
      return `{"kind":"polygon","points":${points}${color}${outlineField(fields, where)}}`
    }
    case 'circle': {
      const radius = numberText(fields.radius, 0, `${where}.radius`)
      return `{"kind":"circle",${place(fields, where)},"radius":${radius}${color}${outlineField(fields, where)}}`
    }
    case 'rect': {
      const size = `"width":${numberText(fields.width, 0, `${where}.width`)},"height":${numberText(fields.height, 0, `${where}.height`)}`
      return `{"kind":"rect",${place(fields, where)},${size}${color}${outlineField(fields, where)}}`
    }
    case 'text': {
      const { text } = fields
      if (typeof text !== 'string') refuse(where, `text must be a string, got ${describeValue(text)}`)
      const cut = stringify(wellFormed(stringSlice(text as string, 0, MAX_TEXT)))
      const align = wordField(fields, 'align', 'start middle end', where)
      return `{"kind":"text",${place(fields, where)},"text":${cut}${color}${align}}`
    }
    default:
      return refuse(where, `kind must be line, polygon, circle, rect or text, got ${describeValue(kind)}`)
  }
}

/**
 * What `render` returned as JSON, every property read once. It is written by hand: `JSON.stringify` of an object would call
 * the author's `toJSON`. Throws a Problem `scene_invalid` that names the shape.
 */
export function encodeScene(value: unknown): string {
  const scene = fieldsOf(value, 'what it returned')
  const width = numberText(scene.width, 1e-6, 'width')
  const height = numberText(scene.height, 1e-6, 'height')
  const direction = wordField(scene, 'y', 'down up', 'the scene:')
  const { shapes } = scene
  if (!isArray(shapes)) refuse('shapes', `must be an array, got ${describeValue(shapes)}`)
  const { length } = shapes
  if (length > MAX_SHAPES) refuse('shapes', `has ${length} shapes; at most ${MAX_SHAPES}`)
  let text = ''
  for (let i = 0; i < length; i += 1) {
    text += `${i === 0 ? '' : ','}${shapeText(shapes[i], `shapes[${i}]`)}`
    if (text.length > MAX_CHARACTERS) refuse('the scene', `is longer than ${MAX_CHARACTERS} characters as JSON`)
  }
  return `{"width":${width},"height":${height}${direction},"shapes":[${text}]}`
}
