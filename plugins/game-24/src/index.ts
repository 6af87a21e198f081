/**
 * The game of 24: four numbers are combined, two at a time, until one is left, which must be the target. Calculations are few; what
 * led nowhere can be taken back and is crossed out, so that the game is a search in which the agent says where to look first.
 *
 * After Yao et al. (2023), "Tree of Thoughts", where language models play it.
 */
import { box, defineScenario, dict, discrete } from '@agentgym/scenario'
import { type Fraction, isWhole } from './arithmetic.ts'
import { drawSheets } from './draw-sheets.ts'
import { isSolved, lastSheet, type Option, openSheet, type State } from './game.ts'
import { drawPuzzle, isSolvable, moves, say } from './puzzle.ts'

export const CALCULATIONS = 12
const TRAIN_GAMES = 200_000
const HELD_OUT_GAMES = 1_000_000_000
/** Numbers for each place, see `factsOfNumber`, and for each move, see `factsOfMove`. */
const NUMBER_FACTS = 2
const MOVE_FACTS = 5
export const TAKE_BACK = moves.length
const TAKEN_BACK = -0.05

export default defineScenario({
  observation: dict({
    numbers: box({ shape: [4 * NUMBER_FACTS], low: -1, high: 1 }),
    /** The target; calculations left; whether two, three or four numbers are left. */
    counts: box({ shape: [5], low: 0, high: 1 }),
    moves: box({ shape: [moves.length * MOVE_FACTS], low: -1, high: 1 }),
  }),
  action: discrete({ n: moves.length + 1, labels: [...moves.map(({ label }) => label), 'take back'] }),
  maxSteps: 2 * CALCULATIONS,
  tasks: { train: TRAIN_GAMES, eval: HELD_OUT_GAMES },

  reset({ task }): State {
    const { numbers, target } = drawPuzzle(task)
    return { target, sheets: [openSheet(numbers, target)], calculationsLeft: CALCULATIONS }
  },

  step(state, action) {
    if (action === TAKE_BACK) {
      state.sheets.pop()
      return { reward: TAKEN_BACK, terminated: false }
    }
    const { numbers, options, tried } = lastSheet(state)
    const option = options[action]
    if (option === null) throw new Error(`${moves[action].label} is impossible or crossed out`)
    options[action] = null
    tried.push(say(numbers, moves[action], option.result))
    state.sheets.push(openSheet(option.numbers, state.target))
    state.calculationsLeft -= 1
    const solved = isSolved(state)
    return { reward: solved ? 1 : 0, terminated: solved || state.calculationsLeft === 0 }
  },

  observe(state) {
    const { target, calculationsLeft } = state
    const { numbers, options } = lastSheet(state)
    return {
      numbers: [0, 1, 2, 3].flatMap((place) => factsOfNumber(numbers[place], target)),
      counts: [
        target.top / 100,
        calculationsLeft / CALCULATIONS,
        ...[2, 3, 4].map((count) => Number(numbers.length === count)),
      ],
      moves: options.flatMap((option) => factsOfMove(option, target)),
    }
  },

  actionMask(state) {
    return [...lastSheet(state).options.map((option) => option !== null), state.sheets.length > 1]
  },

  /** Searches through to the end. */
  oracle(state) {
    const { options } = lastSheet(state)
    const right = options.findIndex((option) => option !== null && isSolvable(option.numbers, state.target))
    return right < 0 ? TAKE_BACK : right
  },

  metrics(state) {
    return { solved: Number(isSolved(state)), calculations: CALCULATIONS - state.calculationsLeft }
  },

  render: (state) => drawSheets(state, isSolved(state)),
})

/** How it compares with the target, twice; 0 for a place that has none. */
function factsOfNumber(number: Fraction | undefined, target: Fraction): number[] {
  return number === undefined ? [0, 0] : [quotient(number, target), difference(number, target)]
}

/** Whether it can be made; how its result compares with the target, twice; 1 for a whole result, −1 for a fraction; whether it leads near. */
function factsOfMove(option: Option | null, target: Fraction): number[] {
  if (option === null) return [0, 0, 0, 0, 0]
  const { result, near } = option
  return [1, quotient(result, target), difference(result, target), isWhole(result) ? 1 : -1, Number(near)]
}

/** On a log scale: 0 for the target, −1 for a 55th of it or less, 1 for 55 times as much or more. */
function quotient({ top, bottom }: Fraction, target: Fraction): number {
  return top === 0 ? -1 : Math.max(-1, Math.min(1, Math.log(top / bottom / target.top) / 4))
}

/** In shares of the target: −1 for 0, 0 for the target, 1 for twice as much or more. */
function difference({ top, bottom }: Fraction, target: Fraction): number {
  return Math.min(1, top / bottom / target.top - 1)
}
