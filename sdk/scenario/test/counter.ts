import { box, defineScenario, discrete } from '../src/index.ts'

/** Counts its steps; ends at `end`, if the time limit does not come first. */
export function counter(end: number, maxSteps: number) {
  return defineScenario({
    observation: box({ shape: [1] }),
    action: discrete({ n: 2 }),
    maxSteps,
    reset: () => ({ count: 0 }),
    step(state) {
      state.count += 1
      return { reward: state.count, terminated: state.count === end }
    },
    observe: (state) => [state.count],
    metrics: (state) => ({ count: state.count }),
  })
}
