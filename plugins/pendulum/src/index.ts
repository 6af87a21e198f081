/**
 * Pendulum-v1: swing a pendulum up and hold it there, with a motor too weak to lift it at once.
 *
 * Dynamics, cost and time limit are Gymnasium's: a rod of mass m and length l turning about its end, whose moment of
 * inertia is m l² / 3. Angles are radians, 0 is upright; the torque is in N m.
 */
import { box, defineScenario } from '@agentgym/scenario'

const GRAVITY = 10
const MASS = 1
const LENGTH = 1
const SECONDS_PER_STEP = 0.05
const MAX_SPEED = 8
const MAX_TORQUE = 2

type State = { angle: number; speed: number }

export default defineScenario({
  observation: box({ shape: [3], low: [-1, -1, -MAX_SPEED], high: [1, 1, MAX_SPEED] }),
  action: box({ shape: [1], low: -MAX_TORQUE, high: MAX_TORQUE }),
  maxSteps: 200,

  reset({ rng }): State {
    return { angle: -Math.PI + 2 * Math.PI * rng(), speed: -1 + 2 * rng() }
  },

  step(state, [torque]) {
    const cost = normalizeAngle(state.angle) ** 2 + 0.1 * state.speed ** 2 + 0.001 * torque ** 2

    const acceleration = ((3 * GRAVITY) / (2 * LENGTH)) * Math.sin(state.angle) + (3 / (MASS * LENGTH ** 2)) * torque
    state.speed += acceleration * SECONDS_PER_STEP
    state.speed = Math.min(Math.max(state.speed, -MAX_SPEED), MAX_SPEED)
    state.angle += state.speed * SECONDS_PER_STEP

    return { reward: -cost, terminated: false }
  },

  observe(state) {
    return [Math.cos(state.angle), Math.sin(state.angle), state.speed]
  },

  /** Swings until there is energy enough for the top, and holds the pendulum there. */
  oracle({ angle, speed }) {
    const upright = normalizeAngle(angle)
    const holding = Math.abs(upright) < 0.6
    // Energy above that of resting at the top, over m l² / 3.
    const energy = speed ** 2 / 2 + ((3 * GRAVITY) / (2 * LENGTH)) * (Math.cos(angle) - 1)
    const torque = holding ? -10 * upright - 2.2 * speed : -Math.sign(speed || 1) * energy
    return [Math.min(Math.max(torque, -MAX_TORQUE), MAX_TORQUE)]
  },
})

/** The same direction within [-π, π). */
function normalizeAngle(angle: number): number {
  const turn = 2 * Math.PI
  return angle - turn * Math.floor((angle + Math.PI) / turn)
}
