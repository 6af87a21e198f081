/**
 * A T-maze: a sign at the start points left or right, and at the end of a corridor that is the way to turn. The agent sees
 * the sign on the first step only, so one that acts on what it sees is right half of the time.
 *
 * After Bakker (2002), "Reinforcement Learning with Long Short-Term Memory", with fewer actions.
 */
import { box, defineScenario, discrete, type Scene } from '@agentgym/scenario'

/** Steps from the start to the junction. */
export const CORRIDOR = 20

export const FORWARD = 0
export const LEFT = 1
export const RIGHT = 2

const BUMP = -0.05

export type State = {
  /** LEFT or RIGHT. */
  sign: number
  position: number
  /** What the agent chose at the junction; null before. */
  turn: number | null
}

export default defineScenario({
  /** The sign, −1 left or 1 right, on the first step, else 0; whether this is the junction. */
  observation: box({ shape: [2], low: [-1, 0], high: [1, 1] }),
  action: discrete({ n: 3, labels: ['forward', 'left', 'right'] }),
  maxSteps: 3 * CORRIDOR,
  memory: true,

  reset({ rng }): State {
    return { sign: rng.pick([LEFT, RIGHT]), position: 0, turn: null }
  },

  step(state, action) {
    const atJunction = state.position === CORRIDOR
    if ((action === FORWARD) === atJunction) return { reward: BUMP, terminated: false }
    if (!atJunction) {
      state.position += 1
      return { reward: 0, terminated: false }
    }
    state.turn = action
    return { reward: action === state.sign ? 1 : -1, terminated: true }
  },

  observe({ sign, position }) {
    const visible = position === 0 ? (sign === LEFT ? -1 : 1) : 0
    return [visible, position === CORRIDOR ? 1 : 0]
  },

  metrics({ sign, turn }) {
    return { solved: turn === sign ? 1 : 0 }
  },

  /** Sees the sign all the way. */
  oracle({ sign, position }) {
    return position === CORRIDOR ? sign : FORWARD
  },

  render: drawMaze,
})

/** The corridor from the left, the crossing on the right, the sign where the agent sees it: left is up. */
function drawMaze({ sign, position, turn }: State): Scene {
  const [x, y] = [position + 1, turn === null ? 4 : turn === LEFT ? 2 : 6]
  const goal = sign === LEFT ? 2 : 6
  const arm = { kind: 'rect', x: CORRIDOR + 0.5, width: 1, color: 'floor' } as const
  return {
    width: CORRIDOR + 2,
    height: 8,
    shapes: [
      { kind: 'rect', x: 0.5, y: 3.5, width: CORRIDOR + 1, height: 1, color: 'floor' },
      { ...arm, y: 1.5, height: 5 },
      { kind: 'circle', x: CORRIDOR + 1, y: goal, radius: 0.42, color: 'accent', outline: true },
      {
        kind: 'text',
        x: 1,
        y: 2.6,
        text: sign === LEFT ? 'sign: left' : 'sign: right',
        color: position === 0 ? 'ink' : 'dim',
      },
      { kind: 'circle', x, y, radius: 0.4, color: turn === null ? 'orange' : turn === sign ? 'green' : 'failure' },
    ],
  }
}
