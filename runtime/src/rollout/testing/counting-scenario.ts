import { box, defineScenario, dict, discrete } from '@agentgym/scenario'

/**
 * A scenario whose every number tells where it comes from: the observation is [episode's random start, steps so far,
 * sum of the actions]. Episodes end by termination or by the time limit, and some actions are illegal on some steps.
 */
export const countingScenario = defineScenario({
  observation: box({ shape: [3] }),
  action: discrete({ n: 3 }),
  maxSteps: 7,
  reset: ({ rng }) => ({ start: rng(), steps: 0, sum: 0, end: 3 + rng.int(8) }),
  step(state, action) {
    state.steps += 1
    state.sum += action
    return { reward: action - state.start, terminated: state.steps === state.end }
  },
  observe: (state) => [state.start, state.steps, state.sum],
  actionMask: (state) => [state.steps % 2 === 0, true, state.steps % 3 !== 1],
  metrics: (state) => ({ sum: state.sum }),
})

/** The same with numbers as actions, bounded, beside a choice. */
export const steeringScenario = defineScenario({
  observation: dict({ start: box({ shape: [1] }), way: box({ shape: [2], low: -50, high: 50 }) }),
  action: dict({ gear: discrete({ n: 2 }), wheel: box({ shape: [1], low: -0.5, high: 0.5 }) }),
  maxSteps: 5,
  reset: ({ rng }) => ({ start: rng.normal(), way: [0, 0] }),
  step(state, action) {
    state.way[0] += action.gear
    state.way[1] += action.wheel[0]
    return { reward: action.wheel[0], terminated: false }
  },
  observe: (state) => ({ start: [state.start], way: state.way }),
})
