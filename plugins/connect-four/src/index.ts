/** Connect Four against opponents of rising strength, each a level, from openings that training never shows. */
import { createRng, defineScenario, discrete } from '@agentgym/scenario'
import { type Board, COLUMNS, drop, emptyBoard, landing, ROWS, SQUARES, winsAt } from './board.ts'
import { observation, seenBy } from './observation.ts'
import { chooseColumn, drawOpening, type Opponent, opponents, searchColumn } from './players.ts'

const TRAIN_GAMES = 100_000
const HELD_OUT_GAMES = 1_000_000_000
/** One opening in so many belongs to training. */
const SPLITS = 4
const OPENING_STONES = [4, 6]
const ORACLE_DEPTH = 5

export type State = {
  board: Board
  opponent: Opponent
  /** 1 the agent has won, -1 the opponent, 0 a draw or not over. */
  winner: -1 | 0 | 1
}

type Task = { split: 'train' | 'eval'; index: number }

export default defineScenario({
  observation,
  action: discrete({ n: COLUMNS, labels: ['1', '2', '3', '4', '5', '6', '7'] }),
  maxSteps: SQUARES / 2,
  tasks: { train: TRAIN_GAMES, eval: HELD_OUT_GAMES },
  levels: opponents,

  reset({ task, rng, level }): State {
    const state: State = { board: openingOf(task), opponent: opponents[level], winner: 0 }
    // The first player moves: the agent in even games, the opponent in odd ones.
    if (task.index % 2 === 1) drop(state.board, chooseColumn(state.opponent, state.board, -1, rng), -1)
    return state
  },

  step(state, column, { rng }) {
    const { board, opponent } = state
    if (play(state, column, 1)) return { reward: state.winner, terminated: true }
    const terminated = play(state, chooseColumn(opponent, board, -1, rng), -1)
    return { reward: state.winner, terminated }
  },

  observe({ board }) {
    return seenBy(1, board)
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

/** The opening of a game: whichever number draws it, an opening belongs to one split. */
export function openingOf({ split, index }: Task): Board {
  const rng = createRng(split === 'train' ? index : 0x4000_0000 + index)
  const first = index % 2 === 0 ? 1 : -1
  for (;;) {
    const board = emptyBoard()
    if (drawOpening(board, rng.pick(OPENING_STONES), first, rng) && splitOf(board, first) === split) return board
  }
}

/** By a hash of the opening as its first player sees it. */
function splitOf({ squares }: Board, first: 1 | -1): 'train' | 'eval' {
  let hash = 0x811c9dc5
  for (let square = 0; square < SQUARES; square += 1) hash = Math.imul(hash ^ (squares[square] * first + 1), 0x01000193)
  hash ^= hash >>> 15
  return (hash >>> 0) % SPLITS === 0 ? 'train' : 'eval'
}
