/**
 * Breakout on a board of 10 × 10 squares, after MinAtar: a paddle, a ball that travels along diagonals, three rows of
 * bricks.
 *
 * Rules: Young and Tian (2019), "MinAtar: An Atari-inspired testbed for thorough and reproducible reinforcement learning
 * experiments", with its minimal action set and its sticky actions.
 */
import { box, defineScenario, discrete } from '@agentgym/scenario'

const SIZE = 10
const SQUARES = SIZE * SIZE
const CHANNELS = 4
const BRICK_ROWS = [1, 2, 3]
/** The previous action is repeated with this probability. */
export const STICKINESS = 0.1

type Direction = { dx: -1 | 1; dy: -1 | 1 }

export type State = {
  /** Column of the paddle, which is in the bottom row. */
  paddle: number
  ball: { x: number; y: number } & Direction
  /** Where the ball was one step ago. */
  trail: { x: number; y: number }
  /** 1 for a brick, row by row. */
  bricks: Uint8Array
  /** Whether the last step hit a brick; a ball that is still inside a brick breaks no second one. */
  struck: boolean
  lastAction: number
  broken: number
}

export default defineScenario({
  /** Channels: paddle, ball, trail of the ball, bricks. */
  observation: box({ shape: [CHANNELS, SIZE, SIZE], low: 0, high: 1 }),
  action: discrete({ n: 3, labels: ['stay', 'left', 'right'] }),
  maxSteps: 1000,

  reset({ rng }): State {
    const ball = rng.int(2) === 0 ? ({ x: 0, y: 3, dx: 1, dy: 1 } as const) : ({ x: 9, y: 3, dx: -1, dy: 1 } as const)
    const bricks = new Uint8Array(SQUARES)
    layBricks(bricks)
    return {
      paddle: 4,
      ball: { ...ball },
      trail: { x: ball.x, y: ball.y },
      bricks,
      struck: false,
      lastAction: 0,
      broken: 0,
    }
  },

  step(state, chosen, { rng }) {
    const action = rng() < STICKINESS ? state.lastAction : chosen
    state.lastAction = action
    if (action === 1) state.paddle = Math.max(0, state.paddle - 1)
    if (action === 2) state.paddle = Math.min(SIZE - 1, state.paddle + 1)
    return moveBall(state)
  },

  observe({ paddle, ball, trail, bricks }) {
    const board = new Float32Array(CHANNELS * SQUARES)
    board[(SIZE - 1) * SIZE + paddle] = 1
    board[SQUARES + ball.y * SIZE + ball.x] = 1
    board[2 * SQUARES + trail.y * SIZE + trail.x] = 1
    board.set(bricks, 3 * SQUARES)
    return board
  },

  metrics({ broken }) {
    return { bricks: broken }
  },

  /** Looks ahead to where the ball comes down, and waits there. */
  oracle(state) {
    const column = landingColumn(state)
    return column === state.paddle ? 0 : column < state.paddle ? 1 : 2
  },
})

/** One step of the ball along its diagonal: walls, then the ceiling, bricks or the paddle's row, as MinAtar orders them. */
function moveBall(state: State): { reward: number; terminated: boolean } {
  const { ball, bricks } = state
  const from = { x: ball.x, y: ball.y }
  const wasStruck = state.struck
  state.trail = from
  state.struck = false
  let reward = 0
  let terminated = false
  let x = from.x + ball.dx
  let y = from.y + ball.dy
  if (x < 0 || x >= SIZE) {
    x = x < 0 ? 0 : SIZE - 1
    ball.dx = ball.dx === 1 ? -1 : 1
  }
  if (y < 0) {
    y = 0
    ball.dy = 1
  } else if (bricks[y * SIZE + x] === 1) {
    state.struck = true
    if (!wasStruck) {
      reward = 1
      state.broken += 1
      bricks[y * SIZE + x] = 0
      y = from.y
      ball.dy = ball.dy === 1 ? -1 : 1
    }
  } else if (y === SIZE - 1) {
    if (!bricks.includes(1)) layBricks(bricks)
    if (from.x === state.paddle) {
      ball.dy = -1
      y = from.y
    } else if (x === state.paddle) {
      ball.dx = ball.dx === 1 ? -1 : 1
      ball.dy = -1
      y = from.y
    } else terminated = true
  }
  ball.x = x
  ball.y = y
  return { reward, terminated }
}

/** Where the ball will be when it comes down to the paddle's row, by the rules themselves. */
function landingColumn(state: State): number {
  const ahead: State = { ...state, paddle: -SIZE, ball: { ...state.ball }, bricks: state.bricks.slice() }
  for (let step = 0; step < 4 * SIZE; step += 1) {
    const { x } = ahead.ball
    if (moveBall(ahead).terminated) return x
  }
  return state.paddle
}

function layBricks(bricks: Uint8Array): void {
  for (const row of BRICK_ROWS) bricks.fill(1, row * SIZE, (row + 1) * SIZE)
}
