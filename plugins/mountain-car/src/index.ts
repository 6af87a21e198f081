/**
 * MountainCar-v0: an engine too weak for the hill must swing back and forth to reach the flag.
 *
 * Dynamics and time limit are Gymnasium's. Equations: Moore (1990), "Efficient memory-based learning for robot control",
 * in the form of Sutton and Barto (2018), example 10.1.
 */
import { box, defineScenario, discrete } from '@agentgym/scenario'

const LEFT_END = -1.2
const RIGHT_END = 0.6
const GOAL = 0.5
const MAX_SPEED = 0.07
const ENGINE = 0.001
const GRAVITY = 0.0025

type State = { position: number; velocity: number }

export default defineScenario({
  observation: box({ shape: [2], low: [LEFT_END, -MAX_SPEED], high: [RIGHT_END, MAX_SPEED] }),
  action: discrete({ n: 3, labels: ['push left', 'coast', 'push right'] }),
  maxSteps: 200,

  reset({ rng }): State {
    return { position: -0.6 + 0.2 * rng(), velocity: 0 }
  },

  step(state, action) {
    state.velocity += (action - 1) * ENGINE - GRAVITY * Math.cos(3 * state.position)
    state.velocity = clip(state.velocity, -MAX_SPEED, MAX_SPEED)
    state.position = clip(state.position + state.velocity, LEFT_END, RIGHT_END)
    // The left end is an inelastic wall.
    if (state.position === LEFT_END && state.velocity < 0) state.velocity = 0

    return { reward: -1, terminated: state.position >= GOAL && state.velocity >= 0 }
  },

  observe(state) {
    return [state.position, state.velocity]
  },

  /** Pushes with the velocity, and to the right where that will be enough for the hill. */
  oracle({ position, velocity }) {
    const least = Math.min(0.03 - 0.09 * (position + 0.25) ** 2, 0.3 * (position + 0.9) ** 4 - 0.008)
    const most = 0.07 - 0.07 * (position + 0.38) ** 2
    return least < velocity && velocity < most ? 2 : 0
  },
})

function clip(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high)
}
