/** The board of Connect Four: stones fall to the lowest free square of a column, four in a line win. */
export const COLUMNS = 7
export const ROWS = 6
export const SQUARES = COLUMNS * ROWS
const NEEDED = 4

export type Player = 1 | -1

export type Board = {
  /** Row by row from the top: 1 the agent's stone, -1 the opponent's, 0 free. */
  squares: Int8Array
  /** Stones in each column. */
  heights: number[]
  stones: number
  /** Stones of the agent, and of the opponent, in each line of four. */
  own: Uint8Array
  other: Uint8Array
  /** Worth of the agent's open lines less that of the opponent's. */
  balance: number
}

/** Columns and rows to the next square of a line; the other half of each line is the opposite direction. */
const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, -1],
] as const

/** The four squares of every line of four. */
const LINES: readonly (readonly number[])[] = DIRECTIONS.flatMap(([dx, dy]) => {
  const lines: number[][] = []
  for (let square = 0; square < SQUARES; square += 1) {
    const column = (square % COLUMNS) + (NEEDED - 1) * dx
    const row = Math.floor(square / COLUMNS) + (NEEDED - 1) * dy
    if (column >= COLUMNS || row < 0 || row >= ROWS) continue
    lines.push(Array.from({ length: NEEDED }, (_, i) => square + i * (dx + dy * COLUMNS)))
  }
  return lines
})

/** For each square the numbers of the lines through it. */
const THROUGH: readonly Uint8Array[] = Array.from({ length: SQUARES }, (_, square) =>
  Uint8Array.from(LINES.flatMap((line, number) => (line.includes(square) ? [number] : []))),
)

/** Worth of a line with so many stones of one player and none of the other. */
const WORTH = [0, 1, 4, 16, 0]

export function emptyBoard(): Board {
  return {
    squares: new Int8Array(SQUARES),
    heights: new Array(COLUMNS).fill(0),
    stones: 0,
    own: new Uint8Array(LINES.length),
    other: new Uint8Array(LINES.length),
    balance: 0,
  }
}

/** Where the next stone of a column comes to rest; -1 if the column is full. */
export function landing({ heights }: Board, column: number): number {
  return heights[column] === ROWS ? -1 : (ROWS - 1 - heights[column]) * COLUMNS + column
}

export function legalColumns(board: Board): number[] {
  return board.heights.flatMap((height, column) => (height < ROWS ? [column] : []))
}

/** Drops a stone and returns its square. The column must not be full. */
export function drop(board: Board, column: number, player: Player): number {
  const square = landing(board, column)
  board.squares[square] = player
  board.heights[column] += 1
  board.stones += 1
  count(board, square, player, 1)
  return square
}

/** Takes the top stone of a column back. */
export function lift(board: Board, column: number): void {
  board.heights[column] -= 1
  board.stones -= 1
  const square = landing(board, column)
  count(board, square, board.squares[square] as Player, -1)
  board.squares[square] = 0
}

/** Notes one stone more, or less, in the lines through a square. */
function count(board: Board, square: number, player: Player, change: 1 | -1): void {
  const lines = THROUGH[square]
  const [mine, theirs] = player === 1 ? [board.own, board.other] : [board.other, board.own]
  let gained = 0
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i]
    const before = mine[line]
    mine[line] = before + change
    if (theirs[line] === 0) gained += WORTH[before + change] - WORTH[before]
    else if (before === 0) gained += WORTH[theirs[line]]
    else if (before + change === 0) gained -= WORTH[theirs[line]]
  }
  board.balance += player === 1 ? gained : -gained
}

/** Of a line by the player's stones in it. */
const OPEN_WORTH = [0.02, 0.06, 0.2, 0.6]

/** What the open lines through a free square are worth to a player: 0 to 1, more with more of its stones in them. */
export function openWorth({ own, other }: Board, square: number, player: Player): number {
  const lines = THROUGH[square]
  const [mine, theirs] = player === 1 ? [own, other] : [other, own]
  let worth = 0
  for (let i = 0; i < lines.length; i += 1) if (theirs[lines[i]] === 0) worth += OPEN_WORTH[mine[lines[i]]]
  return Math.min(1, worth)
}

/** Whether a stone of the player on this free square makes four in a line. */
export function winsAt({ own, other }: Board, square: number, player: Player): boolean {
  const lines = THROUGH[square]
  const mine = player === 1 ? own : other
  for (let i = 0; i < lines.length; i += 1) if (mine[lines[i]] === NEEDED - 1) return true
  return false
}
