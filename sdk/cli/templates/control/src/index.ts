/**
 * A puck on a track: push it to the target and hold it there. Replace the physics, the observation and the reward by your
 * own; `agentgym scenario check` says what is wrong with the result.
 */
import { box, defineScenario, discrete } from '@agentgym/scenario'

const PUSH = 0.02
const FRICTION = 0.9
/** Closer than this counts as on the target. */
const TOLERANCE = 0.1
const [LEFT, RIGHT] = [0, 2]

type State = { position: number; velocity: number; target: number; steps: number; stepsOnTarget: number }

export default defineScenario({
  // What the agent sees: the way to the target, and the velocity. Always float32.
  observation: box({ shape: [2] }),
  action: discrete({ n: 3, labels: ['left', 'coast', 'right'] }),
  // The time limit. Reaching it is truncation, not termination: the agent learns that the future goes on.
  maxSteps: 60,

  // All randomness comes from `rng`, so that a seed gives the same episode every time.
  reset({ rng }): State {
    return { position: rng() * 2 - 1, velocity: 0, target: rng() * 2 - 1, steps: 0, stepsOnTarget: 0 }
  },

  step(state, action) {
    state.velocity = state.velocity * FRICTION + (action - 1) * PUSH
    state.position += state.velocity
    const distance = Math.abs(state.target - state.position)
    state.steps += 1
    if (distance < TOLERANCE) state.stepsOnTarget += 1
    return { reward: 1 - distance, terminated: false }
  },

  observe(state) {
    return [state.target - state.position, state.velocity * 10]
  },

  // Read once at an episode's end. `success` in package.json sets a target for this number.
  metrics(state) {
    return { on_target: state.stepsOnTarget / state.steps }
  },

  // A scripted player that sees the whole state: it shows that the scenario can be solved. Agents never see it.
  oracle({ position, velocity, target }) {
    const distance = Math.abs(target - position)
    const towards = target > position ? RIGHT : LEFT
    const speed = towards === RIGHT ? velocity : -velocity
    return distance > brakingDistance(speed) ? towards : RIGHT - towards
  },
})

/** How far the puck goes on while it is pushed against its motion. */
function brakingDistance(speed: number): number {
  let distance = 0
  for (let next = speed * FRICTION - PUSH; next > 0; next = next * FRICTION - PUSH) distance += next
  return distance
}
