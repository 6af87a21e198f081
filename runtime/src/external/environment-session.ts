import type { EnvironmentBuffers } from '@agentgym/scenario/engine'
import type { ExternalSource } from './external-source.ts'

/** What a session is opened with. */
export type SessionOptions = {
  source: ExternalSource
  environments: number
  /** Number of the first environment among all of the run. */
  firstEnvironment: number
  seed: number
  split: 'train' | 'eval'
  /**
   * True: an episode follows another in each environment, for ever, drawn from the environment's own sequence. False: an
   * environment that ended waits for `reset`, so that each episode has a seed of ours.
   */
  continuous: boolean
  /** Shared memory of the thread that plays. */
  buffers: EnvironmentBuffers
}

/**
 * A connection to a process of the user's, on the thread that does its input and output. It writes what arrives into the
 * shared buffers and checks its form; whether numbers and masks mean anything is checked where they are read. Rejects with
 * an AgentGymError.
 */
export interface EnvironmentSession {
  /**
   * Begins an episode where `mask` is 1; `seeds` ([environments]) are below 2^31, or -1 for the next episode of the
   * environment's own sequence. Fills the rows of observations and masks.
   */
  reset(mask: Uint8Array, seeds: readonly number[]): Promise<void>
  /**
   * Sends `buffers.actions`; fills rewards, flags, masks and observations, and `finalObservations` and `metrics` where an
   * episode ended. If `continuous`, observations and masks are then those of the next episode.
   */
  step(): Promise<void>
  /** Columns of `buffers.metrics`, in order of first appearance. */
  metricNames(): string[]
  close(): void
}
