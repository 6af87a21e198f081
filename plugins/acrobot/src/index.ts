/**
 * Acrobot-v1: two links hang from a hinge; a motor between them must swing the free end above a line.
 *
 * Dynamics and time limit are Gymnasium's with `book_or_nips = "book"`. Equations of motion: Sutton and Barto,
 * "Reinforcement Learning: An Introduction" (1998), section 11.3. An angle of 0 hangs down; the second angle is relative
 * to the first link. SI units and radians.
 */
import { box, defineScenario, discrete } from '@agentgym/scenario'

const GRAVITY = 9.8
const MASS_1 = 1
const MASS_2 = 1
const LENGTH_1 = 1
const TO_CENTRE_1 = 0.5
const TO_CENTRE_2 = 0.5
const INERTIA_1 = 1
const INERTIA_2 = 1
const SECONDS_PER_STEP = 0.2
const MAX_SPEED_1 = 4 * Math.PI
const MAX_SPEED_2 = 9 * Math.PI

/** [angle 1, angle 2, angular velocity 1, angular velocity 2]; a tuple, because the integrator treats all alike. */
type State = [number, number, number, number]

export default defineScenario({
  observation: box({
    shape: [6],
    low: [-1, -1, -1, -1, -MAX_SPEED_1, -MAX_SPEED_2],
    high: [1, 1, 1, 1, MAX_SPEED_1, MAX_SPEED_2],
  }),
  action: discrete({ n: 3, labels: ['torque -1', 'torque 0', 'torque +1'] }),
  maxSteps: 500,

  reset({ rng }): State {
    const small = () => -0.1 + 0.2 * rng()
    return [small(), small(), small(), small()]
  },

  step(state, action) {
    const torque = action - 1
    const [angle1, angle2, speed1, speed2] = rungeKutta(state, torque)
    state[0] = wrap(angle1)
    state[1] = wrap(angle2)
    state[2] = clip(speed1, MAX_SPEED_1)
    state[3] = clip(speed2, MAX_SPEED_2)

    const tipHeight = -Math.cos(state[0]) - Math.cos(state[1] + state[0])
    const terminated = tipHeight > 1
    return { reward: terminated ? 0 : -1, terminated }
  },

  observe([angle1, angle2, speed1, speed2]) {
    return [Math.cos(angle1), Math.sin(angle1), Math.cos(angle2), Math.sin(angle2), speed1, speed2]
  },

  /** Turns the motor with the joint, which puts energy in. */
  oracle([, , , speed2]) {
    return speed2 > 0 ? 2 : 0
  },
})

/** One step of the classical fourth-order Runge-Kutta method. */
function rungeKutta(state: State, torque: number): State {
  const k1 = derivative(state, torque)
  const k2 = derivative(along(state, k1, SECONDS_PER_STEP / 2), torque)
  const k3 = derivative(along(state, k2, SECONDS_PER_STEP / 2), torque)
  const k4 = derivative(along(state, k3, SECONDS_PER_STEP), torque)
  const next = (i: 0 | 1 | 2 | 3) => state[i] + (SECONDS_PER_STEP / 6) * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i])
  return [next(0), next(1), next(2), next(3)]
}

function along(state: State, slope: State, seconds: number): State {
  return [
    state[0] + seconds * slope[0],
    state[1] + seconds * slope[1],
    state[2] + seconds * slope[2],
    state[3] + seconds * slope[3],
  ]
}

/** Time derivative of the state. The names d and phi are the book's. */
function derivative([angle1, angle2, speed1, speed2]: State, torque: number): State {
  const sin2 = Math.sin(angle2)
  const cos2 = Math.cos(angle2)
  const d1 =
    MASS_1 * TO_CENTRE_1 ** 2 +
    MASS_2 * (LENGTH_1 ** 2 + TO_CENTRE_2 ** 2 + 2 * LENGTH_1 * TO_CENTRE_2 * cos2) +
    INERTIA_1 +
    INERTIA_2
  const d2 = MASS_2 * (TO_CENTRE_2 ** 2 + LENGTH_1 * TO_CENTRE_2 * cos2) + INERTIA_2
  const phi2 = MASS_2 * TO_CENTRE_2 * GRAVITY * Math.cos(angle1 + angle2 - Math.PI / 2)
  const phi1 =
    -MASS_2 * LENGTH_1 * TO_CENTRE_2 * speed2 ** 2 * sin2 -
    2 * MASS_2 * LENGTH_1 * TO_CENTRE_2 * speed2 * speed1 * sin2 +
    (MASS_1 * TO_CENTRE_1 + MASS_2 * LENGTH_1) * GRAVITY * Math.cos(angle1 - Math.PI / 2) +
    phi2
  const acceleration2 =
    (torque + (d2 / d1) * phi1 - MASS_2 * LENGTH_1 * TO_CENTRE_2 * speed1 ** 2 * sin2 - phi2) /
    (MASS_2 * TO_CENTRE_2 ** 2 + INERTIA_2 - d2 ** 2 / d1)
  const acceleration1 = -(d2 * acceleration2 + phi1) / d1
  return [speed1, speed2, acceleration1, acceleration2]
}

/** The same direction within [-π, π]. */
function wrap(angle: number): number {
  while (angle > Math.PI) angle -= 2 * Math.PI
  while (angle < -Math.PI) angle += 2 * Math.PI
  return angle
}

function clip(speed: number, limit: number): number {
  return Math.min(Math.max(speed, -limit), limit)
}
