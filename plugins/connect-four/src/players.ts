/** Players of rising strength: by chance, one move ahead, an earlier agent, and a search of fixed depth. */
import { frozenPolicy, type Rng } from '@agentgym/scenario'
import { type Board, COLUMNS, drop, landing, legalColumns, lift, type Player, ROWS, SQUARES, winsAt } from './board.ts'
import earlierWeights from './earlier-agent.json' with { type: 'json' }
import { seenBy } from './observation.ts'

/** From the middle outwards: the better columns first make the search cut off more. */
const ORDER = [3, 2, 4, 1, 5, 0, 6]
const WIN = 10_000

/** From weakest to strongest: the levels of the scenario. */
export const opponents = [
  { name: 'random', description: 'Plays any free column' },
  { name: 'one-ply', description: "Completes four in a line, else blocks the agent's, else plays any free column" },
  {
    name: 'earlier agent',
    description: 'Trained for 600,000 steps on the other levels; always the same answer to a board',
  },
  { name: 'search', description: 'Alpha-beta, three stones deep; always the same answer to a board' },
] as const
export type Opponent = (typeof opponents)[number]
const OPPONENT_DEPTH = 3

/** Written by `agentgym agent export`; its network sees what the agent sees, from the other side. */
const earlierAgent = frozenPolicy(earlierWeights)

export function chooseColumn({ name }: Opponent, board: Board, player: Player, rng: Rng): number {
  if (name === 'search') return searchColumn(board, player, OPPONENT_DEPTH)
  if (name === 'earlier agent') {
    const free = board.heights.map((height) => height < ROWS)
    return earlierAgent.choose(seenBy(player, board), free)
  }
  if (name === 'one-ply') {
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
    board.stones === SQUARES ? 0 : depth === 1 ? board.balance * player : -replyTo(board, player, depth, alpha, beta)
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

/** Random stones, as many of each player; `first` begins. Neither has won or can win at once. */
export function drawOpening(board: Board, stones: number, first: Player, rng: Rng): boolean {
  for (let i = 0; i < stones; i += 1) drop(board, rng.int(COLUMNS), i % 2 === 0 ? first : (-first as Player))
  return winningColumn(board, 1) === null && winningColumn(board, -1) === null
}
