import { box, defineScenario, discrete } from '../src/index.ts'

/** A random walk that uses everything: tasks, masks, metrics, random ends and the time limit. */
export const walk = defineScenario({
  observation: box({ shape: [3] }),
  action: discrete({ n: 3, start: -1 }),
  maxSteps: 9,
  tasks: { train: 50, eval: 6 },
  reset({ rng, task }) {
    return { position: rng(), noise: 0, task: task.index, held: task.split === 'eval' ? 1 : 0 }
  },
  step(state, action, { rng }) {
    state.noise = rng.normal()
    state.position += action + 0.1 * state.noise
    return { reward: state.position, terminated: rng() < 0.1 }
  },
  observe: (state) => [state.position, state.noise, state.task + 100 * state.held],
  actionMask: (state) => [state.position > -2, true, state.position < 2],
  metrics: (state) => ({ position: state.position, task: state.task }),
})
