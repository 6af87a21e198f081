import { readFileSync } from 'node:fs'
import { createRng, type Rng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import scenario, { STICKINESS, type State } from './index.ts'

type Game = {
  start: 'left' | 'right'
  /** One letter a step: s stay, l left, r right. */
  actions: string
  terminated: boolean
  rewards: string
  /** After every step: squares of paddle, ball and trail, and the number of bricks. */
  boards: [number, number, number, number][]
}
const { games } = JSON.parse(readFileSync(new URL('../testdata/games.json', import.meta.url), 'utf8')) as {
  games: Game[]
}
const SQUARES = 100

/** Random numbers that never repeat an action: the first decides the start, the rest are above the stickiness. */
function neverSticky(start: Game['start']): Rng {
  const rng = () => 0.99
  return Object.assign(rng, createRng(0), { int: () => (start === 'left' ? 0 : 1) })
}

function boardOf(state: State): Game['boards'][number] {
  const board = scenario.observe(state) as Float32Array
  const squares = [0, 1, 2, 3].map((channel) =>
    Array.from(board.subarray(channel * SQUARES, (channel + 1) * SQUARES)).flatMap((lit, square) =>
      lit === 1 ? [square] : [],
    ),
  )
  return [squares[0][0], squares[1][0], squares[2][0], squares[3].length]
}

test('games go as in MinAtar, step by step', async () => {
  for (const [index, game] of games.entries()) {
    const context = { rng: neverSticky(game.start), task: { split: 'train', index: 0 } } as const
    const state = await scenario.reset(context)
    for (const [step, letter] of [...game.actions].entries()) {
      const where = `game ${index}, step ${step}`
      const { reward, terminated } = await scenario.step(state, 'slr'.indexOf(letter), context)
      expect(reward, where).toBe(Number(game.rewards[step]))
      expect(boardOf(state), where).toEqual(game.boards[step])
      expect(terminated, where).toBe(game.terminated && step === game.actions.length - 1)
    }
  }
  expect(games.some(({ rewards }) => rewards.split('1').length > 31)).toBe(true)
})

async function meanReturn(policy: (state: State, rng: Rng) => number, episodes: number) {
  let sum = 0
  for (let seed = 0; seed < episodes; seed += 1) {
    const rng = createRng(seed)
    const context = { rng: createRng(1000 + seed), task: { split: 'train', index: 0 } } as const
    const state = await scenario.reset(context)
    for (let step = 0; step < scenario.maxSteps; step += 1) {
      const { reward, terminated } = await scenario.step(state, policy(state, rng), context)
      sum += reward
      if (terminated) break
    }
  }
  return sum / episodes
}

test('a player that looks ahead breaks many times the bricks of a random one', async () => {
  const context = { rng: createRng(0), task: { split: 'train', index: 0 } } as const
  const lookAhead = (state: State) => scenario.oracle?.(state, context) ?? 0
  expect(await meanReturn(lookAhead, 10)).toBeGreaterThan(30)
  expect(await meanReturn((_, rng) => rng.int(3), 200)).toBeLessThan(1)
})

test('one action in ten repeats the one before', async () => {
  const context = { rng: createRng(5), task: { split: 'train', index: 0 } } as const
  let repeated = 0
  const trials = 20_000
  for (let trial = 0; trial < trials; trial += 1) {
    const state = await scenario.reset(context)
    await scenario.step(state, 1, context)
    if (state.paddle === 4) repeated += 1
  }
  expect(repeated / trials).toBeCloseTo(STICKINESS, 1)
  expect(Math.abs(repeated / trials - STICKINESS)).toBeLessThan(0.01)
})
