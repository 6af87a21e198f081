import { AgentGymError, nearestName, type SpaceDescription } from '@agentgym/contract'
import { actionLeaves } from '@agentgym/scenario/engine'
import { itemsIn, type Sample } from './read-sample.ts'

/** What an action is chosen in view of. */
export type Seen = {
  observation: Sample
  /** Legal choices, one list a categorical component; null where every action is legal. */
  legal: boolean[][] | null
}

type Cursor = { row: number[]; component: number; seen: Seen }

/**
 * Writes an action, in words or numbers, as the row that the engine takes: categorical choices as indices from 0. Throws
 * `action_invalid`, which says what is legal, for what is no action of the space, or is illegal now.
 */
export function actionRow(space: SpaceDescription, action: unknown, seen: Seen): number[] {
  const cursor = { row: [], component: 0, seen }
  write(space, action, 'action', cursor)
  return cursor.row
}

function write(space: SpaceDescription, value: unknown, path: string, cursor: Cursor): void {
  switch (space.type) {
    case 'discrete':
      return void cursor.row.push(choiceOf(space, value, path, cursor))
    case 'multiDiscrete': {
      const values = listOf(value, space.nvec.length, path)
      for (const [i, n] of space.nvec.entries())
        cursor.row.push(choiceOf({ type: 'discrete', n, start: 0 }, values[i], `${path}[${i}]`, cursor))
      return
    }
    case 'box':
      return void cursor.row.push(...numbersOf(space, value, path))
    case 'dict':
      if (space.choice === undefined) writeDict(space, value, path, cursor)
      else writeBranches(space, value, path, cursor)
      return
    default:
      throw invalid(path, 'is of a kind that no action has')
  }
}

type Dict = Extract<SpaceDescription, { type: 'dict' }>

function writeDict({ entries }: Dict, value: unknown, path: string, cursor: Cursor): void {
  const fields = fieldsOf(
    value,
    entries.map(({ name }) => name),
    path,
  )
  for (const { name, space } of entries) write(space, fields[name], `${path}.${name}`, cursor)
}

/** A choice and the entry that it names; the columns of the others are not read, and hold zeros. */
function writeBranches({ entries, choice }: Dict, value: unknown, path: string, cursor: Cursor): void {
  const chooser = entries.find(({ name }) => name === choice)?.space
  const labels = chooser?.type === 'discrete' ? (chooser.labels ?? []) : []
  const given = Object(value) as Record<string, unknown>
  const chosen = given[choice ?? '']
  const word = typeof chosen === 'number' && chooser?.type === 'discrete' ? labels[chosen - chooser.start] : chosen
  const branch = entries.find(({ name }) => name === word && name !== choice)
  fieldsOf(value, [choice ?? '', ...(branch === undefined ? [] : [branch.name])], path)
  for (const { name, space } of entries) {
    if (name === choice || name === branch?.name) write(space, given[name], `${path}.${name}`, cursor)
    else skip(space, cursor)
  }
}

function skip(space: SpaceDescription, cursor: Cursor): void {
  for (const { size, counts } of actionLeaves(space)) {
    cursor.row.push(...Array<number>(size).fill(0))
    cursor.component += counts.length
  }
}

type Discrete = Extract<SpaceDescription, { type: 'discrete' }>

function choiceOf(space: Discrete, value: unknown, path: string, cursor: Cursor): number {
  const { observation, legal: masks } = cursor.seen
  const legal = masks?.[cursor.component++]
  const words = choiceWords(space, observation)
  const index = typeof value === 'string' ? wordIndex(words, value) : integerIn(space, value)
  const allowed = words.filter((_, i) => legal?.[i] ?? true)
  if (index < 0 || index >= words.length) {
    const nearest = typeof value === 'string' ? nearestName(value, allowed) : undefined
    const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
    throw invalid(path, `is ${shown(value)}, which is not one of its choices.${meant}`, allowed)
  }
  if (legal?.[index] === false) throw invalid(path, `is ${words[index]}, which is not legal now`, allowed)
  return index
}

/** Exactly, else but for case: language models write `Left`. Then a number that was sent as text. */
function wordIndex(words: readonly string[], value: string): number {
  const exact = words.indexOf(value)
  if (exact >= 0) return exact
  const folded = value.trim().toLowerCase()
  const alike = words.flatMap((word, i) => (word.toLowerCase() === folded ? [i] : []))
  return alike.length === 1 ? alike[0] : -1
}

function integerIn(space: Discrete, value: unknown): number {
  return Number.isInteger(value) ? (value as number) - space.start : -1
}

/** The words for the choices of a space, in order: labels, ids of the items that a pointer points to, else numbers. */
export function choiceWords(space: Discrete, observation: Sample): string[] {
  if (space.list !== undefined) return itemsIn(observation, space.list).map(({ id }) => id)
  return space.labels ?? Array.from({ length: space.n }, (_, i) => String(space.start + i))
}

function numbersOf(space: Extract<SpaceDescription, { type: 'box' }>, value: unknown, path: string): number[] {
  const single = space.low.length === 1 && typeof value === 'number' ? [value] : value
  const numbers = listOf(Array.isArray(single) ? single.flat(Number.POSITIVE_INFINITY) : single, space.low.length, path)
  return numbers.map((number, i) => {
    const at = numbers.length === 1 ? path : `${path}[${i}]`
    if (typeof number !== 'number' || !Number.isFinite(Math.fround(number)))
      throw invalid(at, `is ${shown(number)}, not a number`)
    const [low, high] = [space.low[i] ?? Number.NEGATIVE_INFINITY, space.high[i] ?? Number.POSITIVE_INFINITY]
    // Bounds are compared in float32, as in the engine.
    if (Math.fround(number) < Math.fround(low) || Math.fround(number) > Math.fround(high))
      throw invalid(at, `is ${number}, outside its bounds ${low} to ${high}`)
    return number
  })
}

function listOf(value: unknown, length: number, path: string): unknown[] {
  if (Array.isArray(value) && value.length === length) return value
  const found = Array.isArray(value) ? `a list of ${value.length}` : shown(value)
  throw invalid(path, `is ${found} where a list of ${length} belongs`)
}

function fieldsOf(value: unknown, names: readonly string[], path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(path, `is ${shown(value)} where an object with ${names.join(', ')} belongs`)
  for (const name of names) if (!Object.hasOwn(value, name)) throw invalid(path, `lacks ${name}`)
  for (const name of Object.keys(value))
    if (!names.includes(name)) throw invalid(path, `has ${shown(name)}, which it does not take`)
  return value as Record<string, unknown>
}

const MOST_WORDS = 50

export function invalid(path: string, why: string, allowed?: readonly string[]): AgentGymError {
  const words = allowed?.slice(0, MOST_WORDS)
  const more = allowed !== undefined && allowed.length > MOST_WORDS ? ', …' : ''
  return new AgentGymError({
    code: 'action_invalid',
    message: `${path} ${why}${/[.?]$/.test(why) ? '' : '.'}`,
    ...(words === undefined ? {} : { hint: `Legal now: ${words.join(', ')}${more}.` }),
    data: { field: path },
  })
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80)
}
