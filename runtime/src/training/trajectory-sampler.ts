import { environmentActions } from '@agentgym/agent/engine'
import type { PolicySpec, Trajectory } from '@agentgym/contract'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { RolloutSegment } from '../learner/learner-types.ts'

const MAX_STEPS = 1_000

/**
 * Takes an episode of environment 0 out of every n-th iteration's rollout, while it lies there. Must see every rollout:
 * it remembers whether the next one begins with an episode's beginning.
 */
export class TrajectorySampler {
  readonly #policy: PolicySpec
  readonly #every: number
  readonly #onTrajectory: (trajectory: Trajectory) => void
  #atBeginning: boolean

  /** `atBeginning`: whether the first rollout that it will see begins with an episode. */
  constructor(policy: PolicySpec, every: number, atBeginning: boolean, onTrajectory: (trajectory: Trajectory) => void) {
    this.#policy = policy
    this.#every = every
    this.#atBeginning = atBeginning
    this.#onTrajectory = onTrajectory
  }

  /** `iteration` counts from 1; the first is sampled. */
  observe([segment]: RolloutSegment[], iteration: number): void {
    const steps = segment.lengths?.[0] ?? segment.steps
    const ends = endsOf(segment, steps)
    if ((iteration - 1) % this.#every === 0) {
      const { first, last, partial } = this.#choose(ends, steps)
      this.#onTrajectory({ iteration, environment: 0, partial, ...this.#read(segment, first, last) })
    }
    this.#atBeginning = ends.at(-1) === steps - 1
  }

  /** A whole episode if there is one; else one whose beginning or end is missing. */
  #choose(ends: number[], steps: number): { first: number; last: number; partial: boolean } {
    const starts = this.#atBeginning ? [-1, ...ends] : ends
    const whole = starts.find((_, i) => i + 1 < starts.length)
    if (whole !== undefined) return { first: whole + 1, last: starts[starts.indexOf(whole) + 1], partial: false }
    const begun = starts.find((end) => end + 1 < steps)
    if (begun !== undefined) return { first: begun + 1, last: steps - 1, partial: true }
    return { first: 0, last: ends[0] ?? steps - 1, partial: true }
  }

  #read(segment: RolloutSegment, first: number, last: number): Pick<Trajectory, 'return' | 'length' | 'steps'> {
    // The segment holds samples as the learner needs them; readers want what the environment took.
    const actions = new Float32Array(segment.actions.length)
    environmentActions(this.#policy, segment.actions, segment.steps * segment.environments, actions)
    return read({ ...segment, actions }, first, last)
  }
}

/** Of the first `steps` steps those at which an episode of environment 0 ended. */
function endsOf({ environments, flags }: RolloutSegment, steps: number): number[] {
  const ends: number[] = []
  for (let t = 0; t < steps; t++) if ((flags[t * environments] & (TERMINATED | TRUNCATED)) !== 0) ends.push(t)
  return ends
}

function read(segment: RolloutSegment, first: number, last: number): Pick<Trajectory, 'return' | 'length' | 'steps'> {
  const { environments, observations, actions, rewards, logProbabilities, flags } = segment
  const rows = segment.steps * environments
  const observationSize = observations.length / (rows + environments)
  const actionSize = actions.length / rows
  const numbers = (array: Float32Array, row: number, size: number) =>
    Array.from(array.subarray(row * size, (row + 1) * size))
  const steps: Trajectory['steps'] = []
  let sum = 0
  for (let t = first; t <= last; t++) {
    const row = t * environments
    sum += rewards[row]
    if (steps.length === MAX_STEPS) continue
    steps.push({
      observation: numbers(observations, row, observationSize),
      action: numbers(actions, row, actionSize),
      reward: rewards[row],
      log_probability: logProbabilities[row],
      terminated: (flags[row] & TERMINATED) !== 0,
      truncated: (flags[row] & TRUNCATED) !== 0,
    })
  }
  return { return: sum, length: last - first + 1, steps }
}
