/**
 * Lunar lander, after Gymnasium's LunarLander-v3 (Klimov): land on the pad, upright, slowly, with little fuel.
 *
 * Observation, actions, reward and end are Gymnasium's; the dynamics are in lander.ts.
 */
import { box, defineScenario, discrete } from '@agentgym/scenario'
import { drawLander } from './draw-lander.ts'
import {
  type Engine,
  fly,
  HEIGHT,
  isAtRest,
  type Lander,
  launch,
  PAD_HEIGHT,
  PAD_REACH,
  pointOf,
  STEP_SECONDS,
  WIDTH,
} from './lander.ts'

/** Height of the hull's origin above the ground when it stands. */
const STANDING_HEIGHT = 18 / 30
const MAIN_ENGINE_COST = 0.3
const SIDE_ENGINE_COST = 0.03
const CRASH_REWARD = -100
const LANDING_REWARD = 100
const ENGINES: readonly Engine[] = ['none', 'left', 'main', 'right']

type State = { lander: Lander; shaping: number; landed: boolean; mainEngineSteps: number; engine: Engine }

export default defineScenario({
  /** Position, velocity, angle, spin, and whether each foot touches the ground, in Gymnasium's units. */
  observation: box({ shape: [8] }),
  action: discrete({ n: 4, labels: ['coast', 'left engine', 'main engine', 'right engine'] }),
  maxSteps: 1000,

  reset({ rng }): State {
    const lander = launch(rng)
    return { lander, shaping: shapingOf(readings(lander)), landed: false, mainEngineSteps: 0, engine: 'none' }
  },

  step(state, action, { rng }) {
    const { lander } = state
    const engine = ENGINES[action]
    fly(lander, engine, rng)
    state.engine = engine
    if (engine === 'main') state.mainEngineSteps += 1
    const reading = readings(lander)
    if (lander.crashed || Math.abs(reading[0]) >= 1) return { reward: CRASH_REWARD, terminated: true }
    if (isAtRest(lander)) {
      state.landed = Math.abs(lander.x - WIDTH / 2) <= PAD_REACH
      return { reward: LANDING_REWARD, terminated: true }
    }
    const shaping = shapingOf(reading)
    const cost = engine === 'main' ? MAIN_ENGINE_COST : engine === 'none' ? 0 : SIDE_ENGINE_COST
    const reward = shaping - state.shaping - cost
    state.shaping = shaping
    return { reward, terminated: false }
  },

  observe({ lander }) {
    return readings(lander)
  },

  metrics({ landed, mainEngineSteps }) {
    return { landed_on_pad: landed ? 1 : 0, main_engine_steps: mainEngineSteps }
  },

  /** Gymnasium's own controller: towards the pad by tilting, down along a cone, braking. */
  oracle({ lander }) {
    const [x, y, vx, vy, angle, spin, left, right] = readings(lander)
    const contact = left === 1 || right === 1
    const target = Math.min(0.4, Math.max(-0.4, 0.5 * x + vx))
    const turn = contact ? 0 : 0.5 * (target - angle) - spin
    const climb = contact ? -0.5 * vy : 0.5 * (0.55 * Math.abs(x) - y) - 0.5 * vy
    if (climb > Math.abs(turn) && climb > 0.05) return 2
    if (turn < -0.05) return 3
    return turn > 0.05 ? 1 : 0
  },

  render({ lander, engine }) {
    return drawLander(lander, engine)
  },
})

function readings(lander: Lander): number[] {
  const { vx, vy, angle, spin, contacts } = lander
  const origin = pointOf(lander, 0, 0)
  return [
    (origin.x - WIDTH / 2) / (WIDTH / 2),
    (origin.y - PAD_HEIGHT - STANDING_HEIGHT) / (HEIGHT / 2),
    vx * (WIDTH / 2) * STEP_SECONDS,
    vy * (HEIGHT / 2) * STEP_SECONDS,
    angle,
    20 * spin * STEP_SECONDS,
    contacts[0] ? 1 : 0,
    contacts[1] ? 1 : 0,
  ]
}

/** Near the pad, slow, upright, standing: differences of this are the reward. */
function shapingOf([x, y, vx, vy, angle, , left, right]: number[]): number {
  return -100 * Math.hypot(x, y) - 100 * Math.hypot(vx, vy) - 100 * Math.abs(angle) + 10 * left + 10 * right
}
