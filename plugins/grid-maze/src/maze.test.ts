import { createRng } from '@agentgym/scenario'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { distancesFrom, generateMaze, generateMazeOf, MOVES, SIZE, splitOf } from './maze.ts'

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

test('whichever seed makes it, a maze belongs to one split, and one in four to training', () => {
  const seeds = Array.from({ length: 2000 }, (_, seed) => seed)
  const training = seeds.filter((seed) => splitOf(generateMaze(createRng(seed))) === 'train').length
  expect(training / seeds.length).toBeCloseTo(0.25, 1)
  for (const split of ['train', 'eval'] as const) {
    for (const seed of seeds.slice(0, 200)) expect(splitOf(generateMazeOf(split, createRng(seed)))).toBe(split)
  }
})

test('both splits are equally hard', () => {
  const mean = (split: 'train' | 'eval') => {
    const mazes = Array.from({ length: 1500 }, (_, seed) => generateMazeOf(split, createRng(seed)))
    return mazes.reduce((sum, { shortest }) => sum + shortest, 0) / mazes.length
  }
  // Shortest paths have a deviation of about 6 steps: two means of 1,500 differ by 0.2 on average.
  expect(Math.abs(mean('train') - mean('eval'))).toBeLessThan(1)
})

test('the same seed gives the same maze', () => {
  expect(generateMaze(createRng(11))).toEqual(generateMaze(createRng(11)))
})
