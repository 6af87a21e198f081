import type { ScenarioView, SpaceDescription } from '@agentgym/contract'
import type { Item, Sample } from './read-sample.ts'

/** Numbers without names beyond so many are left to the data. */
const MOST_NUMBERS = 256

type View = ScenarioView | undefined

/**
 * An observation in words: texts as they are, numbers under the names that the package's `view` gives them, boards as rows of
 * characters, lists an item a line.
 */
export function observationText(space: SpaceDescription, observation: Sample, view: View): string {
  const names = columnNames(view)
  const grid = view?.kind === 'grid' ? view : undefined
  let column = 0
  const lines: string[] = []
  const write = (inner: SpaceDescription, value: Sample, path: string) => {
    if (inner.type === 'dict') {
      const fields = value as { [name: string]: Sample }
      for (const entry of inner.entries)
        write(entry.space, fields[entry.name], path === '' ? entry.name : `${path}.${entry.name}`)
      return
    }
    const first = column
    column += columnsOf(inner)
    if (inner.type === 'text') lines.push(value as string)
    else if (inner.type === 'list') lines.push(...listLines(path, value as Item[], view))
    else if (grid !== undefined && grid.at === first && inner.type === 'box' && isBoard(inner.shape, grid.shape))
      lines.push(...boardLines(value as number[], grid))
    else lines.push(...numberLines(inner, value as number | number[], path, names.slice(first, column)))
  }
  write(space, observation, '')
  return lines.filter((line) => line !== '').join('\n')
}

/** As the columns of a view count them: all but texts. */
function columnsOf(space: SpaceDescription): number {
  switch (space.type) {
    case 'box':
      return space.low.length
    case 'multiDiscrete':
      return space.nvec.length
    case 'list':
      return space.slots * (1 + space.features)
    case 'text':
    case 'dict':
      return 0
    case 'discrete':
      return 1
  }
}

function columnNames(view: View): (string | undefined)[] {
  const names: (string | undefined)[] = []
  if (view?.kind === 'transcript') names.push(...(view.facts ?? []))
  if (view?.kind === 'lines') {
    names.push(...(view.labels ?? []))
    for (const { at, label } of view.series ?? []) names[at] ??= label
  }
  if (view?.kind === 'cart') {
    names[view.position] = 'position'
    if (view.angle !== undefined) names[view.angle] = 'angle'
  }
  if (view?.kind === 'links') {
    for (const [i, { cos, sin }] of view.links.entries()) {
      const which = view.links.length === 1 ? '' : ` ${i + 1}`
      names[cos] = `cosine of angle${which}`
      names[sin] = `sine of angle${which}`
    }
  }
  return names
}

function numberLines(
  space: SpaceDescription,
  value: number | number[],
  path: string,
  names: readonly (string | undefined)[],
): string[] {
  const numbers = typeof value === 'number' ? [value] : value
  const words = (number: number) =>
    space.type === 'discrete' ? (space.labels?.[number - space.start] ?? numberText(number)) : numberText(number)
  const title = path === '' ? 'observation' : path
  if (!names.some((name) => name !== undefined)) {
    if (numbers.length > MOST_NUMBERS) return [`${title}: ${numbers.length} numbers`]
    const list = numbers.map(words).join(', ')
    return [`${title}: ${numbers.length === 1 ? list : `[${list}]`}`]
  }
  return numbers.map((number, i) => `${names[i] ?? `${title}[${i}]`}: ${words(number)}`)
}

function numberText(number: number): string {
  return String(Number(number.toPrecision(4)))
}

function listLines(path: string, items: readonly Item[], view: View): string[] {
  const named = view?.kind === 'transcript' ? view.lists?.find(({ name }) => name === path)?.features : undefined
  const title = path === '' ? 'items' : path
  if (items.length === 0) return [`${title}: none`]
  const lines = items.map(({ id, features }) => {
    const shown = features.flatMap((feature, i) => {
      if (named === undefined) return [numberText(feature)]
      // An item that is called after its feature, such as a place, says it once.
      if (feature === 0 || named[i] === undefined || named[i] === id) return []
      return [feature === 1 ? named[i] : `${named[i]} ${numberText(feature)}`]
    })
    return shown.length === 0 ? `- ${id}` : `- ${id} (${shown.join(', ')})`
  })
  return [`${title}:`, ...lines]
}

type GridView = Extract<ScenarioView, { kind: 'grid' }>

function isBoard(shape: readonly number[], board: readonly number[]): boolean {
  return shape.length === 3 && shape.every((size, i) => size === board[i])
}

const roleGlyphs = { wall: '#', trail: ':', goal: 'G', agent: 'A', item: 'o' }

/** Rows of characters, later channels over earlier ones, and what the characters mean. */
function boardLines(values: readonly number[], { shape, channels }: GridView): string[] {
  const [count, rows, width] = shape
  const glyphs = glyphsOf(channels)
  const board = Array.from({ length: rows }, () => Array<string>(width).fill('.'))
  for (let channel = 0; channel < count; channel++)
    for (let row = 0; row < rows; row++)
      for (let at = 0; at < width; at++)
        if (values[(channel * rows + row) * width + at] > 0) board[row][at] = glyphs[channel].glyph
  const isSeenFromMiddle =
    !glyphs.some(({ name }) => name === 'agent') && channels.some((each) => typeof each === 'string')
  const legend = glyphs.map(({ glyph, name }) => `${glyph} ${name}`).join(', ')
  return [
    ...board.map((row) => row.join('')),
    `(${legend}, . nothing${isSeenFromMiddle ? '; the agent is in the middle' : ''})`,
  ]
}

function glyphsOf(channels: GridView['channels']): { glyph: string; name: string }[] {
  const taken = new Set<string>(['.'])
  return channels.map((channel) => {
    const name = typeof channel === 'string' ? channel : channel.name
    const wanted = typeof channel === 'string' ? roleGlyphs[channel] : (channel.glyph ?? '')
    const letters = [...wanted, ...name.toUpperCase(), ...name, ...'0123456789abcdefghijklmnopqrstuvwxyz']
    const glyph = letters.find((letter) => letter.trim() !== '' && !taken.has(letter)) ?? '?'
    taken.add(glyph)
    return { glyph, name }
  })
}
