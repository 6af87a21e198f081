/** Puzzles that have a solution, and the moves of the game. */
import { createRng, type Rng } from '@agentgym/scenario'
import { combine, compare, type Fraction, format, type Operator, operators, whole } from './arithmetic.ts'

const LARGEST_CARD = 13
const LARGEST_NUMBER = 33
const LEAST_TARGET = 10
const LARGEST_TARGET = 99
/** One combination of numbers in so many belongs to training. */
const SPLITS = 3

/** In ascending order. */
export type Numbers = readonly Fraction[]
export type Puzzle = { numbers: Numbers; target: Fraction }

/** Two places in the ascending numbers, the first below the second, and how they are combined. */
export type Move = {
  readonly first: number
  readonly second: number
  readonly operator: Operator
  /** With the places from 1 on, in the order of the calculation: "2nd − 1st". */
  readonly label: string
}

const ordinals = ['1st', '2nd', '3rd', '4th'] as const

/** Every pair of four places with every operator. With fewer numbers left, only the first pairs exist. */
export const moves: readonly Move[] = [
  [0, 1],
  [0, 2],
  [1, 2],
  [0, 3],
  [1, 3],
  [2, 3],
].flatMap(([first, second]) =>
  operators.map((operator) => ({ first, second, operator, label: write(ordinals[first], operator, ordinals[second]) })),
)

/** A calculation as it is written, for a the smaller and b the larger number. */
function write(a: string, operator: Operator, b: string): string {
  return operator.startsWith('b') ? `${b} ${operator[2]} ${a}` : `${a} ${operator[2]} ${b}`
}

/** A move in words: "13 − 1 = 12". */
export function say(numbers: Numbers, { first, second, operator }: Move, result: Fraction): string {
  return `${write(format(numbers[first]), operator, format(numbers[second]))} = ${format(result)}`
}

/** The result of a move, or null if it cannot be made. */
export function resultOf(numbers: Numbers, { first, second, operator }: Move): Fraction | null {
  return second < numbers.length ? combine(numbers[first], operator, numbers[second]) : null
}

/** The numbers after a move with this result. */
export function afterMove(numbers: Numbers, { first, second }: Move, result: Fraction): Numbers {
  return [...numbers.filter((_, place) => place !== first && place !== second), result].sort(compare)
}

/** Whether the target can be reached with all of the numbers. */
export function isSolvable(numbers: Numbers, target: Fraction): boolean {
  if (numbers.length === 1) return compare(numbers[0], target) === 0
  if (numbers.length === 2) return isInReach(numbers, target)
  return moves.some((move) => {
    const result = resultOf(numbers, move)
    return result !== null && isSolvable(afterMove(numbers, move, result), target)
  })
}

/** Whether one calculation with two of the numbers gives the target, whatever else is left. */
export function isInReach(numbers: Numbers, target: Fraction): boolean {
  return moves.some((move) => {
    const result = resultOf(numbers, move)
    return result !== null && compare(result, target) === 0
  })
}

/** The puzzle of a task. Every third is the classical one: cards of 1 to 13, and 24. */
export function drawPuzzle({ split, index }: { split: 'train' | 'eval'; index: number }): Puzzle {
  const rng = createRng(split === 'train' ? index : 0x4000_0000 + index)
  for (;;) {
    const classical = index % 3 === 0
    const target = whole(classical ? 24 : LEAST_TARGET + rng.int(LARGEST_TARGET - LEAST_TARGET + 1))
    const numbers = drawNumbers(classical ? LARGEST_CARD : LARGEST_NUMBER, rng)
    if (splitOf(numbers) === split && isSolvable(numbers, target)) return { numbers, target }
  }
}

function drawNumbers(largest: number, rng: Rng): Numbers {
  return Array.from({ length: 4 }, () => whole(1 + rng.int(largest))).sort(compare)
}

/** By a hash of the numbers, whatever the target: a combination that is held out is held out with every target. */
export function splitOf(numbers: Numbers): 'train' | 'eval' {
  let hash = 0x811c9dc5
  for (const { top } of numbers) hash = Math.imul(hash ^ top, 0x01000193)
  hash ^= hash >>> 15
  return (hash >>> 0) % SPLITS === 0 ? 'train' : 'eval'
}
