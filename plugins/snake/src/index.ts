/**
 * Snake on a board of 10 × 10 squares: eat, grow, and never run into the wall or into yourself.
 *
 * The agent sees the whole board. The body's brightness falls from head to tail, so the observation says which squares
 * become free, and when.
 */
import { box, defineScenario, discrete, type Rng } from '@agentgym/scenario'

export const SIZE = 10
const SQUARES = SIZE * SIZE
const CHANNELS = 3
const START_LENGTH = 3
const MEAL_REWARD = 1
const DEATH_REWARD = -1
/** Columns and rows of one step, in the order of the actions: up, right, down, left. */
const MOVES = [
  [0, -1],
  [1, 0],
  [0, 1],
  [-1, 0],
] as const

export type State = {
  /** Squares of the snake, numbered row by row, head first. */
  body: number[]
  /** 1 where the snake is. */
  occupied: Uint8Array
  food: number
  eaten: number
  died: boolean
}

export default defineScenario({
  /** Channels: head, body (1 behind the head, falling towards the tail), food. */
  observation: box({ shape: [CHANNELS, SIZE, SIZE], low: 0, high: 1 }),
  action: discrete({ n: 4, labels: ['up', 'right', 'down', 'left'] }),
  maxSteps: 600,

  reset({ rng }): State {
    // Lying straight, anywhere that leaves a free square before the head.
    const move = rng.int(4)
    const [dx, dy] = MOVES[move]
    const column = START_LENGTH + rng.int(SIZE - 2 * START_LENGTH)
    const row = START_LENGTH + rng.int(SIZE - 2 * START_LENGTH)
    const body = Array.from({ length: START_LENGTH }, (_, i) => (row - i * dy) * SIZE + column - i * dx)
    const occupied = new Uint8Array(SQUARES)
    for (const square of body) occupied[square] = 1
    return { body, occupied, food: freeSquare(occupied, START_LENGTH, rng), eaten: 0, died: false }
  },

  step(state, action, { rng }) {
    const { body, occupied } = state
    const next = neighbor(body[0], action)
    const eats = next === state.food
    const tail = body[body.length - 1]
    // The tail moves on before the head arrives, unless the snake grows.
    if (!eats) occupied[tail] = 0
    if (next === -1 || occupied[next] === 1) {
      state.died = true
      occupied[tail] = 1
      return { reward: DEATH_REWARD, terminated: true }
    }
    body.unshift(next)
    occupied[next] = 1
    if (!eats) {
      body.pop()
      return { reward: 0, terminated: false }
    }
    state.eaten += 1
    if (body.length === SQUARES) return { reward: MEAL_REWARD, terminated: true }
    state.food = freeSquare(occupied, body.length, rng)
    return { reward: MEAL_REWARD, terminated: false }
  },

  observe({ body, food }) {
    const board = new Float32Array(CHANNELS * SQUARES)
    board[body[0]] = 1
    for (let i = 1; i < body.length; i += 1) board[SQUARES + body[i]] = 1 - (i - 1) / body.length
    if (body.length < SQUARES) board[2 * SQUARES + food] = 1
    return board
  },

  /** A snake cannot turn back into its neck. */
  actionMask({ body }) {
    return MOVES.map((_, action) => neighbor(body[0], action) !== body[1])
  },

  metrics({ eaten, died }) {
    return { eaten, died: died ? 1 : 0 }
  },

  /** Goes towards the food where that leaves as much room as the snake is long. */
  oracle(state) {
    const { body, food } = state
    const distance = (square: number) =>
      Math.abs((square % SIZE) - (food % SIZE)) + Math.abs(Math.floor(square / SIZE) - Math.floor(food / SIZE))
    const score = (action: number) => {
      const next = neighbor(body[0], action)
      if (next === body[1]) return Number.NEGATIVE_INFINITY
      if (!isFree(state, next)) return -2 * SQUARES * SQUARES
      const room = reachable(state, next)
      return (room < body.length ? room - SQUARES * SQUARES : 0) - distance(next)
    }
    return MOVES.map((_, action) => action).reduce((best, action) => (score(action) > score(best) ? action : best))
  },
})

/** The square that an action leads to; -1 outside the board. */
export function neighbor(square: number, action: number): number {
  const column = (square % SIZE) + MOVES[action][0]
  const row = Math.floor(square / SIZE) + MOVES[action][1]
  return column < 0 || row < 0 || column >= SIZE || row >= SIZE ? -1 : row * SIZE + column
}

function isFree({ body, occupied }: State, square: number): boolean {
  return square !== -1 && (occupied[square] === 0 || square === body[body.length - 1])
}

/** Squares that can be reached from `start` without crossing the snake. */
function reachable(state: State, start: number): number {
  const seen = new Set([start])
  for (const square of seen) {
    for (let action = 0; action < MOVES.length; action += 1) {
      const next = neighbor(square, action)
      if (isFree(state, next)) seen.add(next)
    }
  }
  return seen.size
}

/** A free square, each with the same probability. */
function freeSquare(occupied: Uint8Array, length: number, rng: Rng): number {
  let left = rng.int(SQUARES - length)
  for (let square = 0; ; square += 1) {
    if (occupied[square] === 1) continue
    if (left === 0) return square
    left -= 1
  }
}
