import { createRng } from '@agentgym/scenario'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { distancesFrom, generateMaze, MOVES, SIZE } from './maze.ts'

test('every room can be reached, and nobody can leave', () => {
  fc.assert(
    fc.property(fc.nat(0xffffffff), (seed) => {
      const { open, start, goal, shortest } = generateMaze(createRng(seed))
      const distance = distancesFrom(open, start)
      for (let y = 0; y < SIZE; y += 1) {
        for (let x = 0; x < SIZE; x += 1) {
          const square = y * SIZE + x
          if (x % 2 === 1 && y % 2 === 1) expect(distance[square]).toBeGreaterThanOrEqual(0)
          if (x === 0 || y === 0 || x === SIZE - 1 || y === SIZE - 1) expect(open[square]).toBe(0)
        }
      }
      expect(goal).not.toBe(start)
      expect(distance[goal]).toBe(shortest)
      expect(shortest).toBeLessThan(60)
    }),
    { numRuns: 200 },
  )
})

test('distances grow by one from square to square', () => {
  const { open, start } = generateMaze(createRng(5))
  const distance = distancesFrom(open, start)
  for (let square = 0; square < open.length; square += 1) {
    if (distance[square] <= 0) continue
    const nearest = Math.min(...MOVES.map((move) => distance[square + move]).filter((d) => d >= 0))
    expect(nearest).toBe(distance[square] - 1)
  }
})

test('the same seed gives the same maze', () => {
  expect(generateMaze(createRng(11))).toEqual(generateMaze(createRng(11)))
})
