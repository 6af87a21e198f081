import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import {
  type Board,
  COLUMNS,
  drop,
  emptyBoard,
  landing,
  legalColumns,
  lift,
  openWorth,
  SQUARES,
  winsAt,
} from './board.ts'
import scenario, { openingOf } from './index.ts'
import { seenBy } from './observation.ts'
import { chooseColumn, opponents, searchColumn, winningColumn } from './players.ts'

const context = (index: number) =>
  ({ rng: createRng(index), task: { split: 'train', index }, level: index % opponents.length }) as const

/** A board after these columns, 0 to 6, the agent first. */
function boardAfter(columns: readonly number[]): Board {
  const board = emptyBoard()
  for (const [i, column] of columns.entries()) drop(board, column, i % 2 === 0 ? 1 : -1)
  return board
}

/** Four in a line anywhere, by looking at the squares alone. */
function hasFour({ squares }: Board, player: number): boolean {
  const at = (x: number, y: number) => (x < 0 || x > 6 || y < 0 || y > 5 ? 0 : squares[y * COLUMNS + x])
  const directions = [
    [1, 0],
    [0, 1],
    [1, 1],
    [-1, 1],
  ]
  return directions.some(([dx, dy]) =>
    Array.from({ length: SQUARES }, (_, square) => square).some((square) =>
      [0, 1, 2, 3].every((i) => at((square % COLUMNS) + i * dx, Math.floor(square / COLUMNS) + i * dy) === player),
    ),
  )
}

test('a search deeper than the opponents wins most games; chance and the first column few', () => {
  expect(meansOf(scenario, 'oracle', 32).won).toBeGreaterThan(0.75)
  for (const player of ['random', 'first'] as const) expect(meansOf(scenario, player, 320).won).toBeLessThan(0.35)
})

test('an opponent is stronger than the one before it', () => {
  const rng = createRng(5)
  for (const [i, opponent] of opponents.slice(1).entries()) {
    let won = 0
    for (let game = 0; game < 30; game += 1) {
      const board = openingOf({ split: 'eval', index: game })
      let [player, over]: [1 | -1, boolean] = [game % 2 === 0 ? 1 : -1, false]
      while (!over && board.stones < SQUARES) {
        const column = chooseColumn(player === 1 ? opponent : opponents[i], board, player, rng)
        over = winsAt(board, landing(board, column), player)
        if (over) won += player
        drop(board, column, player)
        player = player === 1 ? -1 : 1
      }
    }
    expect(won, opponent.name).toBeGreaterThan(5)
  }
})

test('a game ends with the first four in a line, which the metrics report', async () => {
  for (let index = 0; index < 200; index += 1) {
    const episode = context(index)
    const state = await scenario.reset(episode)
    for (;;) {
      expect(hasFour(state.board, 1) || hasFour(state.board, -1)).toBe(false)
      const column = episode.rng.pick(legalColumns(state.board))
      const { reward, terminated } = await scenario.step(state, column, episode)
      if (!terminated) continue
      const won = hasFour(state.board, 1)
      const lost = hasFour(state.board, -1)
      expect(reward).toBe(Number(won) - Number(lost))
      expect(won || lost || state.board.stones === SQUARES).toBe(true)
      expect(scenario.metrics?.(state)).toEqual({ won: Number(won), lost: Number(lost), stones: state.board.stones })
      break
    }
  }
})

test('lines, threats and blocks are found', () => {
  // Three of the agent's on the bottom row, and three of the opponent's above them.
  const board = boardAfter([0, 0, 1, 1, 2, 2])
  expect(winsAt(board, landing(board, 3), 1)).toBe(true)
  expect(winsAt(board, landing(board, 3), -1)).toBe(false)
  expect(winningColumn(board, 1)).toBe(3)
  expect(searchColumn(board, 1, 1)).toBe(3)
  // The opponent to move has to block; above the block it wins itself.
  expect(searchColumn(board, -1, 2)).toBe(3)
  expect(chooseColumn(opponents[1], board, -1, createRng(1))).toBe(3)
})

