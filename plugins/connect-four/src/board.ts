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
}

/** Columns and rows to the next square of a line; the other half of each line is the opposite direction. */
const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, -1],
] as const

/** The four squares of every line of four. */
export const LINES: readonly (readonly number[])[] = DIRECTIONS.flatMap(([dx, dy]) => {
  const lines: number[][] = []
  for (let square = 0; square < SQUARES; square += 1) {
    const column = (square % COLUMNS) + (NEEDED - 1) * dx
    const row = Math.floor(square / COLUMNS) + (NEEDED - 1) * dy
    if (column >= COLUMNS || row < 0 || row >= ROWS) continue
    lines.push(Array.from({ length: NEEDED }, (_, i) => square + i * (dx + dy * COLUMNS)))
  }
  return lines
})

/** For each square the other three squares of every line through it. */
const THROUGH: readonly (readonly (readonly number[])[])[] = Array.from({ length: SQUARES }, (_, square) =>
  LINES.filter((line) => line.includes(square)).map((line) => line.filter((other) => other !== square)),
)

export function emptyBoard(): Board {
  return { squares: new Int8Array(SQUARES), heights: new Array(COLUMNS).fill(0), stones: 0 }
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
  return square
}

/** Takes the top stone of a column back. */
export function lift(board: Board, column: number): void {
  board.heights[column] -= 1
  board.stones -= 1
  board.squares[landing(board, column)] = 0
}

/** Most stones of a player in one line of four through a square that holds none of the other's; the square itself is not counted. */
export function longestLine({ squares }: Board, square: number, player: Player): number {
  const lines = THROUGH[square]
  let longest = 0
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i]
    const [first, second, third] = [squares[line[0]], squares[line[1]], squares[line[2]]]
    const blocked = first === -player || second === -player || third === -player
    const stones = (first + second + third) * player
    if (!blocked && stones > longest) longest = stones
  }
  return longest
}

/** Whether a stone of the player on this square is part of four in a line. */
export function winsAt({ squares }: Board, square: number, player: Player): boolean {
  const lines = THROUGH[square]
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i]
    if (squares[line[0]] === player && squares[line[1]] === player && squares[line[2]] === player) return true
  }
  return false
}
