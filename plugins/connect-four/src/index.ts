/**
 * Connect Four against opponents of rising strength, from openings that training never shows. Every third task is played
 * against chance, every third against a player who looks one move ahead, and every third against a search of depth three.
 */
import { box, createRng, defineScenario, dict, discrete } from '@agentgym/scenario'
import { type Board, COLUMNS, drop, emptyBoard, landing, lift, longestLine, ROWS, SQUARES, winsAt } from './board.ts'
import { chooseColumn, drawOpening, type Level, levels, searchColumn } from './players.ts'

const TRAIN_GAMES = 100_000
const HELD_OUT_GAMES = 1_000_000_000
/** One opening in so many belongs to training. */
const SPLITS = 4
const OPENING_STONES = [4, 6]
/** Numbers for each column, see `factsOf`. */
const FACTS = 7
const ORACLE_DEPTH = 5

export type State = {
  board: Board
  level: Level
  /** 1 the agent has won, -1 the opponent, 0 a draw or not over. */
  winner: -1 | 0 | 1
}

type Task = { split: 'train' | 'eval'; index: number }

export default defineScenario({
  observation: dict({
    /** Channels: own stones, the opponent's. */
    board: box({ shape: [2, ROWS, COLUMNS], low: 0, high: 1 }),
    columns: box({ shape: [COLUMNS * FACTS], low: 0, high: 1 }),
  }),
  action: discrete({ n: COLUMNS, labels: ['1', '2', '3', '4', '5', '6', '7'] }),
  maxSteps: SQUARES / 2,
  tasks: { train: TRAIN_GAMES, eval: HELD_OUT_GAMES },

  reset({ task, rng }): State {
    const state = openingOf(task)
    // The first player moves: the agent in even games, the opponent in odd ones.
    if (task.index % 2 === 1) drop(state.board, chooseColumn(state.level, state.board, -1, rng), -1)
    return state
  },

  step(state, column, { rng }) {
    const { board, level } = state
    if (play(state, column, 1)) return { reward: state.winner, terminated: true }
    const terminated = play(state, chooseColumn(level, board, -1, rng), -1)
    return { reward: state.winner, terminated }
  },

  observe({ board }) {
    const stones: number[] = new Array(2 * SQUARES).fill(0)
    for (let square = 0; square < SQUARES; square += 1) {
      if (board.squares[square] !== 0) stones[board.squares[square] === 1 ? square : SQUARES + square] = 1
    }
    return { board: stones, columns: board.heights.flatMap((_, column) => factsOf(board, column)) }
  },

  actionMask({ board }) {
    return board.heights.map((height) => height < ROWS)
  },

  /** A search deeper than that of the strongest opponent. */
  oracle({ board }) {
    return searchColumn(board, 1, ORACLE_DEPTH)
  },

  metrics({ winner, board }) {
    return { won: winner === 1 ? 1 : 0, lost: winner === -1 ? 1 : 0, stones: board.stones }
  },
})

/** Drops a stone; returns whether the game is over. */
function play(state: State, column: number, player: 1 | -1): boolean {
  const { board } = state
  if (winsAt(board, landing(board, column), player)) state.winner = player
  drop(board, column, player)
  return state.winner !== 0 || board.stones === SQUARES
}

/**
 * Of a column: whether it is free; the longest lines of the agent and of the opponent where a stone lands, then on the square
 * above; how many columns would win next if the agent, or the opponent, dropped a stone here.
 */
function factsOf(board: Board, column: number): number[] {
  const square = landing(board, column)
  if (square < 0) return new Array(FACTS).fill(0)
  const above = square - COLUMNS
  const lengths = [square, above].flatMap((at) =>
    at < 0 ? [0, 0] : [longestLine(board, at, 1) / 3, longestLine(board, at, -1) / 3],
  )
  return [1, ...lengths, threatsAfter(board, column, 1), threatsAfter(board, column, -1)]
}

/** Columns that would win next for a player who has dropped a stone here: 0, 0.5 for one, 1 for more than can be blocked. */
function threatsAfter(board: Board, column: number, player: 1 | -1): number {
  drop(board, column, player)
  let threats = 0
  for (let other = 0; other < COLUMNS; other += 1) {
    const square = landing(board, other)
    if (square >= 0 && winsAt(board, square, player)) threats += 1
  }
  lift(board, column)
  return Math.min(threats, 2) / 2
}

/** The opening and the opponent of a game: whichever number draws it, an opening belongs to one split. */
export function openingOf({ split, index }: Task): State {
  const rng = createRng(split === 'train' ? index : 0x4000_0000 + index)
  const first = index % 2 === 0 ? 1 : -1
  const level = levels[Math.floor(index / 2) % levels.length]
  for (;;) {
    const board = emptyBoard()
    if (drawOpening(board, rng.pick(OPENING_STONES), first, rng) && splitOf(board, first) === split)
      return { board, level, winner: 0 }
  }
}

/** By a hash of the opening as its first player sees it. */
function splitOf({ squares }: Board, first: 1 | -1): 'train' | 'eval' {
  let hash = 0x811c9dc5
  for (let square = 0; square < SQUARES; square += 1) hash = Math.imul(hash ^ (squares[square] * first + 1), 0x01000193)
  hash ^= hash >>> 15
  return (hash >>> 0) % SPLITS === 0 ? 'train' : 'eval'
}
