import type { SampleEpisode } from '@agentgym/contract'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sampleEpisode } from '../../../testdata/episodes/sample-episode.ts'
import type { ViewOf } from './episode.ts'
import { exploredMap } from './grid-frame.ts'

const MOVES = [
  [0, -1],
  [1, 0],
  [0, 1],
  [-1, 0],
]
const view: ViewOf<'grid'> = { kind: 'grid', at: 1, shape: [2, 3, 3], channels: ['wall', 'goal'], moves: MOVES }

/** Walls by a function of the square; the agent starts at 0, 0 and walks as far as walls let it. */
function walk(isWall: (x: number, y: number) => boolean, actions: number[], stuck: boolean): SampleEpisode {
  let [x, y] = [0, 0]
  const look = () => {
    const squares = [-1, 0, 1].flatMap((dy) => [-1, 0, 1].map((dx) => [x + dx, y + dy]))
    const walls = squares.map(([sx, sy]) => Number(isWall(sx, sy)))
    return { observation: [9, ...walls, ...squares.map(([sx, sy]) => Number(sx === 2 && sy === 1))], texts: [] }
  }
  const steps: SampleEpisode['steps'] = []
  for (const action of actions) {
    const [dx, dy] = MOVES[action]
    const blocked = isWall(x + dx, y + dy)
    if (blocked && !stuck) continue
    steps.push({ ...look(), action: [action], reward: 0 })
    if (!blocked) [x, y] = [x + dx, y + dy]
  }
  return sampleEpisode({ view, steps, last: look() })
}

it('joins windows into the explored map', () => {
  const directions = fc.array(fc.nat(3), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(fc.nat(), directions, (seed, actions) => {
      const isWall = (x: number, y: number) =>
        (x !== 0 || y !== 0) && Math.imul(x * 31 + y * 17 + seed, 0x9e3779b1) >>> 30 === 0
      const episode = walk(isWall, actions, false)
      if (episode.steps.length === 0) return
      const { cells, way, bounds } = exploredMap(episode, view, episode.steps.length)
      for (const { column, row, wall, goal } of cells) {
        expect(wall).toBe(isWall(column, row))
        expect(goal).toBe(column === 2 && row === 1)
        expect(column).toBeGreaterThanOrEqual(bounds.left)
        expect(column).toBeLessThanOrEqual(bounds.right)
        expect(row).toBeGreaterThanOrEqual(bounds.top)
        expect(row).toBeLessThanOrEqual(bounds.bottom)
      }
      expect(way).toHaveLength(episode.steps.length + 1)
      for (const { column, row } of way) expect(isWall(column, row)).toBe(false)
      // What is known grows, and stays where it is.
      const before = exploredMap(episode, view, episode.steps.length - 1)
      expect(before.bounds).toEqual(bounds)
      expect(before.cells.length).toBeLessThanOrEqual(cells.length)
    }),
  )
})

it('a move stopped by a wall does not change the position', () => {
  // A room of three by one, with a wall around it.
  const isWall = (x: number, y: number) => y !== 0 || x < 0 || x > 2
  const { way } = exploredMap(walk(isWall, [0, 1, 2, 1, 1, 3], true), view, 6)
  expect(way.map(({ column }) => column)).toEqual([0, 0, 1, 1, 2, 2, 1])
  expect(new Set(way.map(({ row }) => row))).toEqual(new Set([0]))
})

it('draws a grid that shows its agent directly', () => {
  const whole: ViewOf<'grid'> = { kind: 'grid', at: 0, shape: [2, 2, 3], channels: ['wall', 'agent'] }
  const observation = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
  const episode = sampleEpisode({ steps: [{ observation, texts: [], action: [0], reward: 0 }] })
  const { cells, way, bounds } = exploredMap(episode, whole, 0)
  expect(cells.filter(({ wall }) => wall).map(({ row }) => row)).toEqual([-1, -1, -1])
  expect(way).toMatchObject([{ column: 1, row: 0 }])
  expect(bounds).toEqual({ left: -1, right: 1, top: -1, bottom: 0 })
})
