import type { VectorEnvironment } from '../vector-environment.ts'
import { RandomActions } from './random-actions.ts'

/** Everything that came out of environment 0, a row a vector step. */
export type Trajectory = { observations: Float32Array[]; rewards: number[]; flags: number[]; actions: Float32Array[] }

/** Plays `steps` vector steps. Environment 0's actions do not depend on how many others there are. */
export function recordTrajectory(environment: VectorEnvironment, steps: number): Trajectory {
  const { buffers, description } = environment
  const policy = new RandomActions(description, 2)
  const policyOfOthers = new RandomActions(description, 3)
  const { observation: width, action: columns } = description.sizes
  const trajectory: Trajectory = { observations: [], rewards: [], flags: [], actions: [] }
  environment.reset()
  trajectory.observations.push(buffers.observations.slice(0, width))
  for (let step = 0; step < steps; step++) {
    policy.fillRow(buffers, 0)
    for (let row = 1; row < environment.environments; row++) policyOfOthers.fillRow(buffers, row)
    trajectory.actions.push(buffers.actions.slice(0, columns))
    environment.step()
    trajectory.observations.push(buffers.observations.slice(0, width))
    trajectory.rewards.push(buffers.rewards[0])
    trajectory.flags.push(buffers.flags[0])
  }
  return trajectory
}

/** Where two trajectories part, in words; undefined where they are equal bit for bit. */
export function firstDifference(one: Trajectory, other: Trajectory): string | undefined {
  const parted = (a: Float32Array, b: Float32Array) => a.findIndex((value, index) => !Object.is(value, b[index]))
  for (let step = 0; step < one.observations.length; step++) {
    const column = parted(one.observations[step], other.observations[step])
    if (column >= 0) {
      const values = `${one.observations[step][column]} and ${other.observations[step][column]}`
      return `observation ${column} at step ${step} was ${values}`
    }
    if (step === one.rewards.length) break
    if (!Object.is(one.rewards[step], other.rewards[step])) {
      return `the reward of step ${step + 1} was ${one.rewards[step]} and ${other.rewards[step]}`
    }
    if (one.flags[step] !== other.flags[step]) return `an episode ended at step ${step + 1} once and not the other time`
  }
  return undefined
}
