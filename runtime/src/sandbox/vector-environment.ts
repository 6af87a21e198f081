import type { EnvironmentBuffers, ScenarioDescription } from '@agentgym/scenario/engine'

/** What a scenario says of itself once it is loaded: the engine's own type. */
export type { ScenarioDescription }

/** Names a scenario in messages and results. */
export type ScenarioIdentity = {
  name: string
  version: string
  /** SHA-256 (hex) of the bundle. */
  hash: string
}

/**
 * N environments stepped as one. Faults of the scenario throw an AgentGymError that names scenario, version, phase,
 * environment and step; after one, the environment is unusable.
 */
export interface VectorEnvironment {
  readonly environments: number
  readonly description: ScenarioDescription
  readonly buffers: EnvironmentBuffers
  /** Whether `restore` can put an environment where a recorded run was; else a resumed run begins new episodes. */
  readonly replays: boolean
  /** Starts episode `episode` (default: 0) in every environment; fills observations and masks. */
  reset(episode?: number): void
  /** Applies `buffers.actions`, fills every other buffer, starts the next episode, if there is one, where one ended. */
  step(): void
  /** Names of the columns of `buffers.metrics`, fixed by the first episode that ended; empty before. */
  metricNames(): string[]
  /**
   * Puts one environment where a recorded run was: resets it to episode `episode` and replays `actions` ([steps, action])
   * of it. Fills its rows of observations and masks. Scenarios are deterministic, so this needs no copy of their state. With
   * `seed`, the environment leaves the run: this and its later episodes are those of the first environment of a run with that seed.
   */
  restore(environment: number, episode: number, actions: Float32Array, seed?: number): void
  dispose(): void
}
