/**
 * CartPole-v1: keep a pole upright on a cart by pushing the cart left or right.
 *
 * Dynamics, limits and time limit are Gymnasium's. Equations of motion: Barto, Sutton and Anderson (1983), "Neuronlike
 * adaptive elements that can solve difficult learning control problems", appendix, without friction. Units are metres,
 * seconds, kilograms, newtons and radians; an angle of 0 is upright.
 */
import { box, defineScenario, discrete } from '@agentgym/scenario'

const GRAVITY = 9.8
const CART_MASS = 1
const POLE_MASS = 0.1
const TOTAL_MASS = CART_MASS + POLE_MASS
const HALF_POLE_LENGTH = 0.5
const PUSH_FORCE = 10
const SECONDS_PER_STEP = 0.02

const POSITION_LIMIT = 2.4
const ANGLE_LIMIT = (12 * Math.PI) / 180

type State = { position: number; velocity: number; angle: number; angularVelocity: number }

export default defineScenario({
  observation: box({
    shape: [4],
    low: [-2 * POSITION_LIMIT, -Infinity, -2 * ANGLE_LIMIT, -Infinity],
    high: [2 * POSITION_LIMIT, Infinity, 2 * ANGLE_LIMIT, Infinity],
  }),
  action: discrete({ n: 2, labels: ['left', 'right'] }),
  maxSteps: 500,

  reset({ rng }): State {
    const small = () => -0.05 + 0.1 * rng()
    return { position: small(), velocity: small(), angle: small(), angularVelocity: small() }
  },

  step(state, action) {
    const force = action === 1 ? PUSH_FORCE : -PUSH_FORCE
    const sin = Math.sin(state.angle)
    const cos = Math.cos(state.angle)

    const push = (force + POLE_MASS * HALF_POLE_LENGTH * state.angularVelocity ** 2 * sin) / TOTAL_MASS
    const angularAcceleration =
      (GRAVITY * sin - cos * push) / (HALF_POLE_LENGTH * (4 / 3 - (POLE_MASS * cos ** 2) / TOTAL_MASS))
    const acceleration = push - (POLE_MASS * HALF_POLE_LENGTH * angularAcceleration * cos) / TOTAL_MASS

    // Explicit Euler: positions move by the old velocities.
    state.position += SECONDS_PER_STEP * state.velocity
    state.velocity += SECONDS_PER_STEP * acceleration
    state.angle += SECONDS_PER_STEP * state.angularVelocity
    state.angularVelocity += SECONDS_PER_STEP * angularAcceleration

    const terminated = Math.abs(state.position) > POSITION_LIMIT || Math.abs(state.angle) > ANGLE_LIMIT
    return { reward: 1, terminated }
  },

  observe(state) {
    return [state.position, state.velocity, state.angle, state.angularVelocity]
  },

  /** Pushes under the falling pole, and lets it lean towards the middle of the track. */
  oracle({ position, velocity, angle, angularVelocity }) {
    return angle + 0.3 * angularVelocity + 0.03 * position + 0.06 * velocity > 0 ? 1 : 0
  },
})