test('a search sees a fork that wins in three stones', () => {
  // Two in the middle of an empty row: a third with both ends free cannot be blocked.
  const board = boardAfter([2, 2, 3, 3])
  expect([1, 4]).toContain(searchColumn(board, 1, 3))
})

test('the agent begins every other game, and plays every level', async () => {
  for (let index = 0; index < 300; index += 1) {
    const board = openingOf({ split: 'train', index })
    expect([4, 6]).toContain(board.stones)
    const own = board.squares.filter((stone) => stone === 1).length
    expect(own * 2).toBe(board.stones)
    const { board: started, opponent } = await scenario.reset(context(index))
    expect(opponent).toBe(opponents[index % opponents.length])
    // The opponent has had the first stone of odd games.
    expect(started.stones).toBe(board.stones + (index % 2))
  }
  expect(scenario.levels).toBe(opponents)
})

test('lines are counted as stones fall and are taken back', () => {
  const board = boardAfter([3, 3, 2, 4, 2, 1, 5])
  const before = structuredClone(board)
  for (const column of [0, 3, 6, 6]) drop(board, column, column === 3 ? -1 : 1)
  for (const column of [6, 6, 3, 0]) lift(board, column)
  expect(board).toEqual(before)
  // From the other side, everything is the other way round.
  const mirrored = emptyBoard()
  for (const [i, column] of [3, 3, 2, 4, 2, 1, 5].entries()) drop(mirrored, column, i % 2 === 0 ? -1 : 1)
  expect(mirrored.balance).toBe(-board.balance)
  expect(mirrored.own).toEqual(board.other)
  // An empty board's middle squares are in the most lines.
  const worth = Array.from({ length: COLUMNS }, (_, column) => openWorth(emptyBoard(), landing(board, column), 1))
  expect(worth[3]).toBeGreaterThan(worth[0])
})

test('a player sees of each column what a stone there does', () => {
  // Three of the agent's on the bottom row, three of the opponent's above them; the agent is to move.
  const board = boardAfter([0, 0, 1, 1, 2, 2])
  const { board: stones, columns, game } = seenBy(1, board)
  expect(stones.slice(35, 38)).toEqual([1, 1, 1])
  expect(stones.slice(SQUARES + 28, SQUARES + 31)).toEqual([1, 1, 1])
  expect(game).toEqual([1, 6 / 42])
  const [free, wins, othersWin, winsAbove, othersWinAbove] = columns.slice(3 * 11)
  expect([free, wins, othersWin, winsAbove, othersWinAbove]).toEqual([1, 1, 0, 0, 1])
  // A stone elsewhere lets the opponent block, and no more.
  expect(columns[5 * 11 + 10]).toBe(0)
  // After the agent's stone in the middle, the opponent wins above it.
  expect(columns[3 * 11 + 10]).toBe(1)
  const turned = seenBy(-1, board)
  expect(turned.board.slice(28, 31)).toEqual([1, 1, 1])
  expect(turned.columns.slice(3 * 11, 3 * 11 + 5)).toEqual([1, 0, 1, 1, 0])
})

test('a fork is seen before it is made', () => {
  // Two of the agent's in the middle of the bottom row, both ends free.
  const board = boardAfter([2, 2, 3, 3])
  const { columns } = seenBy(1, board)
  const forks = Array.from({ length: COLUMNS }, (_, column) => columns[column * 11 + 6])
  expect(forks).toEqual([0, 1, 0, 0, 1, 0, 0])
  // The opponent loses unless it takes one of the ends.
  const { columns: theirs } = seenBy(-1, board)
  expect([1, 4, 6].map((column) => theirs[column * 11 + 10])).toEqual([0, 0, 1])
})

test('no opening is in both splits', () => {
  const seen = (split: 'train' | 'eval') =>
    Array.from({ length: 3000 }, (_, index) => {
      const { squares } = openingOf({ split, index })
      // As its first player sees it.
      return Array.from(squares, (stone) => (index % 2 === 0 ? stone : -stone)).join(' ')
    })
  const trained = new Set(seen('train'))
  expect(seen('eval').filter((opening) => trained.has(opening))).toEqual([])
  expect(scenario.tasks).toEqual({ train: 100_000, eval: 1_000_000_000 })
})
