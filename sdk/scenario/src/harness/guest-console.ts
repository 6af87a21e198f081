import {
  BOARD_ENVIRONMENT,
  BOARD_EPISODE,
  BOARD_PHASE,
  BOARD_STEP,
  isArray,
  lengthOfTypedArray,
  max,
  printable,
  typedArrayName,
  uncurryThis,
} from '../engine/index.ts'

/** Kept until the host takes them: the first calls, and the last ones, which lead to a fault. Those between are counted. */
const KEPT_FIRST = 50
const KEPT_LAST = 50
const MAX_TEXT = 500
/** Of one call, over all that its arguments hold. */
const MAX_VALUES = 100
const MAX_DEPTH = 3

export type LogLevel = 'debug' | 'error' | 'info' | 'log' | 'trace' | 'warn'

const { defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect
const mapForEach = uncurryThis(Map.prototype.forEach as (this: unknown, callback: PairCallback) => void)
const setForEach = uncurryThis(Set.prototype.forEach as (this: unknown, callback: PairCallback) => void)
type PairCallback = (value: unknown, key: unknown) => void

let keeping = false
let calls = 0
let first = ''
/** The last calls, in a ring. Its slots exist from the start: a setter on Array.prototype never sees a write to them. */
const last: string[] = []

/** Keeps what is logged from now on as text; without it, calls are only counted, which costs next to nothing. */
export function keepLogs(): void {
  keeping = true
  for (let i = 0; i < KEPT_LAST; i += 1)
    defineProperty(last, i, { __proto__: null, value: '', writable: true } as object)
}

/** Notes one call of the author's console, with the place where the board says that the guest is. */
export function noteLog(board: Int32Array | undefined, level: LogLevel, values: readonly unknown[]): void {
  calls += 1
  if (!keeping) return
  const place =
    board === undefined
      ? '0\t0\t0\t0'
      : `${board[BOARD_PHASE]}\t${board[BOARD_ENVIRONMENT]}\t${board[BOARD_EPISODE]}\t${board[BOARD_STEP]}`
  const entry = `${level}\t${place}\t${printable(describeAll(values), MAX_TEXT)}\n`
  if (calls <= KEPT_FIRST) first += entry
  else last[calls % KEPT_LAST] = entry
}

/**
 * What was noted since the last call, as lines: first how many calls there were, then of each that is kept level, phase,
 * environment, episode, step and text, separated by tabs. Texts hold neither tabs nor line breaks.
 */
export function takeLogs(): string {
  let taken = `${calls}\n${first}`
  if (keeping) {
    const from = max(calls - KEPT_LAST, KEPT_FIRST)
    for (let call = from + 1; call <= calls; call += 1) taken += last[call % KEPT_LAST]
  }
  calls = 0
  first = ''
  return taken
}

function describeAll(values: readonly unknown[]): string {
  const budget = { values: MAX_VALUES }
  let text = ''
  for (let i = 0; i < values.length && budget.values > 0; i += 1) {
    const value = values[i]
    text += `${i === 0 ? '' : ' '}${typeof value === 'string' ? printable(value, MAX_TEXT) : describe(value, 0, budget)}`
  }
  return text
}

type Budget = { values: number }

/**
 * A value in the manner of a developer's console, read from its own data alone: no getter and no method of the author
 * runs, so that a trajectory is the same whether its log is read or not.
 */
function describe(value: unknown, depth: number, budget: Budget): string {
  budget.values -= 1
  switch (typeof value) {
    case 'string':
      return `"${printable(value, MAX_TEXT)}"`
    case 'bigint':
      return `${value}n`
    case 'symbol':
      return 'Symbol()'
    case 'function':
      return '[Function]'
    case 'object':
      if (value === null) return 'null'
      try {
        return describeObject(value, depth, budget)
      } catch {
        // A revoked proxy, or one whose traps throw.
        return '[Object]'
      }
    default:
      return `${value}`
  }
}

function describeObject(value: object, depth: number, budget: Budget): string {
  const kind = typedArrayName(value)
  if (kind !== undefined) return `${kind} ${describeTypedArray(value as Float32Array, budget)}`
  const array = isArray(value)
  if (depth >= MAX_DEPTH) return array ? '[Array]' : '[Object]'
  if (array) return describeArray(value, depth, budget)
  const collection = describeCollection(value, depth, budget)
  if (collection !== undefined) return collection
  if (getOwnPropertyDescriptor(value, 'stack') !== undefined) {
    const message = getOwnPropertyDescriptor(value, 'message')?.value
    return typeof message === 'string' ? `Error: ${printable(message, MAX_TEXT)}` : 'Error'
  }
  const keys = ownKeys(value)
  let text = ''
  for (let i = 0; i < keys.length && budget.values > 0; i += 1) {
    const key = keys[i]
    if (typeof key !== 'string') continue
    text += `${text === '' ? '' : ', '}${printable(key, 60)}: ${describeProperty(value, key, depth, budget)}`
  }
  return text === '' ? '{}' : `{ ${text} }`
}

function describeProperty(value: object, key: PropertyKey, depth: number, budget: Budget): string {
  const property = getOwnPropertyDescriptor(value, key)
  if (property === undefined) return 'undefined'
  return 'value' in property ? describe(property.value, depth + 1, budget) : '[Getter]'
}

function describeArray(array: readonly unknown[], depth: number, budget: Budget): string {
  let text = ''
  let i = 0
  for (; i < array.length && budget.values > 0; i += 1)
    text += `${i === 0 ? '' : ', '}${describeProperty(array, i, depth, budget)}`
  return `[${text}${i < array.length ? ', …' : ''}]`
}

function describeTypedArray(array: Float32Array, budget: Budget): string {
  const length = lengthOfTypedArray(array)
  let text = ''
  let i = 0
  for (; i < length && budget.values > 0; i += 1)
    text += `${i === 0 ? '' : ', '}${describe(array[i], MAX_DEPTH, budget)}`
  return `[${text}${i < length ? ', …' : ''}]`
}

/** Of a Map or a Set, whose own methods throw for everything else. */
function describeCollection(value: object, depth: number, budget: Budget): string | undefined {
  let text = ''
  const add = (entry: string) => {
    text += `${text === '' ? '' : ', '}${entry}`
  }
  try {
    mapForEach(value, (item, key) => {
      if (budget.values > 0) add(`${describe(key, depth + 1, budget)} => ${describe(item, depth + 1, budget)}`)
    })
    return `Map { ${text} }`
  } catch {
    // It is no Map.
  }
  try {
    setForEach(value, (item) => {
      if (budget.values > 0) add(describe(item, depth + 1, budget))
    })
    return `Set { ${text} }`
  } catch {
    return undefined
  }
}
