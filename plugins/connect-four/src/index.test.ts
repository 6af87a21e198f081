import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { type Board, COLUMNS, drop, emptyBoard, landing, legalColumns, longestLine, SQUARES, winsAt } from './board.ts'
import scenario, { openingOf } from './index.ts'
import { chooseColumn, levels, searchColumn, winningColumn } from './players.ts'

const context = (index: number) => ({ rng: createRng(index), task: { split: 'train', index } }) as const

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

test('a level is stronger than the one before it', () => {
  const rng = createRng(5)
  for (const [i, level] of levels.slice(1).entries()) {
    let won = 0
    for (let game = 0; game < 30; game += 1) {
      const board = emptyBoard()
      let [player, over]: [1 | -1, boolean] = [game % 2 === 0 ? 1 : -1, false]
      while (!over && board.stones < SQUARES) {
        const column = chooseColumn(player === 1 ? level : levels[i], board, player, rng)
        over = winsAt(board, landing(board, column), player)
        if (over) won += player
        drop(board, column, player)
        player = player === 1 ? -1 : 1
      }
    }
    expect(won, level).toBeGreaterThan(5)
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
  expect(longestLine(board, landing(board, 3), 1)).toBe(3)
  expect(winningColumn(board, 1)).toBe(3)
  expect(searchColumn(board, 1, 1)).toBe(3)
  // The opponent to move has to block; above the block it wins itself.
  expect(searchColumn(board, -1, 2)).toBe(3)
  expect(chooseColumn('one-ply', board, -1, createRng(1))).toBe(3)
})

test('a search sees a fork that wins in three stones', () => {
  // Two in the middle of an empty row: a third with both ends free cannot be blocked.
  const board = boardAfter([2, 2, 3, 3])
  expect([1, 4]).toContain(searchColumn(board, 1, 3))
})

test('the agent begins every other game, and each level is played as often', () => {
  const played = new Map<string, number>()
  for (let index = 0; index < 600; index += 1) {
    const { level, board } = openingOf({ split: 'train', index })
    played.set(level, (played.get(level) ?? 0) + 1)
    expect([4, 6]).toContain(board.stones)
    const own = board.squares.filter((stone) => stone === 1).length
    expect(own * 2).toBe(board.stones)
  }
  expect([...played.values()]).toEqual([200, 200, 200])
})

test('no opening is in both splits', () => {
  const seen = (split: 'train' | 'eval') =>
    Array.from({ length: 3000 }, (_, index) => {
      const { squares } = openingOf({ split, index }).board
      // As its first player sees it.
      return Array.from(squares, (stone) => (index % 2 === 0 ? stone : -stone)).join(' ')
    })
  const trained = new Set(seen('train'))
  expect(seen('eval').filter((opening) => trained.has(opening))).toEqual([])
  expect(scenario.tasks).toEqual({ train: 100_000, eval: 1_000_000_000 })
})
