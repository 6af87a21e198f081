import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import scenario, { neighbor, type State } from './index.ts'

const SQUARES = 100
const context = (seed: number) => ({ rng: createRng(seed), task: { split: 'train', index: 0 } }) as const

type Policy = (state: State, legal: number[]) => number

async function play(policy: Policy, seed: number): Promise<{ state: State; return: number; steps: number }> {
  const episode = context(seed)
  const state = await scenario.reset(episode)
  let sum = 0
  for (let step = 1; step <= scenario.maxSteps; step += 1) {
    const legal = scenario.actionMask?.(state).flatMap((ok, action) => (ok ? [action] : [])) ?? []
    const { reward, terminated } = await scenario.step(state, policy(state, legal), episode)
    sum += reward
    if (terminated) return { state, return: sum, steps: step }
  }
  return { state, return: sum, steps: scenario.maxSteps }
}

async function meanEaten(policy: (seed: number) => Policy, episodes: number): Promise<number> {
  let eaten = 0
  for (let seed = 0; seed < episodes; seed += 1) eaten += (await play(policy(seed), seed)).state.eaten
  return eaten / episodes
}

const careful: Policy = (state) => scenario.oracle?.(state, context(0)) ?? 0

test('a careful player eats more than twenty, a random one hardly anything', async () => {
  expect(await meanEaten(() => careful, 40)).toBeGreaterThan(20)
  const random = (seed: number): Policy => {
    const rng = createRng(1000 + seed)
    return (_, legal) => rng.pick(legal)
  }
  expect(await meanEaten(random, 100)).toBeLessThan(1)
})

test('the return is the meals, less one for a death', async () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const { state, return: sum } = await play(careful, seed)
    expect(sum).toBe(state.eaten - (state.died ? 1 : 0))
    expect(state.body.length).toBe(3 + state.eaten)
  }
})

test('the board always shows the snake as it lies, with the food beside it', async () => {
  const episode = context(3)
  const state = await scenario.reset(episode)
  for (let step = 0; step < 200; step += 1) {
    const board = scenario.observe(state) as Float32Array
    const channel = (c: number) => Array.from(board.subarray(c * SQUARES, (c + 1) * SQUARES))
    const [head, body, food] = [0, 1, 2].map(channel)
    expect(head.flatMap((value, square) => (value > 0 ? [square] : []))).toEqual([state.body[0]])
    const lit = body.flatMap((value, square) => (value > 0 ? [square] : []))
    // Brightest behind the head: sorted by brightness, the squares are the snake in order.
    expect(lit.sort((a, b) => body[b] - body[a])).toEqual(state.body.slice(1))
    expect(food.flatMap((value, square) => (value > 0 ? [square] : []))).toEqual([state.food])
    expect(state.occupied[state.food]).toBe(0)
    const legal = scenario.actionMask?.(state).flatMap((ok, action) => (ok ? [action] : [])) ?? []
    expect(legal).toHaveLength(3)
    if ((await scenario.step(state, careful(state, legal), episode)).terminated) break
  }
})

test('the head may follow the tail, but not run into the body or the wall', async () => {
  const at = (body: number[]): State => {
    const occupied = new Uint8Array(SQUARES)
    for (const square of body) occupied[square] = 1
    return { body, occupied, food: 99, eaten: 0, died: false }
  }
  // A square of four: up from 11 leads to the tail at 1.
  expect(await scenario.step(at([11, 10, 0, 1]), 0, context(1))).toEqual({ reward: 0, terminated: false })
  expect(await scenario.step(at([11, 10, 0, 1, 2]), 0, context(1))).toEqual({ reward: -1, terminated: true })
  expect(await scenario.step(at([9, 8, 7]), 1, context(1))).toEqual({ reward: -1, terminated: true })
})

test('a full board ends the episode', async () => {
  // Row by row, back and forth, but for the last square.
  const path = Array.from({ length: SQUARES }, (_, i) => {
    const row = Math.floor(i / 10)
    return row * 10 + (row % 2 === 0 ? i % 10 : 9 - (i % 10))
  })
  const body = path.slice(0, -1).reverse()
  const occupied = new Uint8Array(SQUARES).fill(1)
  const food = path[SQUARES - 1]
  occupied[food] = 0
  const state: State = { body, occupied, food, eaten: 96, died: false }
  const action = [0, 1, 2, 3].find((move) => neighbor(body[0], move) === food) ?? -1
  expect(await scenario.step(state, action, context(1))).toEqual({ reward: 1, terminated: true })
  expect(scenario.metrics?.(state)).toEqual({ eaten: 97, died: 0 })
})
