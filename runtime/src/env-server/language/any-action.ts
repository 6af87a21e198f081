import type { SpaceDescription } from '@agentgym/contract'
import { choiceWords, type Seen } from './read-action.ts'

/** A number in [0, 1). */
export type Random = () => number

type Cursor = { component: number; seen: Seen; random: Random }

/**
 * Any legal action, in the form that `actionRow` reads: words and ids where there are some, numbers within their bounds, of unbounded
 * ones small ones.
 */
export function anyAction(space: SpaceDescription, seen: Seen, random: Random): unknown {
  return draw(space, { component: 0, seen, random })
}

function draw(space: SpaceDescription, cursor: Cursor): unknown {
  switch (space.type) {
    case 'discrete': {
      const words = choiceWords(space, cursor.seen.observation)
      const word = pick(words, cursor)
      return space.labels === undefined && space.list === undefined ? Number(word) : word
    }
    case 'multiDiscrete':
      return space.nvec.map((n) =>
        Number(
          pick(
            Array.from({ length: n }, (_, i) => String(i)),
            cursor,
          ),
        ),
      )
    case 'box': {
      const numbers = space.low.map((low, i) => between(low, space.high[i] ?? null, cursor.random))
      if (space.shape.length > 0) return numbers
      return space.integer === true ? Math.round(numbers[0]) : numbers[0]
    }
    case 'dict':
      return drawDict(space, cursor)
    default:
      return null
  }
}

/** Of branches, the choice and the entry that it names. */
function drawDict({ entries, choice }: Extract<SpaceDescription, { type: 'dict' }>, cursor: Cursor): unknown {
  const drawn = entries.map(({ name, space }): [string, unknown] => [name, draw(space, cursor)])
  if (choice === undefined) return Object.fromEntries(drawn)
  const chosen = drawn.find(([name]) => name === choice)?.[1]
  return Object.fromEntries(drawn.filter(([name]) => name === choice || name === chosen))
}

function pick(words: readonly string[], cursor: Cursor): string {
  const legal = cursor.seen.legal?.[cursor.component++]
  const allowed = words.filter((_, i) => legal?.[i] ?? true)
  return allowed[Math.floor(cursor.random() * allowed.length)] ?? ''
}

function between(low: number | null, high: number | null, random: Random): number {
  const from = low ?? Math.min(-1, high ?? -1)
  const to = high ?? Math.max(1, low ?? 1)
  return Number((from + random() * (to - from)).toPrecision(4))
}
