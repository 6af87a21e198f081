/** A game under way: the sheets of numbers, what can be done with them, and what is crossed out. */
import { compare, type Fraction } from './arithmetic.ts'
import { afterMove, isInReach, moves, type Numbers, resultOf } from './puzzle.ts'

/** What a move leads to. */
export type Option = {
  numbers: Numbers
  result: Fraction
  /** Whether it makes the target, or leaves two numbers that make it; with three left, whether two of them do. */
  near: boolean
}
/** The numbers at one time, what can be done with them (null: impossible or crossed out), and what is crossed out, in words. */
type Sheet = { numbers: Numbers; options: (Option | null)[]; tried: string[] }

export type State = {
  target: Fraction
  /** The first has four numbers; the last is the one that is played on. */
  sheets: Sheet[]
  calculationsLeft: number
}

export function lastSheet({ sheets }: State): Sheet {
  return sheets[sheets.length - 1]
}

export function openSheet(numbers: Numbers, target: Fraction): Sheet {
  const options = moves.map((move): Option | null => {
    const result = resultOf(numbers, move)
    if (result === null) return null
    const left = afterMove(numbers, move, result)
    return { numbers: left, result, near: left.length === 1 ? compare(result, target) === 0 : isInReach(left, target) }
  })
  return { numbers, options, tried: [] }
}

export function isSolved(state: State): boolean {
  const { numbers } = lastSheet(state)
  return numbers.length === 1 && compare(numbers[0], state.target) === 0
}
