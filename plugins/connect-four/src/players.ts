/** Players of rising strength: by chance, one move ahead, and a search of fixed depth. */
import type { Rng } from '@agentgym/scenario'
import { type Board, COLUMNS, drop, LINES, landing, legalColumns, lift, type Player, SQUARES, winsAt } from './board.ts'

/** From the middle outwards: the better columns first make the search cut off more. */
const ORDER = [3, 2, 4, 1, 5, 0, 6]
const WIN = 10_000
/** Worth of a line with so many stones of one player and none of the other. */
const WORTH = [0, 1, 4, 16, 0]

/** From weakest to strongest; a task plays against one of them. */
export const levels = ['random', 'one-ply', 'search'] as const
export type Level = (typeof levels)[number]
const OPPONENT_DEPTH = 3

export function chooseColumn(level: Level, board: Board, player: Player, rng: Rng): number {
  if (level === 'search') return searchColumn(board, player, OPPONENT_DEPTH)
  if (level === 'one-ply') {
    const forced = winningColumn(board, player) ?? winningColumn(board, -player as Player)
    if (forced !== null) return forced
  }
  return rng.pick(legalColumns(board))
}

/** A column that completes four in a line now. */
export function winningColumn(board: Board, player: Player): number | null {
  for (const column of ORDER) {
    const square = landing(board, column)
    if (square >= 0 && winsAt(board, square, player)) return column
  }
  return null
}

/** The best column by alpha-beta, so many stones deep; of equal ones that nearest to the middle. */
export function searchColumn(board: Board, player: Player, depth: number): number {
  let best = -1
  let bestValue = -Infinity
  for (const column of ORDER) {
    if (landing(board, column) < 0) continue
    const value = worthOf(board, column, player, depth, -Infinity, -bestValue)
    if (value > bestValue || best < 0) [best, bestValue] = [column, value]
  }
  return best
}

/** What dropping a stone there is worth to the player. A win is worth more the sooner it comes. */
function worthOf(board: Board, column: number, player: Player, depth: number, alpha: number, beta: number): number {
  const square = landing(board, column)
  if (winsAt(board, square, player)) return WIN + depth
  drop(board, column, player)
  const value =
    board.stones === SQUARES ? 0 : depth === 1 ? balance(board, player) : -replyTo(board, player, depth, alpha, beta)
  lift(board, column)
  return value
}

/** The best that the other player can reach, within bounds on what matters to them. */
function replyTo(board: Board, player: Player, depth: number, alpha: number, beta: number): number {
  const other = -player as Player
  let best = alpha
  for (const column of ORDER) {
    if (landing(board, column) < 0) continue
    const value = worthOf(board, column, other, depth - 1, -beta, -best)
    if (value > best) best = value
    if (best >= beta) break
  }
  return best
}

/** Open lines of the player less those of the other. */
function balance({ squares }: Board, player: Player): number {
  let sum = 0
  for (let i = 0; i < LINES.length; i += 1) {
    const line = LINES[i]
    let total = 0
    let stones = 0
    for (let j = 0; j < line.length; j += 1) {
      const stone = squares[line[j]]
      total += stone
      stones += stone * stone
    }
    if (total === stones) sum += WORTH[stones]
    else if (total === -stones) sum -= WORTH[stones]
  }
  return sum * player
}

/** Random stones, as many of each player; `first` begins. Neither has won or can win at once. */
export function drawOpening(board: Board, stones: number, first: Player, rng: Rng): boolean {
  for (let i = 0; i < stones; i += 1) drop(board, rng.int(COLUMNS), i % 2 === 0 ? first : (-first as Player))
  return winningColumn(board, 1) === null && winningColumn(board, -1) === null
}
