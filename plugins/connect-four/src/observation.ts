/** What a player sees of a board. The same for the agent and for an earlier agent that plays against it. */
import { box, dict } from '@agentgym/scenario'
import { type Board, COLUMNS, drop, landing, lift, openWorth, type Player, ROWS, SQUARES, winsAt } from './board.ts'

/** Numbers for each column, see `factsOf`. */
const FACTS = 11

export const observation = dict({
  /** Channels: own stones, the opponent's. */
  board: box({ shape: [2, ROWS, COLUMNS], low: 0, high: 1 }),
  columns: box({ shape: [COLUMNS * FACTS], low: 0, high: 1 }),
  /** Whether the player had the first stone of the game; the share of the squares that hold a stone. */
  game: box({ shape: [2], low: 0, high: 1 }),
})

export function seenBy(player: Player, board: Board) {
  const stones: number[] = new Array(2 * SQUARES).fill(0)
  for (let square = 0; square < SQUARES; square += 1) {
    if (board.squares[square] !== 0) stones[board.squares[square] === player ? square : SQUARES + square] = 1
  }
  const columns: number[] = []
  for (let column = 0; column < COLUMNS; column += 1) addFacts(columns, board, column, player)
  return { board: stones, columns, game: [1 - (board.stones % 2), board.stones / SQUARES] }
}

/**
 * Of a column: whether it is free; whether a stone there wins, and whether the other's would; the same on the square above it;
 * whether a stone there makes one winning column, and whether more than can be blocked, then the latter for the other's; what
 * open lines through the square are worth to either; whether the other can answer with a win or with two threats.
 */
function addFacts(facts: number[], board: Board, column: number, player: Player): void {
  const other = -player as Player
  const square = landing(board, column)
  if (square < 0) {
    for (let i = 0; i < FACTS; i += 1) facts.push(0)
    return
  }
  const above = square - COLUMNS
  facts.push(1)
  for (const at of [square, above]) {
    for (const side of [player, other]) facts.push(at >= 0 && winsAt(board, at, side) ? 1 : 0)
  }
  const threats = threatsAfter(board, column, player)
  facts.push(threats > 0 ? 1 : 0, threats > 1 ? 1 : 0, threatsAfter(board, column, other) > 1 ? 1 : 0)
  facts.push(openWorth(board, square, player), openWorth(board, square, other))
  facts.push(losesAfter(board, column, player) ? 1 : 0)
}

/** Columns that would win next for a player who has dropped a stone here; 2 for more. */
function threatsAfter(board: Board, column: number, player: Player): number {
  drop(board, column, player)
  const threats = threatsOf(board, player)
  lift(board, column)
  return threats
}

function threatsOf(board: Board, player: Player): number {
  let threats = 0
  for (let column = 0; column < COLUMNS && threats < 2; column += 1) {
    const square = landing(board, column)
    if (square >= 0 && winsAt(board, square, player)) threats += 1
  }
  return threats
}

/** Whether the other can win at once, or make two threats, after the player's stone here. */
function losesAfter(board: Board, column: number, player: Player): boolean {
  const other = -player as Player
  drop(board, column, player)
  let loses = threatsOf(board, other) > 0
  for (let answer = 0; answer < COLUMNS && !loses; answer += 1) {
    loses = landing(board, answer) >= 0 && threatsAfter(board, answer, other) > 1
  }
  lift(board, column)
  return loses
}
