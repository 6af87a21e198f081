import { formatValue } from '@agentgym/contract/charts'
import type { Episode, ViewOf } from './episode.ts'
import { actionName, seenAt } from './episode.ts'
import { FRAME_HEIGHT, FRAME_WIDTH, type SvgElement, svg } from './svg.ts'

const LEFT = 18
const LINE = 13
/** Number of monospaced characters between the margins. */
const WIDE = 46
const TEXT_LINES = 6

/** The text and the last calls made about it, each with what the observation said next; `replay` shows all of them as text. */
export function transcriptFrame(episode: Episode, view: ViewOf<'transcript'>, index: number): (SvgElement | null)[] {
  const said = wrapText(transcriptTexts(episode).join('\n'), WIDE, TEXT_LINES)
  const textBottom = 14 + said.length * LINE + 8
  const room = Math.floor((FRAME_HEIGHT - textBottom - 14) / LINE)
  const calls = lastCalls(transcriptCalls(episode, view).slice(0, index), room)
  const drawn: SvgElement[] = []
  let y = textBottom + 16
  for (const { action, changes, reward } of calls) {
    drawn.push(svg('path', { class: 'pic-call', d: `M${LEFT - 2} ${y - 8}l5 4.5l-5 4.5` }))
    drawn.push(svg('text', { class: 'pic-text pic-text-end', x: FRAME_WIDTH - LEFT, y }, signed(reward)))
    for (const line of action) {
      drawn.push(svg('text', { class: 'pic-text pic-strong', x: LEFT + 10, y }, line))
      y += LINE
    }
    for (const line of changes) {
      drawn.push(svg('text', { class: 'pic-text', x: LEFT + 10, y }, line))
      y += LINE
    }
  }
  return [
    svg('rect', { class: 'pic-sheet', x: 8, y: 8, width: FRAME_WIDTH - 16, height: textBottom - 8, rx: 4 }),
    ...said.map((line, i) => svg('text', { class: 'pic-text pic-strong', x: LEFT, y: 23 + i * LINE }, line)),
    ...drawn,
  ]
}

type WrappedCall = { action: string[]; changes: string[]; reward: number }

/** As many of the last calls as fit into `room` lines. */
function lastCalls(calls: readonly TranscriptCall[], room: number): WrappedCall[] {
  const shown: WrappedCall[] = []
  let left = room
  for (const { action, changes, reward } of calls.toReversed()) {
    const wrapped = {
      action: wrapText(action, WIDE - 10, 2),
      changes: changes.length === 0 ? [] : wrapText(changes.join(', '), WIDE - 3, 2),
      reward,
    }
    left -= wrapped.action.length + wrapped.changes.length
    if (left < 0 && shown.length > 0) break
    shown.unshift(wrapped)
  }
  return shown
}

export function signed(reward: number): string {
  return reward > 0 ? `+${formatValue(reward)}` : formatValue(reward)
}

/** The text before the first action. */
export function transcriptTexts(episode: Episode): string[] {
  return seenAt(episode, 0).texts.filter((text) => text.trim() !== '')
}

export type TranscriptCall = {
  action: string
  reward: number
  /** Numbers and texts of the observation that changed with it. */
  changes: string[]
}

/** The calls, one by one. */
export function transcriptCalls(
  episode: Episode,
  { facts = [], lists = [] }: Pick<ViewOf<'transcript'>, 'facts' | 'lists'>,
): TranscriptCall[] {
  return episode.steps.map((step, index) => {
    const after = seenAt(episode, index + 1)
    const numbers = facts.flatMap((fact, column) => {
      const [was, is] = [step.observation[column] ?? 0, after.observation[column] ?? 0]
      return was === is ? [] : [`${fact}: ${yesNo(is)}`]
    })
    const items = listChanges(episode, lists, step.observation, after.observation)
    const texts = after.texts.filter((text, leaf) => text !== step.texts[leaf] && text.trim() !== '')
    return { action: actionName(episode, step.action), reward: step.reward, changes: [...numbers, ...items, ...texts] }
  })
}

type NamedLists = NonNullable<ViewOf<'transcript'>['lists']>

/**
 * What lists hold, where that has changed: the items of those whose features have names, of other lists to which tools point
 * how many there are. The first number of an item says that it is there.
 */
function listChanges(
  { observation, action }: Episode,
  named: NamedLists,
  before: readonly number[],
  after: readonly number[],
): string[] {
  const pointed = new Set(action.flatMap(({ list }) => list ?? []))
  const found: string[] = []
  let column = 0
  for (const { name, size, shape } of observation) {
    const from = column
    column += size
    const features = named.find((list) => list.name === name)?.features
    if (features === undefined && !pointed.has(name)) continue
    const [was, is] = [before, after].map((numbers) => itemsOf(numbers.slice(from, from + size), shape[1] ?? 1))
    if (JSON.stringify(was) === JSON.stringify(is)) continue
    if (features !== undefined)
      is.forEach((item, slot) => void found.push(`${name}[${slot}]: ${describeItem(item, features)}`))
    else if (was.length !== is.length) found.push(`${name}: ${is.length} ${is.length === 1 ? 'item' : 'items'}`)
  }
  return found
}

/** The features of the items that are there. */
function itemsOf(numbers: readonly number[], width: number): number[][] {
  const slots = Array.from({ length: numbers.length / width }, (_, slot) =>
    numbers.slice(slot * width, (slot + 1) * width),
  )
  return slots.filter(([there]) => there === 1).map(([, ...features]) => features)
}

/** `jacket, price 1.28`: a feature of 1 by its name alone, as of a kind. */
function describeItem(item: readonly number[], features: readonly string[]): string {
  return item
    .flatMap((value, index) => {
      const name = features[index]
      if (value === 0 || name === undefined) return []
      return value === 1 ? [name] : [`${name} ${formatValue(value)}`]
    })
    .join(' ')
}

function yesNo(value: number): string {
  if (value === 1) return 'yes'
  if (value === -1) return 'no'
  return formatValue(value)
}

/** East Asian characters and emoji are two cells wide. */
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u

function width(text: string): number {
  let cells = 0
  for (const letter of text) cells += wide.test(letter) ? 2 : 1
  return cells
}

/** Wraps a text into at most `lines` lines of `cells` cells; truncated text ends with an ellipsis. */
export function wrapText(text: string, cells: number, lines: number): string[] {
  const wrapped: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    for (const word of paragraph.split(/\s+/).filter((word) => word !== '')) {
      for (const piece of pieces(word, cells)) {
        const longer = line === '' ? piece : `${line} ${piece}`
        if (width(longer) <= cells) line = longer
        else {
          wrapped.push(line)
          line = piece
        }
      }
    }
    if (line !== '') wrapped.push(line)
  }
  if (wrapped.length <= lines) return wrapped
  const kept = wrapped.slice(0, lines)
  return [...kept.slice(0, -1), `${fitting(kept[lines - 1], cells - 1)}…`]
}

/** Splits a word into parts that fit. */
function pieces(word: string, cells: number): string[] {
  const parts: string[] = []
  let rest = word
  while (width(rest) > cells) {
    const part = fitting(rest, cells)
    parts.push(part)
    rest = rest.slice(part.length)
  }
  return [...parts, rest]
}

function fitting(text: string, cells: number): string {
  let part = ''
  for (const letter of text) {
    if (width(part + letter) > cells) break
    part += letter
  }
  return part
}
