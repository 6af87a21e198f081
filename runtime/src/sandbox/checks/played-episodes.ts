import type { SampleEpisode, ScenarioView } from '@agentgym/contract'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { EpisodeSampler } from '../episode-sampler.ts'
import type { SandboxedEnvironment } from '../sandboxed-environment.ts'
import type { VectorEnvironment } from '../vector-environment.ts'
import { IdleActions, RandomActions } from './baseline-policies.ts'

/** What a random policy met. */
export type RandomPlay = {
  steps: number
  returns: number[]
  lengths: number[]
  terminated: number
  truncated: number
  lowestReward: number
  highestReward: number
  metrics: string[]
}

/** Plays until `episodes` have ended, `steps` vector steps are done or `timeMs` have passed. */
export function playRandomly(
  environment: VectorEnvironment,
  limits: { episodes: number; steps: number; timeMs: number },
): RandomPlay {
  const { buffers, environments } = environment
  const actions = new RandomActions(environment.description, 1)
  const play: RandomPlay = {
    steps: 0,
    returns: [],
    lengths: [],
    terminated: 0,
    truncated: 0,
    lowestReward: Infinity,
    highestReward: -Infinity,
    metrics: [],
  }
  const endMs = performance.now() + limits.timeMs
  for (let step = 0; step < limits.steps && play.returns.length < limits.episodes; step++) {
    if (performance.now() > endMs) break
    actions.fill(buffers)
    environment.step()
    for (let row = 0; row < environments; row++) noteRow(environment, row, play)
  }
  play.metrics = environment.metricNames()
  return play
}

function noteRow({ buffers }: VectorEnvironment, row: number, play: RandomPlay): void {
  const { rewards, flags, episodeReturns, episodeLengths } = buffers
  play.steps += 1
  play.lowestReward = Math.min(play.lowestReward, rewards[row])
  play.highestReward = Math.max(play.highestReward, rewards[row])
  const ended = flags[row] & (TERMINATED | TRUNCATED)
  if (ended === 0) return
  play.returns.push(episodeReturns[row])
  play.lengths.push(episodeLengths[row])
  if ((ended & TERMINATED) !== 0) play.terminated += 1
  else play.truncated += 1
}

/** Returns of the policy that does nothing, of at most 100 episodes and one second. */
export function idleReturns(environment: VectorEnvironment): number[] {
  const { buffers, description, environments } = environment
  const policy = new IdleActions(description)
  const returns: number[] = []
  const endMs = performance.now() + 1_000
  environment.reset()
  while (returns.length < 100 && performance.now() < endMs) {
    policy.fill(buffers)
    environment.step()
    for (let row = 0; row < environments; row++) {
      if ((buffers.flags[row] & (TERMINATED | TRUNCATED)) !== 0) returns.push(buffers.episodeReturns[row])
    }
  }
  return returns
}

/** An episode of random legal actions for pictures, or its first two seconds; null where it cannot be written down. */
export function sampleRandomly(environment: SandboxedEnvironment, view: ScenarioView | null): SampleEpisode | null {
  const actions = new RandomActions(environment.description, 1)
  const sampler = new EpisodeSampler(environment, { policy: 'random', view })
  const endMs = performance.now() + 2_000
  environment.reset()
  while (!sampler.done) {
    actions.fill(environment.buffers)
    sampler.before()
    environment.step()
    sampler.after()
    if (performance.now() > endMs) sampler.cut()
  }
  return sampler.episode()
}

/** Everything that came out of environment 0, a row a vector step. */
type Trajectory = { observations: Float32Array[]; rewards: number[]; flags: number[]; actions: Float32Array[] }

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
