import type { DefinedScenario, ScenarioDefinition } from './define-scenario.ts'
import { defineScenario } from './define-scenario.ts'
import { definitionError } from './engine/faults.ts'
import { type ActionSpace, type BoxSpace, box } from './spaces.ts'

/** The state of a scenario, with the observations that the agent sees: the oldest first. */
export type StackedState<State> = { inner: State; frames: ArrayLike<number>[] }

/** Most observations in a stack. */
const MAX_FRAMES = 64

/**
 * A scenario whose agent sees the last `frames` observations of the episode, the newest last; the first is repeated until
 * there are as many. The observation must be a box: [channels, height, width] becomes [frames × channels, height, width],
 * any other box a row of numbers. `reset` and `step` must be synchronous. Throws a TypeError for anything else.
 */
export function frameStack<Action extends ActionSpace, State>(
  scenario: ScenarioDefinition<BoxSpace, Action, State>,
  { frames }: { frames: number },
): DefinedScenario<BoxSpace, Action, StackedState<State>> {
  const { observation, actionMask, metrics, oracle, render } = scenario
  if (!Number.isInteger(frames) || frames < 1 || frames > MAX_FRAMES) {
    throw definitionError(`frameStack: frames must be an integer from 1 to ${MAX_FRAMES}`)
  }
  if (observation.type !== 'box') throw definitionError('frameStack: the observation must be a box')
  const whole: ScenarioDefinition<BoxSpace, Action, StackedState<State>> = {
    ...{ observation: stacked(observation, frames), action: scenario.action, maxSteps: scenario.maxSteps },
    ...{ tasks: scenario.tasks, levels: scenario.levels, memory: scenario.memory },
    reset(context) {
      const inner = now(scenario.reset(context))
      const first = copied(scenario.observe(inner))
      return { inner, frames: Array.from({ length: frames }, () => first) }
    },
    step(state, action, context) {
      const result = now(scenario.step(state.inner, action, context))
      state.frames = [...state.frames.slice(1), copied(scenario.observe(state.inner))]
      return result
    },
    observe: (state) => state.frames.flatMap((frame) => Array.from(frame)),
  }
  if (actionMask !== undefined) whole.actionMask = (state) => actionMask.call(scenario, state.inner)
  if (metrics !== undefined) whole.metrics = (state) => metrics.call(scenario, state.inner)
  if (oracle !== undefined) whole.oracle = (state, context) => oracle.call(scenario, state.inner, context)
  if (render !== undefined) whole.render = (state) => render.call(scenario, state.inner)
  return defineScenario(whole)
}

function stacked({ shape, low, high }: BoxSpace, frames: number): BoxSpace {
  const [first, ...rest] = shape
  const size = shape.reduce((product, length) => product * length, frames)
  const repeated = (bounds: BoxSpace['low'], unbounded: number) =>
    Array.from({ length: frames }, () => bounds.map((bound) => bound ?? unbounded)).flat()
  return box({
    shape: shape.length === 3 ? [frames * first, ...rest] : [size],
    low: repeated(low, Number.NEGATIVE_INFINITY),
    high: repeated(high, Number.POSITIVE_INFINITY),
  })
}

/** An observation may be an array that the scenario uses again. */
function copied(sample: ArrayLike<number>): number[] {
  return Array.from(sample)
}

function now<Value>(value: Value | PromiseLike<Value>): Value {
  if (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function') {
    throw new TypeError('frameStack: reset and step must not be async')
  }
  return value as Value
}
